/**
 * What is open and what was before, out of the events alone. No DOM, no network, no clock.
 *
 * Events may come twice, after a cut: what is known changes nothing, and what is closed stays
 * closed. Only the desk closes: where nobody knows how a question ended (`gone`), a later word
 * corrects it.
 */

/**
 * @typedef {{gateway: import("./gateway.js").Gateway, id: string, mode: "form" | "url", title?: string, description: string, params: any, url?: string,
 *   server: {name: string, version?: string, host?: string, links?: string[]}, tool?: string, workspace?: string,
 *   conversation?: string, asked: string, deadline: string, opened?: boolean}} Ticket
 * @typedef {{state: string, action?: string, by?: {route: string, human: boolean}, reason?: string}} Closing
 * @typedef {{id: string, server: string, tool?: string, description: string, workspace?: string, conversation?: string,
 *   closing: Closing, at: string, fields: string[], ours: boolean}} Past
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
   * @param {{at: string, fields?: string[], ours?: boolean}} how  `fields` are names, never values
   */
  settle(id, closing, { at, fields = [], ours = false }) {
    const ticket = this.#open.get(id);
    if (!ticket) {
      const past = this.#past.find((one) => one.id === id);
      if (!past || past.ours || !(ours || isProvisional(past))) return undefined;
      return Object.assign(past, { closing, fields, ours });
    }
    this.#open.delete(id);
    const { server, tool, description, workspace, conversation } = ticket;
    const past = { id, server: server.name, tool, description, workspace, conversation, closing, at, fields, ours };
    this.#past = [past, ...this.#past].slice(0, MOST_PAST);
    return past;
  }

  /** Those whose end may have been told when nobody could hear it: opened links, and what should be over. @param {number} now */
  doubtful = (now) => this.all.filter(({ opened, deadline }) => opened || Date.parse(deadline) < now);
}

/** @param {string} a @param {string} b */
const compare = (a, b) => (a === b ? 0 : a < b ? -1 : 1);

/** @param {Past} past */
const isProvisional = ({ closing }) => closing.state === "gone";

/** Whether something belongs to a place. @param {{workspace?: string, conversation?: string}} what @param {Place} place */
export const isIn = (what, { workspace, conversation }) =>
  (!workspace || what.workspace === workspace) && (!conversation || what.conversation === conversation);
