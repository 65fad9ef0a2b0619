/**
 * The bar on top: whose page this is, how it is connected, and what can be set.
 */
import { clean, h } from "../draw.js";
import * as notifications from "./notify.js";
import { LOCALES, say, voice } from "./words.js";

/**
 * @param {object} now
 * @param {import("./connection.js").State | undefined} now.state  nothing while nobody is let in
 * @param {string} now.workspace
 * @param {Map<string, number>} now.workspaces  how many questions wait in each
 * @param {object} does
 * @param {(tag: string) => void} does.speak
 * @param {(workspace: string) => void} does.move
 * @param {() => void} does.tryNow
 * @param {() => void} does.draw
 */
export function bar({ state, workspace, workspaces }, does) {
  return [
    h("a", { class: "skip", href: "#content", onclick: skip }, say("page.skip_to_content")),
    h("span", { class: "brand" }, h("span", { class: "logo", "aria-hidden": "true" }), "Midcall"),
    state && connection(state, does.tryNow),
    h("div", { class: "settings", role: "group", "aria-label": say("page.settings") },
      workspaces.size > 0 && places(workspace, workspaces, does.move),
      state && notify(does.draw),
      choice("locale", say("page.locale"), LOCALES, voice.tag, does.speak),
    ),
  ].filter((part) => part !== undefined);
}

/** Not by the address: what stands after its # is taken for a key. @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

/** Always the same one: only a live region that was there before is heard. */
const told = h("span", { role: "status" });

/** @param {import("./connection.js").State} state @param {() => void} tryNow */
function connection(state, tryNow) {
  const text = say(`page.${{ connecting: "connecting", connected: "connected", lost: "connection_lost", signed_out: "connection_lost" }[state]}`);
  if (told.textContent !== text) told.textContent = text;
  return h("div", { class: `connection ${state}` },
    h("span", { class: "dot", "aria-hidden": "true" }),
    told,
    state === "lost" && h("button", { type: "button", class: "quiet", id: "try-now", onclick: tryNow }, say("page.try_now")),
  );
}

/** @param {string} workspace @param {Map<string, number>} workspaces @param {(workspace: string) => void} move */
function places(workspace, workspaces, move) {
  const names = [...new Set([...workspaces.keys(), workspace])].filter(Boolean).sort();
  const options = names.map((name) => {
    const count = workspaces.get(name);
    const shown = clean(name, 60);
    return [name, count ? say("page.workspace_count", { workspace: shown, count }) : shown];
  });
  return choice("workspace", say("page.workspace"), [["", say("page.all_workspaces")], ...options], workspace, move);
}

/** @param {() => void} draw */
function notify(draw) {
  const permission = notifications.permission();
  if (permission === "unsupported") return undefined;
  const [key, hint] = { default: ["notify", "notify_hint"], granted: ["notify_on", "notify_hint"], denied: ["notify_blocked", "notify_blocked_hint"] }[permission];
  const isOpen = permission === "default";
  return h("button", {
    type: "button", id: "notify", class: `quiet ${permission}`, title: say(`page.${hint}`), "aria-disabled": isOpen ? undefined : "true",
    onclick: () => isOpen && notifications.ask().then(draw, draw),
  }, h("span", { class: "bell", "aria-hidden": "true" }), h("span", { class: "text" }, say(`page.${key}`)));
}

/**
 * @param {string} id
 * @param {string} label
 * @param {string[][]} options  value and text
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
function choice(id, label, options, chosen, choose) {
  const select = h("select", { id, onchange: () => choose(select.value) }, ...options.map(([value, text]) =>
    h("option", { value, selected: value === chosen, lang: id === "locale" ? value : undefined }, text)));
  return h("label", { class: "choice" }, h("span", { class: "unseen" }, label), select);
}
