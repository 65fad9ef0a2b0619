/**
 * The dialog of the current question: shows a ticket, and hands in what the person says.
 *
 * While an answer is on its way, what the events tell of the ticket waits: only the response
 * says whether it was this answer that counted.
 */
import "../define.js";
import { h } from "../draw.js";
import { Refused } from "./gateway.js";
import * as memory from "./memory.js";
import { say, voice } from "./words.js";

/**
 * @typedef {import("./queue.js").Ticket} Ticket
 * @typedef {import("./queue.js").Closing} Closing
 * @typedef {import("../element.js").McpElicitationElement} Element
 */

/** How often an opened link is asked about: its end is also told by an event. */
const POLL = 3_000;

export class Asking {
  #gateway;
  #told;
  /** @type {Ticket | undefined} */
  #ticket;
  /** @type {Element | undefined} */
  #element;
  /** Answers on their way, with what was heard of their tickets meanwhile. @type {Map<string, Closing | undefined>} */
  #underway = new Map();
  #poll = 0;

  /**
   * @param {import("./gateway.js").Gateway} gateway
   * @param {{closed: (id: string, closing: Closing, how?: {fields?: string[], ours?: boolean}) => void,
   *   opened: (id: string) => void, later: (id: string) => void, signedOut: () => void}} told
   */
  constructor(gateway, told) {
    this.#gateway = gateway;
    this.#told = told;
  }

  /** The ticket that is shown. */
  get id() {
    return this.#ticket?.id;
  }

  /** Shows a ticket, unless it is shown already. @param {Ticket} ticket @param {string} queue  "1/3" */
  show(ticket, queue) {
    if (this.id !== ticket.id) {
      this.dismiss();
      this.#begin(ticket);
    }
    const element = /** @type {Element} */ (this.#element);
    if (element.getAttribute("queue") !== queue) element.setAttribute("queue", queue);
    if (ticket.opened && !element.opened) element.opened = true;
    this.#watch(ticket);
  }

  /** Puts the dialog away. The ticket stays open, and what was typed is kept. */
  dismiss() {
    const element = this.#release();
    element?.dismiss();
    element?.remove();
  }

  /** Speaks the page's language from now on. */
  speak() {
    this.#element?.setAttribute("locale", voice.tag);
    const later = this.#element?.querySelector("button");
    if (later) later.textContent = say("page.later");
  }

  /** An event says that a ticket closed; whether that has to wait for an answer on its way. @param {string} id @param {Closing} closing */
  hear(id, closing) {
    if (!this.#underway.has(id)) return false;
    this.#underway.set(id, closing);
    return true;
  }

  /** The ticket closed without this page: says so in the dialog's place. @param {string} state */
  end(state) {
    document.querySelector("mcp-elicitation.over")?.remove(); // one note at a time
    const element = this.#release();
    element?.classList.add("over");
    element?.close(state);
  }

  /** From here on, what the element does is nobody's business: closing it moves the focus, and that looks like typing. */
  #release() {
    clearInterval(this.#poll);
    const element = this.#element;
    this.#element = this.#ticket = undefined;
    return element;
  }

  /** @param {Ticket} ticket */
  #begin(ticket) {
    const { id, server, tool, deadline, params } = ticket;
    const element = /** @type {Element} */ (h(/** @type {any} */ ("mcp-elicitation"), {
      "server-name": server.name, "server-host": server.host, tool, deadline, locale: voice.tag,
      destructive: params?._meta?.["dev.midcall/destructive"] === true,
    }, h("button", { slot: "aside", type: "button", class: "later", onclick: () => this.#told.later(id) }, say("page.later"))));
    element.addEventListener("elicitation-answer", (event) => this.#answer(ticket, element, /** @type {CustomEvent} */ (event).detail));
    element.addEventListener("elicitation-finished", (event) => this.#finish(ticket, element, /** @type {CustomEvent} */ (event).detail));
    element.addEventListener("elicitation-input", () => this.#element === element && memory.keepDraft(id, element.typed));
    element.addEventListener("elicitation-timeout", () => {
      this.end("timed_out");
      this.#told.closed(id, { state: "timed_out" });
    });
    element.addEventListener("elicitation-closed", () => element.remove());
    this.#ticket = ticket;
    this.#element = element;
    document.body.append(element);
    element.request = params;
    const draft = memory.draft(id);
    if (draft) element.typed = draft;
  }

  /** @param {Ticket} ticket @param {Element} element @param {any} result  an ElicitResult */
  #answer(ticket, element, { action, content, _meta }) {
    const { id } = ticket;
    if (action === "accept" && ticket.mode === "url") return this.#open(ticket);
    const call = {
      accept: () => this.#gateway.accept(id, content),
      decline: () => this.#gateway.reject(id, _meta?.["dev.midcall/reason"]),
      cancel: () => this.#gateway.cancel(id),
    }[/** @type {"accept" | "decline" | "cancel"} */ (action)];
    return this.#hand(id, element, action, call, Object.keys(content ?? {}));
  }

  /** @param {Ticket} ticket @param {Element} element @param {{action: "accept" | "cancel"}} how */
  #finish({ id }, element, { action }) {
    return this.#hand(id, element, action, () => this.#gateway[action](id), []);
  }

  /** The person consented and the link is open; it is done when they say so, or the server does. @param {Ticket} ticket */
  async #open({ id }) {
    this.#told.opened(id);
    try {
      await this.#gateway.opened(id);
    } catch (problem) {
      this.#explain(id, problem);
    }
  }

  /** @param {Ticket} ticket */
  #watch({ id, opened }) {
    clearInterval(this.#poll);
    if (!opened) return;
    this.#poll = setInterval(async () => {
      const { state } = await this.#gateway.status(id).catch(() => ({ state: "open" })); // a cut is told elsewhere
      if (state !== "open" && !this.#underway.has(id)) this.#told.closed(id, { state });
    }, POLL);
  }

  /**
   * @param {string} id
   * @param {Element} element
   * @param {string} action
   * @param {() => Promise<unknown>} call
   * @param {string[]} fields
   */
  async #hand(id, element, action, call, fields) {
    this.#underway.set(id, undefined);
    try {
      await call();
      this.#underway.delete(id);
      if (this.#element === element) this.dismiss();
      this.#told.closed(id, { state: "answered", action, by: { route: "page", human: true } }, { fields, ours: true });
    } catch (problem) {
      const heard = this.#underway.get(id);
      this.#underway.delete(id);
      if (heard) this.#told.closed(id, heard);
      else if (this.#explain(id, problem)) return;
      else if (element.opened) element.opened = true; // to be pressed again
      else element.problems = found(problem);
    }
  }

  /** Whether a refusal says that there is nothing more to answer. @param {string} id @param {unknown} problem */
  #explain(id, problem) {
    if (!(problem instanceof Refused)) return false;
    const { state, action, by, reason } = problem.body;
    if (problem.status === 409) this.#told.closed(id, { state, action, by, reason });
    else if (problem.status === 404) this.#told.closed(id, { state: "withdrawn" });
    else if (problem.status === 401) this.#told.signedOut();
    else return false;
    return true;
  }
}

/** What to show in the form: the gateway's problems, or that it could not be reached. @param {unknown} problem */
function found(problem) {
  const problems = problem instanceof Refused && problem.body.problems;
  return problems || [{ path: "", key: "mcp.elicitation.page.not_sent", params: {} }];
}
