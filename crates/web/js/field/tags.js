/**
 * Any number of free texts. Enter or a comma adds one, Backspace in the empty line takes the
 * last one back, and each can be removed by its own button.
 */
import { changed, clean, cross, h } from "../draw.js";
import { look } from "../style.js";
import { range } from "./choices.js";

/** @type {import("../field.js").Kind} */
export function tags(field, value = [], aria, { voice: { say }, announce }) {
  /** @type {string[]} */
  let entries = [...value];
  const list = h("ul", { "aria-label": clean(field.label, 200) });
  const isSecret = field.secret !== undefined;
  /** @param {string} entry @param {number} [limit] */
  const shown = (entry, limit) => (isSecret ? "••••" : clean(entry, limit));
  const control = h("input", {
    ...aria, type: isSecret ? "password" : "text", autocomplete: isSecret && "new-password", dir: "auto",
    oninput: () => control.value.includes(",") && add(),
    onblur: add,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" && control.value.trim()) {
        event.preventDefault(); // an Enter that adds does not send
        add();
      }
      if (event.key === "Backspace" && !control.value && entries.length) remove(entries.length - 1);
    },
  });

  /** What stands in the line counts too: nobody should lose an entry for want of an Enter. */
  const read = () => [...entries, ...control.value.split(",").map((entry) => entry.trim()).filter(Boolean)];

  function add() {
    const all = read();
    if (!control.value) return;
    control.value = "";
    change(all);
  }

  /** @param {number} index */
  function remove(index) {
    announce(say("label.item_removed", { item: shown(entries[index], 100) }));
    change(entries.filter((_, at) => at !== index));
  }

  /** @param {string[]} next */
  function change(next) {
    entries = next;
    list.replaceChildren(...entries.map((entry, index) => h(
      "li", {}, h("bdi", {}, shown(entry)),
      cross(say("action.remove_item", { item: shown(entry, 100) }), () => {
        remove(index);
        control.focus();
      }, "remove"),
    )));
    list.hidden = !entries.length;
    changed(control);
  }
  change(entries);
  return {
    control,
    node: h("div", { part: "tags" }, list, control),
    read,
    hint: [say("label.tags_hint"), range(field.count, say)].filter(Boolean).join(". "),
  };
}

look(`
.tags { margin-block-start: .375rem; }
.tags ul { display: flex; flex-wrap: wrap; gap: .375rem; margin-block-end: .5rem; }
.tags li { display: flex; align-items: center; gap: .125rem; background: var(--tint); border: 1px solid transparent; border-radius: 9rem; padding-inline-start: .75rem; font-size: .875rem; }
.remove { min-block-size: 1.75rem; padding: 0 .625rem; border-radius: 9rem; }
`);
