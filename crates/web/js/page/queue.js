/**
 * What is open and what was before, out of the events alone. No DOM, no network, no clock.
 *
 * Events may come twice, after a cut: what is known changes nothing, and what is closed stays
 * closed. Only the desk closes: where nobody knows how a question ended (`gone`), a later word
 * corrects it. What became of an answer is learned after its question closed.
 */

/**
 * @typedef {{gateway: import("./gateway.js").Gateway, id: string, mode: "form" | "url", title?: string, description: string, params: any, url?: string,
 *   server: {name: string, version?: string, host?: string, links?: string[]}, tool?: string, workspace?: string,
 *   conversation?: string, asked: string, deadline: string, opened?: boolean}} Ticket
 * @typedef {"pending" | "sent" | "delivered" | "lost"} Delivery  what became of an answer
 * @typedef {{state: string, action?: string, by?: {route: string, human: boolean}, delivery?: Delivery, reason?: string}} Closing
 * @typedef {{id: string, from: string, server: string, tool?: string, description: string, workspace?: string, conversation?: string,
 *   closing: Closing, at: string, fields: string[], ours: boolean, seen?: boolean}} Past  `from`: the gateway that asked; `seen`:
 *   the person knows that their answer was lost
 * @typedef {{workspace: string, conversation: string}} Place
 */

/** How many closed ones are shown. */
const MOST_PAST = 30;

export class Queue {
  /** @type {Map<string, Ticket>} */
  #open = new Map();
  /** Closed, the latest first. @type {Past[]} */
  #past;

  /** @param {Past[]} [past]  what this tab has seen before */
  constructor(past = []) {
    this.#past = past;
  }

  /** Everything that is open at any gateway, oldest first. What one asks within a millisecond stays as it told it. */
  get all() {
    return [...this.#open.values()].sort((a, b) => compare(a.asked, b.asked) || compare(a.gateway.origin, b.gateway.origin));
  }

  get past() {
    return this.#past;
  }

  /** @param {string} id */
  get = (id) => this.#open.get(id);

  /** A question is open; whether that is new. @param {Ticket} ticket */
  add(ticket) {
    const past = this.#past.find(({ id }) => id === ticket.id);
    if (this.#open.has(ticket.id) || (past && !isProvisional(past))) return false;
    this.#past = this.#past.filter((one) => one !== past);
    this.#open.set(ticket.id, ticket);
    return true;
  }

  /** Its link has been opened, here or elsewhere. @param {string} id @param {string} [url]  where it leads now, if the server has changed that */
  markOpened(id, url) {
    const ticket = this.#open.get(id);
    if (!ticket) return;
    ticket.opened = true;
    if (url) ticket.url = url;
  }

  /**
   * A question is closed; what is remembered of it, if that is new.
   *
   * @param {string} id
   * @param {Closing} closing
   * @param {{at: string, fields?: string[], ours?: boolean}} how  `fields` are labels, never values
   */
  settle(id, closing, { at, fields = [], ours = false }) {
    const ticket = this.#open.get(id);
    if (!ticket) {
      const past = this.#past.find((one) => one.id === id);
      if (!past) return undefined;
      if (past.ours || !(ours || isProvisional(past))) return deliver(past, closing);
      return Object.assign(past, { closing, fields, ours });
    }
    this.#open.delete(id);
    const { gateway, server, tool, description, workspace, conversation } = ticket;
    const past = { id, from: gateway.origin, server: server.name, tool, description, workspace, conversation, closing, at, fields, ours };
    this.#past = [past, ...this.#past].slice(0, MOST_PAST);
    return past;
  }

  /** Answered, and not known to have arrived. @param {string} from  the gateway that asked */
  underway = (from) => this.#past.filter((one) => one.from === from && one.closing.state === "answered" && !isFinal(one.closing.delivery));

  /** This tab's answers that were lost, until the person has seen that. */
  get lost() {
    return this.#past.filter(({ ours, seen, closing }) => ours && !seen && closing.delivery === "lost");
  }

  /** Whether the same tool asked the same before, in another call: two equal questions are two. @param {Ticket} ticket */
  isAgain(ticket) {
    const { tool, description } = ticket;
    /** @param {string} server @param {{tool?: string, description: string}} one */
    const same = (server, one) => server === ticket.server.name && one.tool === tool && one.description === description;
    const earlier = this.all.slice(0, this.all.indexOf(ticket));
    return earlier.some((one) => same(one.server.name, one)) || this.#past.some((one) => Date.parse(one.at) >= Date.parse(ticket.asked) && same(one.server, one));
  }

  /** The person has seen that an answer was lost. @param {string} id */
  see(id) {
    const past = this.#past.find((one) => one.id === id);
    if (past) past.seen = true;
  }

  /** Those whose end may have been told when nobody could hear it: opened links, and what should be over. @param {number} now */
  doubtful = (now) => this.all.filter(({ opened, deadline }) => opened || Date.parse(deadline) < now);
}

/** What is known of an answer on its way, if that is more than before. @param {Past} past @param {Closing} closing */
function deliver(past, { state, delivery, reason }) {
  const before = past.closing.delivery;
  if (state !== past.closing.state || isFinal(before) || order(delivery) <= order(before)) return undefined;
  past.closing = { ...past.closing, delivery, reason };
  return past;
}

/** @param {Delivery} [delivery] */
const order = (delivery) => ["pending", "sent", "delivered", "lost"].indexOf(delivery ?? "");

/** @param {Delivery} [delivery] */
const isFinal = (delivery) => delivery === "delivered" || delivery === "lost";

/** @param {string} a @param {string} b */
const compare = (a, b) => (a === b ? 0 : a < b ? -1 : 1);

/** @param {Past} past */
const isProvisional = ({ closing }) => closing.state === "gone";

/** Whether something belongs to a place. @param {{workspace?: string, conversation?: string}} what @param {Place} place */
export const isIn = (what, { workspace, conversation }) =>
  (!workspace || what.workspace === workspace) && (!conversation || what.conversation === conversation);
