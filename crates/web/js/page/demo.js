/**
 * The demo's page: a gallery of questions, and the messages of those that were asked.
 *
 * A question is taken back when its stream of messages is cut, so closing the tab leaves
 * nothing behind.
 */
import { clean, h } from "../draw.js";
import { Refused } from "./gateway.js";
import { ending } from "./lists.js";
import { Page } from "./page.js";
import { say } from "./words.js";

/** @typedef {{name: string, messages: any[], state: "new" | "waiting" | "ended" | "failed" | "cut" | "replaced", end: AbortController}} Run */

/** How many runs are shown. */
const MOST = 6;
/** How many wait at once: a browser has six connections for all its tabs, and answers need one. */
const MOST_WAITING = 3;
/** A message is shown up to so many characters. */
const LONGEST = 20_000;

/** @type {{name: string, group: string}[]} */
let questions = [];
/** The latest first. @type {Run[]} */
let runs = [];

const page = new Page(() => {
  load();
  return [
    h("div", { class: "intro" }, h("h1", {}, say("demo.title")), h("p", {}, say("demo.intro"))),
    h("div", { class: "demo" }, gallery(), messages()),
  ];
});
page.open();

let isLoading = false;

/** Asks once what there is to ask. If that fails the connection is gone, and its return draws again. */
async function load() {
  if (isLoading || questions.length) return;
  isLoading = true;
  questions = await page.gateway.questions().catch(() => []);
  isLoading = false;
  if (questions.length) page.draw();
}

/** @param {string} name */
async function ask(name) {
  /** @type {Run} */
  const run = { name, messages: [], state: "new", end: new AbortController() };
  for (const old of runs.filter(isLive).slice(MOST_WAITING - 1)) {
    old.state = "replaced";
    old.end.abort();
  }
  runs = [run, ...runs].slice(0, MOST);
  page.draw();
  try {
    for await (const message of page.gateway.ask(name, run.end.signal)) {
      run.messages.push(message);
      run.state = "waiting";
      page.draw();
    }
    run.state = run.messages.some(({ error }) => error) ? "failed" : "ended";
  } catch (problem) {
    if (isLive(run)) run.state = run.messages.length ? "cut" : "failed";
    if (problem instanceof Refused && problem.status === 401) page.signOut();
  }
  page.draw();
}

/** @param {Run} run */
const isLive = ({ state }) => state === "new" || state === "waiting";

function gallery() {
  const groups = Map.groupBy(questions, ({ group }) => group);
  return h("div", { class: "gallery" }, ...[...groups].map(([group, members]) => h("section", { "aria-labelledby": `group-${group}` },
    h("h2", { id: `group-${group}` }, say(`demo.${group}`)),
    h("ul", {}, ...members.map(({ name }) => h("li", {}, h("button", { type: "button", id: `ask-${name}`, onclick: () => ask(name) }, say(`demo.${name}`))))),
  )));
}

function messages() {
  return h("section", { class: "messages", "aria-labelledby": "messages" },
    h("h2", { id: "messages" }, say("demo.messages")),
    ...(runs.length ? runs.map(drawn) : [h("p", { class: "none" }, say("demo.none"))]),
  );
}

/** What a message is between the two. @param {any} message */
function kind({ method, result }) {
  if (method === "tools/call") return "calls";
  if (method === "elicitation/create") return "asks";
  if (method) return "notifies";
  return result?.action ? "hears" : "returns";
}

/** @param {Run} run */
function drawn({ name, messages, state }) {
  const outcomes = messages.flatMap(({ outcome }) => outcome ? say(`state.${ending(outcome)}`) : []);
  const told = [...outcomes, ...(state === "ended" ? [] : [say(`demo.${state === "new" ? "waiting" : state}`)])];
  return h("article", { class: `run ${state}` },
    h("h3", {}, say(`demo.${name}`), h("span", { class: "outcome" }, told.join(" · "))),
    h("ol", {}, ...messages.filter(({ outcome }) => !outcome).map((message) => {
      const key = kind(message);
      return h("li", { class: key },
        h("p", {}, say(`demo.${key}`)),
        h("pre", { tabindex: "0", role: "group", "aria-label": say(`demo.${key}`), dir: "ltr" }, clean(JSON.stringify(message, null, 2), LONGEST)),
      );
    })),
  );
}
