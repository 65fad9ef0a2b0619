/**
 * A field that asks for a secret: masked until the person wants to see it, and with a warning.
 */
import { button, h } from "../draw.js";
import { notice } from "../notice.js";
import { look } from "../style.js";

export { asks } from "../secret.js";

/** @param {HTMLElement} control @param {import("../draw.js").Voice} voice */
export function masked(control, { say }) {
  const { type } = /** @type {HTMLInputElement} */ (control);
  const show = button("", () => mask(control.classList.contains("masked")), { part: "show" });
  /** @param {boolean} visible */
  function mask(visible) {
    control.classList.toggle("masked", !visible);
    if (control instanceof HTMLInputElement) control.type = visible ? type : "password";
    show.textContent = say(visible ? "action.hide_secret" : "action.show_secret");
  }
  control.setAttribute("autocomplete", "new-password"); // "off" is not heeded, and saves it
  control.setAttribute("spellcheck", "false"); // some browsers send it away for that
  mask(false);
  return h("div", { part: "row" }, control, show);
}

/** @param {string} secret @param {string} server  who will see it @param {import("../draw.js").Voice} voice */
export const warning = (secret, server, { say, phrase }) =>
  notice(say("label.secret_field", { secret: say("secret." + secret) }), false, h("p", {}, ...phrase("label.secret_warning", { server })));

look(`
.masked { -webkit-text-security: disc; }
.show { flex: none; font-size: .875rem; }
`);
