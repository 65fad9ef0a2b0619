/**
 * A control that is typed into. One that asks for a secret is masked until the person wants to
 * see it.
 */
import { button, h } from "../draw.js";
import { local } from "../values.js";

/**
 * @param {import("../field.js").Field} field
 * @param {HTMLInputElement | HTMLTextAreaElement} control
 * @param {string | undefined} value
 * @param {import("../field.js").At} at
 * @returns {import("../field.js").Drawn}
 */
export function entry(field, control, value = "", { voice: { say } }) {
  const shown = control.type === "datetime-local" ? local(value) : value;
  control.value = shown;
  const read = () => {
    // A date that is half filled in reads as empty. It must be a problem, not left out in silence.
    if (control.validity.badInput) return "?";
    return control.value === shown ? value : control.value; // unchanged: with the offset it came with
  };
  if (!field.secret) return { control, read };

  const { type } = control;
  const show = button("", () => mask(control.classList.contains("masked")), { part: "show" });
  /** @param {boolean} visible */
  function mask(visible) {
    control.classList.toggle("masked", !visible);
    if (control instanceof HTMLInputElement) control.type = visible ? type : "password";
    show.textContent = say(visible ? "action.hide_secret" : "action.show_secret");
  }
  control.setAttribute("autocomplete", "off");
  mask(false);
  return { control, node: h("div", { part: "row" }, control, show), read };
}
