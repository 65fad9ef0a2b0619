/**
 * Saying no: one click, or a click with a few words for the server.
 */
import { h } from "./draw.js";

/**
 * @param {import("./draw.js").Voice} voice
 * @param {(reason?: string) => void} decline
 */
export function refusal({ say }, decline) {
  const reason = h("textarea", { id: "reason", rows: "2", placeholder: say("label.reason_placeholder") });
  const panel = h("div", { part: "reason", id: "why", hidden: true }, h("label", { for: "reason" }, say("label.reason")), reason);
  const more = h("button", {
    type: "button", class: "more", "aria-label": say("action.reject_with_reason"),
    "aria-expanded": "false", "aria-controls": "why",
    onclick: () => {
      panel.hidden = !panel.hidden;
      more.setAttribute("aria-expanded", String(!panel.hidden));
      if (!panel.hidden) reason.focus();
    },
  });
  const reject = h("button", { type: "button", part: "reject", onclick: () => decline(panel.hidden ? "" : reason.value) }, say("action.reject"));
  return { panel, buttons: h("span", { class: "split" }, reject, more) };
}
