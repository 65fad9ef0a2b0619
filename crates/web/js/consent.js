/**
 * A link, shown before it is opened: the site in large letters, the address in full, and what
 * is odd about it.
 *
 * Nothing here is a link to click, and nothing is fetched: a person reads, then presses a button.
 */
import { clean, h } from "./draw.js";
import { notice } from "./notice.js";
import { look } from "./style.js";

export { judge } from "./link.js";

/**
 * @param {import("./link.js").Verdict} verdict
 * @param {import("./draw.js").Voice} voice
 * @param {boolean} opened
 */
export function consent({ refused, host, url, sent, reasons }, { say, problem }, opened) {
  return h(
    "section",
    { part: "link" },
    h("p", { part: "help" }, say(opened ? "label.link_opened" : refused ? "label.link_host" : "label.about_to_open")),
    h("p", { part: "host" }, h("bdi", { dir: "ltr" }, clean(host))),
    h("p", { part: "url", dir: "ltr", "aria-label": say("label.link_address"), role: "group" }, clean(url ?? sent)),
    !opened && reasons.length > 0 && notice(
      say(refused ? "label.link_refused" : "label.link_warnings"),
      !!refused,
      h("ul", {}, ...reasons.map((reason) => h("li", {}, problem(reason)))),
    ),
  );
}

look(`
.link { display: grid; grid-template-columns: 100%; gap: .25rem; }
.host { font-size: 1.5rem; font-weight: 650; line-height: 1.25; }
.host:has(:empty) { display: none; }
.url { font: .875rem/1.5 ui-monospace, monospace; color: var(--muted); background: var(--soft); border-radius: var(--round); padding: .5rem .75rem; margin-block: .375rem; text-align: start; }
`);
