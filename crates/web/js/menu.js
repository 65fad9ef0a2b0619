/**
 * What is rarely wanted: saying why not, canceling, and a second question before something is lost or opened.
 */
import { button, h } from "./draw.js";
import { look } from "./style.js";

/** @typedef {import("./draw.js").Voice} Voice */
/** @typedef {{open: boolean, reason: string}} Menu  whether it is open, and the reason written so far, to be drawn again */

/** @param {Voice} voice @param {Menu} menu @param {() => void} cancel */
export function panel({ say }, menu, cancel) {
  const reason = h("textarea", { id: "reason", rows: "2", placeholder: say("label.reason_placeholder"), oninput: () => (menu.reason = reason.value) }, menu.reason);
  return [
    h("div", { part: "reason" }, h("label", { for: "reason" }, say("label.reason")), reason),
    h("div", { part: "row" },
      h("p", { part: "help" }, say("label.rejecting") + " " + say("label.canceling")),
      button(say("action.cancel"), cancel, { part: "cancel" })),
  ];
}

/**
 * Asks whether the person means it, and starts on the answer that changes nothing.
 *
 * @param {Voice} voice
 * @param {"discard" | "open"} what
 * @param {{stay: () => void, go: () => void}} acts
 */
export function second({ say }, what, { stay, go }) {
  return [
    h("p", { id: "second" }, h("strong", {}, say("label." + what)), what === "discard" && " " + say("label.canceling")),
    h("div", { part: "actions" },
      button(say("action." + what), go, { part: "go", id: "go" }),
      button(say(what === "discard" ? "action.keep" : "action.back"), stay, { part: "keep", id: "keep", "aria-describedby": "second" })),
  ];
}

look(`
.menu { display: grid; gap: .75rem; }
.menu .row { justify-content: space-between; align-items: start; gap: 1rem; }
.menu .cancel { flex: none; }
.go { color: var(--danger); }
`);
