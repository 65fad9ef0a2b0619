/**
 * What waits, and what was before.
 */
import { clean, h, words } from "../draw.js";
import { say, time, voice } from "./words.js";

/** @typedef {import("./queue.js").Ticket} Ticket @typedef {import("./queue.js").Past} Past */

/** Tickets that have been drawn: only what is new moves. */
const seen = new Set();

/** @param {Ticket[]} tickets @param {(ticket: Ticket) => boolean} isAgain @param {(id: string) => void} answer */
export function waiting(tickets, isAgain, answer) {
  if (!tickets.length) return nothing();
  return h("section", { class: "waiting" },
    h("p", { class: "count" }, say("page.waiting", { count: tickets.length })),
    h("ol", { class: "cards" }, ...tickets.map((ticket) => card(ticket, isAgain(ticket), answer))),
  );
}

/** @param {Ticket} ticket @param {boolean} again @param {(id: string) => void} answer */
function card(ticket, again, answer) {
  const { id, server, tool, asked, deadline, workspace } = ticket;
  const destructive = ticket.params?._meta?.["dev.midcall/destructive"] === true;
  const kind = `card${isNew(id) ? " new" : ""}${destructive ? " destructive" : ""}`;
  return h("li", { class: kind },
    h("div", { class: "words" },
      h("p", { class: "asker" }, ...asker(server.name, tool), server.host && h("span", {}, words(server.host, 80))),
      h("p", { class: "message", dir: "auto", id: `message-${id}` }, clean(ticket.description, 300)),
      destructive && h("p", { class: "warning", id: `warning-${id}` }, say("label.destructive")),
      h("p", { class: "hint" },
        h("span", {}, say("page.asked_at", { time: time(asked) })),
        h("span", {}, say("label.until", { time: time(deadline) })),
        again && h("span", {}, say("label.another_call")),
        workspace && h("span", { class: "tag" }, words(workspace, 60))),
    ),
    h("button", { type: "button", class: destructive ? "" : "main", id: `answer-${id}`, "aria-describedby": `message-${id}${destructive ? ` warning-${id}` : ""}`, onclick: () => answer(id) }, say("page.answer")),
  );
}

/** @param {Past[]} past */
export function before(past) {
  return h("section", { class: "before", "aria-labelledby": "before" },
    h("h2", { id: "before" }, say("page.history")),
    h("ol", {}, ...past.map((one) => h("li", {},
      mark(one),
      h("div", { class: "words" },
        h("p", { class: "asker" }, ...asker(one.server, one.tool), h("time", { datetime: one.at }, time(one.at))),
        h("p", { class: "message", dir: "auto" }, clean(one.description, 160)),
        h("p", { class: "hint" },
          h("span", { class: "how" }, how(one)),
          one.fields.length > 0 && h("span", { class: "fields" }, ...voice.phrase("page.sent", { names: one.fields.join(", ") })),
          arrival(one),
        ),
      ),
    ))),
  );
}

/** What became of this person's answer, and to which question. @param {Past} past */
export function told(past) {
  const { delivery, action } = past.closing;
  const head = delivery === "lost" ? [lost(past)] : action === "accept" ? sent(past, delivery === "delivered" ? "delivered" : delivery === "sent" ? "sent" : "pending") : [say(`state.${ending(past.closing)}`)];
  return [mark(past), h("div", { class: "words" }, h("p", {}, ...head), h("p", { class: "hint", dir: "auto" }, words(past.description.split("\n", 1)[0], 80)))];
}

/** @param {Past} past @param {"pending" | "sent" | "delivered"} how */
const sent = (past, how) => voice.phrase(`delivery.${how}`, { server: past.server });

/** This person's answers that were lost. @param {Past[]} past @param {(id: string) => void} see */
export function undelivered(past, see) {
  return h("ol", { class: "cards undelivered", "aria-label": say("delivery.lost") }, ...past.map((one) => h("li", { class: "card" },
    h("div", { class: "words" },
      h("p", { class: "asker" }, ...asker(one.server, one.tool), h("time", { datetime: one.at }, time(one.at))),
      h("p", { class: "what" }, lost(one)),
      h("p", { class: "hint", dir: "auto", id: `lost-${one.id}` }, clean(one.description, 160)),
    ),
    h("button", { type: "button", "aria-describedby": `lost-${one.id}`, onclick: () => see(one.id) }, say("page.dismiss")),
  )));
}

/** That this person's answer was lost, and why. @param {Past} past */
export const lost = ({ closing: { reason = "" } }) =>
  say(["by_client", "call_ended", "server_gone", "unreached", "dropped", "shutdown"].includes(reason) ? `delivery.lost_${reason}` : "delivery.lost");

/** What became of an answer, in a few words. @param {Past} past */
function arrival(past) {
  const { delivery } = past.closing;
  if (delivery === "lost") return h("span", { class: "bad" }, past.ours ? lost(past) : say("delivery.lost_elsewhere"));
  return (delivery === "sent" || delivery === "delivered") && h("span", {}, ...sent(past, delivery));
}

/** How a question ended, in the catalog's word for it. @param {import("./queue.js").Closing} closing */
export const ending = ({ state, action = "", reason = "" }) => {
  if (state === "answered") return { accept: "answered", decline: "declined", cancel: "cancelled" }[action] ?? state;
  return ["withdrawn", "gone"].includes(state) && ["by_client", "server_gone", "dropped", "shutdown"].includes(reason) ? reason : state;
};

/** @param {string} id */
const isNew = (id) => !seen.has(id) && seen.add(id);

/** @param {string} server @param {string} [tool] */
const asker = (server, tool) => [h("strong", {}, words(server, 80)), tool ? h("span", { class: "tool" }, words(tool, 80)) : undefined].filter((part) => part !== undefined);

/** @param {Past} past */
function how({ closing, ours }) {
  const text = say(`state.${ending(closing)}`);
  const route = closing.by && !ours && ROUTES.includes(closing.by.route) ? say(`page.by_${closing.by.route}`) : "";
  return `${text} ${route}`.trim();
}

/** Whoever may have answered; one that a newer gateway knows goes unnamed. */
const ROUTES = ["page", "terminal", "client", "app", "model", "api", "answers", "hook", "remembered"];

/** An icon for how a question ended. @param {Past} past */
function mark({ closing: { state, action = "", delivery } }) {
  const kind = delivery === "lost" ? "lost-answer" : state === "answered" ? { accept: "yes", decline: "declined" }[action] ?? "no" : state === "timed_out" ? "late" : state === "gone" ? "unknown" : "no";
  return h("span", { class: `mark ${kind}`, "aria-hidden": "true" });
}

function nothing() {
  return h("section", { class: "nothing" },
    h("span", { class: "picture", "aria-hidden": "true" }),
    h("p", { class: "lead" }, say("page.empty_title")),
    h("p", {}, say("page.empty")),
  );
}
