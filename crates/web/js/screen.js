/**
 * What stands in the dialog at each step: who asks on top, what can be done at the bottom.
 *
 * Pressing a button is told to the element: nothing here decides anything.
 */
import { button, clean, cross, h, words } from "./draw.js";
import { LIMITS } from "./limits.js";
import { more } from "./more.js";

/**
 * @typedef {import("./draw.js").Voice} Voice
 * @typedef {"ask" | "review" | "opened"} Step
 */

/**
 * Who asks, for what, until when, and how many wait.
 *
 * @param {Voice} voice
 * @param {{server: string, tool: string | null, host: string | null, queue: string | null, again: boolean}} who
 * @param {HTMLElement} clock
 * @param {() => void} leave
 */
export function header({ say, phrase }, { server, tool, host, queue, again }, clock, leave) {
  const [position, total] = (queue ?? "").split("/");
  return [
    h("span", { part: "avatar", "aria-hidden": "true" }, [...clean(server).trim()][0]?.toUpperCase() ?? "?"),
    h("div", { part: "who" },
      h("h2", { id: "asks", title: server.length > 40 && clean(server) }, ...phrase("label.asks", { server })),
      h("p", { part: "about", id: "about" },
        total !== undefined && h("span", { part: "queue" }, say("label.queue", { position, total })),
        !!tool && h("span", { part: "tool", title: tool.length > 40 && clean(tool, 1000) }, words(tool, 60)), !!host && host !== server && h("span", {}, words(host, 60)), clock, again && h("span", {}, say("label.another_call")))),
    cross(say("action.close"), leave, "close"),
    h("slot", { name: "aside" }),
  ];
}

/** What is asked, in the server's words. @param {string | undefined} title @param {unknown} message */
export const question = (title, message) => [
  title ? h("h3", { id: "title", part: "title", dir: "auto" }, words(title, 200)) : "",
  message === undefined ? "" : h("div", { id: "message", part: "message", dir: "auto" }, clean(message, LIMITS.message)),
];

/**
 * What can be done: two verbs, and a menu for the rest. The last button is what Enter does.
 *
 * @typedef {object} Doing
 * @property {Step} step
 * @property {string | undefined} main  the action that goes on, unless nothing can
 * @property {HTMLElement} [problems]  what stands in its way
 * @property {import("./menu.js").Menu} menu
 * @property {"discard" | "open"} [second]  what the person is asked a second time
 * @property {string} [verb]  the key of what the main button says, where that is more than the action
 * @property {boolean} risky  whether going on is better thought over
 *
 * @param {Voice} voice
 * @param {Doing} doing
 * @param {Record<"again" | "change" | "cancel" | "decline" | "more" | "stay" | "go", () => void>} acts
 */
export function footer(voice, { step, main, problems = h("div", { part: "problems", id: "problems" }), menu, second, verb, risky }, acts) {
  const { say } = voice;
  if (second && more.menu) return more.menu.second(voice, second, acts);
  /** @param {string} key @param {string} part @param {() => void} act */
  const action = (key, part, act) => button(say("action." + key), act, { part, id: part });
  const others = {
    opened: () => [action("open_again", "again", acts.again), action("cancel", "cancel", acts.cancel)],
    review: () => [action("change", "change", acts.change)],
    ask: () => [
      button("⋯", acts.more, { part: "more", id: "more", "aria-label": say("action.more"), "aria-expanded": String(menu.open) }),
      action("reject", "reject", acts.decline),
    ],
  }[step]();
  const row = h("div", { part: "actions" }, ...others,
    main !== undefined && h("button", { part: risky ? "accept risky" : "accept", "aria-describedby": "problems warning" }, say(verb ?? "action." + main)));
  const panel = step === "ask" && menu.open && more.menu && h("div", { part: "menu" }, ...more.menu.panel(voice, menu, acts.cancel));
  return [panel, problems, row].filter((node) => !!node);
}
