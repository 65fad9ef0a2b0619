/**
 * What stands in the dialog at each step: who asks on top, what can be done at the bottom.
 *
 * Pressing a button is told to the element: nothing here decides anything.
 */
import { refusal } from "./decline.js";
import { button, clean, cross, h, words } from "./draw.js";
import { LIMITS } from "./limits.js";

/**
 * @typedef {import("./draw.js").Voice} Voice
 * @typedef {"ask" | "review" | "opened"} Step
 */

/**
 * Who asks, and how many wait.
 *
 * @param {Voice} voice
 * @param {{server: string, tool: string | null, queue: string | null}} who
 * @param {HTMLElement} clock
 * @param {() => void} leave
 */
export function header({ say, phrase }, { server, tool, queue }, clock, leave) {
  const [position, total] = (queue ?? "").split("/");
  return [
    h("span", { part: "avatar", "aria-hidden": "true" }, [...clean(server).trim()][0]?.toUpperCase() ?? "?"),
    h("h2", { id: "asks" }, ...(tool ? phrase("label.asks_for_tool", { server, tool }) : phrase("label.asks", { server }))),
    total === undefined ? "" : h("span", { part: "queue" }, say("label.queue", { position, total })),
    clock,
    cross(say("action.close"), leave, "close"),
    h("slot", { name: "aside" }),
  ];
}

/** What is asked, in the server's words. @param {string | undefined} title @param {unknown} message */
export const question = (title, message) => [
  title ? h("h3", { id: "title", part: "title" }, words(title, 200)) : "",
  message === undefined ? "" : h("div", { id: "message", part: "message", dir: "auto" }, clean(message, LIMITS.message)),
];

/**
 * What can be done. The last button is what Enter does.
 *
 * @param {Voice} voice
 * @param {Step} step
 * @param {string | undefined} main  the action that goes on, unless nothing can
 * @param {HTMLElement | undefined} problems  what stands in its way
 * @param {import("./decline.js").Refusal} refused
 * @param {boolean} destructive
 * @param {{again: () => void, change: () => void, cancel: () => void, decline: (reason?: string) => void}} acts
 */
export function footer(voice, step, main, problems = h("div", { part: "problems", id: "problems" }), refused, destructive, { again, change, cancel, decline }) {
  const { say } = voice;
  /** @param {string} key @param {string} part @param {() => void} act */
  const action = (key, part, act) => button(say("action." + key), act, { part });
  /** @param {Node} first */
  const row = (first) => h("div", { part: "actions" }, first, action("cancel", "cancel", cancel),
    main !== undefined && h("button", { part: "accept", "aria-describedby": "problems destructive" }, say("action." + main)));
  const warning = destructive && main !== undefined ? h("p", { part: "problem", id: "destructive" }, say("label.destructive")) : "";

  if (step === "opened") return [warning, problems, row(action("open_again", "again", again))];
  if (step === "review") return [warning, problems, row(action("change", "change", change))];
  const { panel, buttons } = refusal(voice, refused, decline);
  return [panel, warning, problems, row(buttons)];
}

/** How it ended. @param {Voice} voice @param {string} server @param {string} state @param {() => void} close */
export const note = ({ say }, server, state, close) => [
  h("p", {}, h("strong", {}, words(server, 60)), " ", say("state." + state)),
  cross(say("action.close"), close, "close"),
];
