/**
 * A number, whole or not.
 *
 * Not `type=number`: that loses what it cannot read ("1e", "1,5" elsewhere) and turns with the
 * wheel. What is typed stays as it is typed; the arrow keys step, and the bounds are told.
 */
import { changed, h } from "../draw.js";

/** @type {import("../field.js").Kind} */
export function number(field, value = "", aria, at) {
  const whole = field.kind === "integer";
  const { minimum, maximum, above, below, step = 1 } = field.range ?? {};
  const control = h("input", {
    ...aria, type: "text", role: "spinbutton", inputmode: whole && !((minimum ?? above ?? -1) < 0) ? "numeric" : "decimal",
    "aria-valuemin": minimum, "aria-valuemax": maximum,
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      const from = Number(control.value.replace(",", "."));
      if (!way || !Number.isFinite(from)) return;
      event.preventDefault();
      const by = Number(step);
      const to = control.value.trim() ? Math.round(from / by + way) * by : Number(minimum ?? 0);
      if (to < (minimum ?? above ?? to) || to > (maximum ?? below ?? to)) return;
      control.value = String(+to.toPrecision(15));
      changed(control);
    },
  });
  control.value = value;
  return { control, read: () => control.value, hint: bounds(minimum, maximum, at.voice) };
}

/** @param {any} min @param {any} max @param {import("../draw.js").Voice} voice */
function bounds(min, max, { say }) {
  if (min === undefined && max === undefined) return;
  return say(max === undefined ? "problem.too_small" : min === undefined ? "problem.too_large" : "label.between", { min, max });
}
