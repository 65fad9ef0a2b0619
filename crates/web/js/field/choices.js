/**
 * Some of several options: a box to check for each.
 */
import { h, words } from "../draw.js";
import { look } from "../style.js";

/** @type {import("../field.js").Kind} */
export function choices(field, value = [], aria, { voice: { say } }) {
  const offers = field.offers ?? [];
  const boxes = offers.map(({ description }, index) =>
    h("input", { type: "checkbox", id: `${aria.id}-${index}`, checked: value.includes(index), "aria-describedby": description && `${aria.id}-${index}d` }));
  const { "aria-required": _, ...rest } = aria; // a group cannot be required, its legend says so
  const control = h(
    "fieldset", rest,
    ...boxes.map((box, index) => {
      const { label, description } = offers[index];
      return h("div", { part: "check" }, box,
        h("label", { for: box.id }, words(label, 200)),
        description !== undefined && h("p", { part: "help", id: box.id + "d" }, words(description)));
    }),
  );
  return {
    control,
    read: () => boxes.flatMap((box, index) => (box.checked ? [index] : [])),
    hint: range(field.count, say),
  };
}

/**
 * How many a list takes, in words.
 *
 * @param {{min?: number, max?: number} | undefined} count
 * @param {import("../draw.js").Voice["say"]} say
 */
export function range({ min = 0, max } = {}, say) {
  if (max === undefined) return min > 1 ? say("label.choose_at_least", { count: min }) : undefined;
  if (min > 1) return min === max ? say("label.choose_exactly", { count: max }) : say("label.choose_between", { min, max });
  return say("label.choose_up_to", { count: max });
}

look(`
.check { display: grid; grid-template-columns: auto 1fr; gap: 0 .625rem; padding-block: .25rem; }
.check .help { grid-column: 2; }
`);
