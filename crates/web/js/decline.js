/**
 * Saying no: one click, or a click with a few words for the server.
 */
import { button, h } from "./draw.js";

/** @typedef {{open: boolean, reason: string}} Refusal  what is written so far, to be drawn again */

/**
 * @param {import("./draw.js").Voice} voice
 * @param {Refusal} state
 * @param {(reason?: string) => void} decline
 */
export function refusal({ say }, state, decline) {
  const reason = h("textarea", { id: "reason", rows: "2", placeholder: say("label.reason_placeholder"), oninput: () => (state.reason = reason.value) }, state.reason);
  const panel = h("div", { part: "reason", hidden: !state.open }, h("label", { for: "reason" }, say("label.reason")), reason);
  const more = button("", () => {
    state.open = !state.open;
    panel.hidden = !state.open;
    more.ariaExpanded = String(!panel.hidden);
    if (!panel.hidden) reason.focus();
  }, { part: "more", "aria-label": say("action.reject_with_reason"), "aria-expanded": String(state.open) });
  const reject = button(say("action.reject"), () => decline(panel.hidden ? "" : reason.value), { part: "reject" });
  return { panel, buttons: h("span", { part: "split" }, reject, more) };
}
