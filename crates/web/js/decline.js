/**
 * Saying no: one click, or a click with a few words for the server.
 */
import { button, h } from "./draw.js";

/**
 * @param {import("./draw.js").Voice} voice
 * @param {(reason?: string) => void} decline
 */
export function refusal({ say }, decline) {
  const reason = h("textarea", { id: "reason", rows: "2", placeholder: say("label.reason_placeholder") });
  const panel = h("div", { part: "reason", hidden: true }, h("label", { for: "reason" }, say("label.reason")), reason);
  const more = button("", () => {
    panel.hidden = !panel.hidden;
    more.ariaExpanded = String(!panel.hidden);
    if (!panel.hidden) reason.focus();
  }, { part: "more", "aria-label": say("action.reject_with_reason"), "aria-expanded": "false" });
  const reject = button(say("action.reject"), () => decline(panel.hidden ? "" : reason.value), { part: "reject" });
  return { panel, buttons: h("span", { part: "split" }, reject, more) };
}
