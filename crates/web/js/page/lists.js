/**
 * What waits, and what was before.
 */
import { clean, h, words } from "../draw.js";
import { say, time, voice } from "./words.js";

/** @typedef {import("./queue.js").Ticket} Ticket @typedef {import("./queue.js").Past} Past */

/** Tickets that have been drawn: only what is new moves. */
const seen = new Set();

/** @param {Ticket[]} tickets @param {(id: string) => void} answer */
export function waiting(tickets, answer) {
  if (!tickets.length) return nothing();
  return h("section", { class: "waiting" },
    h("p", { class: "count" }, say("page.waiting", { count: tickets.length })),
    h("ol", { class: "cards" }, ...tickets.map((ticket) => h("li", { class: isNew(ticket.id) ? "card new" : "card" },
      h("div", { class: "words" },
        h("p", { class: "asker" }, ...asker(ticket.server.name, ticket.tool)),
        h("p", { class: "message", dir: "auto", id: `message-${ticket.id}` }, clean(ticket.description, 300)),
        h("p", { class: "hint" }, say("page.asked_at", { time: time(ticket.asked) }), ticket.workspace && h("span", { class: "tag" }, words(ticket.workspace, 60))),
      ),
      h("button", { type: "button", class: "main", id: `answer-${ticket.id}`, "aria-describedby": `message-${ticket.id}`, onclick: () => answer(ticket.id) }, say("page.answer")),
    ))),
  );
}

/** @param {Past[]} past */
export function before(past) {
  return h("section", { class: "before", "aria-labelledby": "before" },
    h("h2", { id: "before" }, say("page.history")),
    h("ol", {}, ...past.map((one) => h("li", {},
      h("span", { class: `mark ${mark(one)}`, "aria-hidden": "true" }),
      h("div", { class: "words" },
        h("p", { class: "asker" }, ...asker(one.server, one.tool), h("time", { datetime: one.at }, time(one.at))),
        h("p", { class: "message", dir: "auto" }, clean(one.description, 160)),
        h("p", { class: "hint" },
          how(one),
          one.fields.length > 0 && h("span", { class: "fields" }, ...voice.phrase("page.sent", { names: one.fields.join(", ") })),
          arrival(one),
        ),
      ),
    ))),
  );
}

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
  return (delivery === "sent" || delivery === "delivered") && h("span", {}, say(`delivery.${delivery}`));
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
  return closing.by && !ours ? `${text} ${say(`page.by_${closing.by.route}`)}` : text;
}

/** @param {Past} past */
const mark = ({ closing }) => (closing.delivery === "lost" ? "lost-answer" : closing.state === "answered" && closing.action === "accept" ? "yes" : "no");

function nothing() {
  return h("section", { class: "nothing" },
    h("span", { class: "picture", "aria-hidden": "true" }),
    h("p", { class: "lead" }, say("page.empty_title")),
    h("p", {}, say("page.empty")),
  );
}
