/**
 * The dialog of the current question: shows a ticket, and hands in what the person says.
 *
 * While an answer is on its way, what is heard of the ticket waits: only the response says
 * whether it was this answer that counted.
 */
import "../define.js";
import { h } from "../draw.js";
import { read } from "../form.js";
import { write } from "./exact.js";
import { Refused } from "./gateway.js";
import * as memory from "./memory.js";
import { say, voice } from "./words.js";

/**
 * @typedef {import("./queue.js").Ticket} Ticket
 * @typedef {import("./queue.js").Closing} Closing
 * @typedef {import("../check.js").Problem} Problem
 * @typedef {import("../element.js").McpElicitationElement} Element
 */

const HERE = { route: "page", human: true };

export class Asking {
  #told;
  /** @type {Ticket | undefined} */
  #ticket;
  /** @type {Element | undefined} */
  #element;
  /** Answers on their way, with what was heard of their tickets meanwhile. @type {Map<string, Closing | undefined>} */
  #underway = new Map();
  /** Answers of this tab, by ticket and action, with their fields: the response may be lost, and the answer taken all the same. @type {Map<string, string[]>} */
  #said = new Map();
  /** The last attempt at each ticket that may have been taken or not. @type {Map<string, {said: string, name: string}>} */
  #attempts = new Map();
  /** Why answers could not be sent, until they are tried again. @type {Map<string, Problem[]>} */
  #failed = new Map();

  /**
   * @param {{settled: (id: string, closing: Closing) => void, failed: (id: string) => void,
   *   opened: (id: string) => void, later: (id: string) => void,
   *   signedOut: (gateway: import("./gateway.js").Gateway) => void}} told
   */
  constructor(told) {
    this.#told = told;
  }

  /** The ticket that is shown. */
  get id() {
    return this.#ticket?.id;
  }

  /** Shows a ticket, unless it is shown already. @param {Ticket} ticket @param {string} queue  "1/3" @param {boolean} again  the same is asked in another call */
  show(ticket, queue, again) {
    if (this.id !== ticket.id) {
      this.dismiss();
      this.#begin(ticket);
    }
    const element = /** @type {Element} */ (this.#element);
    if (element.getAttribute("queue") !== queue) element.setAttribute("queue", queue);
    if (element.hasAttribute("again") !== again) element.toggleAttribute("again", again);
    this.#follow();
  }

  /** The link may have been opened elsewhere, or lead elsewhere now. What could not be sent from here stays told. */
  #follow() {
    const { id, opened, url } = /** @type {Ticket} */ (this.#ticket);
    const element = /** @type {Element} */ (this.#element);
    if (!opened || this.#underway.has(id)) return;
    if (url && url !== element.request.url) element.renew(url);
    if (element.opened) return;
    element.opened = true;
    const failed = this.#failed.get(id);
    if (failed) element.problems = failed;
  }

  /** Puts the dialog away. The ticket stays open, and what was typed is kept. */
  dismiss() {
    const element = this.#release();
    element?.dismiss();
    element?.remove();
  }

  /** Speaks the page's language from now on. */
  speak() {
    document.querySelectorAll("mcp-elicitation").forEach((one) => one.setAttribute("locale", voice.tag)); // its notes, too
    const later = this.#element?.querySelector("button");
    if (later) later.textContent = say("page.later");
  }

  /** A ticket closed; whether that has to wait for an answer on its way. @param {string} id @param {Closing} closing */
  hear(id, closing) {
    if (!this.#underway.has(id)) return false;
    this.#underway.set(id, closing);
    return true;
  }

  /** Whether it was this tab that closed it so. @param {string} id @param {Closing} closing */
  how(id, { action, by }) {
    const fields = by?.route === "page" ? this.#said.get(`${id} ${action}`) : undefined;
    return { fields, ours: fields !== undefined };
  }

  /** The ticket closed without this page: says so in the dialog's place. @param {string} state */
  end(state) {
    forget(); // one note at a time
    const element = this.#release();
    element?.classList.add("over");
    element?.close(state);
  }

  /** From here on, what the element does is nobody's business: closing it moves the focus, and that looks like typing. */
  #release() {
    const element = this.#element;
    this.#element = this.#ticket = undefined;
    return element;
  }

  /** @param {Ticket} ticket */
  #begin(ticket) {
    const { gateway, id, server, tool, deadline, opened, params, url } = ticket;
    const element = /** @type {Element} */ (h(/** @type {any} */ ("mcp-elicitation"), {
      "server-name": server.name, "server-host": server.host, "server-links": server.links?.join(" "), tool, deadline, locale: voice.tag,
      destructive: params?._meta?.["dev.midcall/destructive"] === true,
    }, h("button", { slot: "aside", type: "button", class: "later", onclick: () => this.#told.later(id) }, say("page.later"))));
    element.addEventListener("elicitation-answer", (event) => this.#answer(ticket, /** @type {CustomEvent} */ (event).detail));
    element.addEventListener("elicitation-finished", (event) => this.#finish(ticket, /** @type {CustomEvent} */ (event).detail));
    element.addEventListener("elicitation-input", () => this.#element === element && memory.keepDraft(id, element.typed, gateway.origin));
    element.addEventListener("elicitation-closed", () => element.remove());
    this.#ticket = ticket;
    this.#element = element;
    document.body.append(element);
    element.request = opened && url ? { ...params, url } : params;
    const draft = memory.draft(id);
    if (draft) element.typed = draft;
    const failed = this.#failed.get(id);
    if (failed) element.problems = failed;
  }

  /** @param {Ticket} ticket @param {any} result  an ElicitResult */
  #answer(ticket, { action, content, _meta }) {
    const { gateway, id } = ticket;
    if (action === "accept" && ticket.mode === "url") return this.#open(ticket);
    const hand = { accept: gateway.accept, decline: gateway.reject, cancel: gateway.cancel }[/** @type {"accept" | "decline" | "cancel"} */ (action)];
    const said = { content, reason: _meta?.["dev.midcall/reason"] };
    return this.#hand(ticket, action, (attempt) => hand(id, { ...said, attempt }), said);
  }

  /** @param {Ticket} ticket @param {{action: "accept" | "cancel"}} how */
  #finish(ticket, { action }) {
    return this.#hand(ticket, action, (attempt) => ticket.gateway[action](ticket.id, { attempt }), {});
  }

  /** The person consented and the link is open; it is done when they say so, or the server does. @param {Ticket} ticket */
  async #open(ticket) {
    const { gateway, id } = ticket;
    this.#failed.delete(id);
    try {
      await gateway.opened(id);
    } catch (problem) {
      if (this.#explain(ticket, problem)) return;
      if (this.#element && this.id === id) this.#element.opened = false; // to be pressed again
      return this.#fail(id, problem);
    }
    this.#told.opened(id);
  }

  /**
   * @param {Ticket} ticket
   * @param {string} action
   * @param {(attempt: string) => Promise<unknown>} call
   * @param {{content?: object, reason?: string}} answer
   */
  async #hand(ticket, action, call, answer) {
    const { id } = ticket;
    const fields = labels(ticket, Object.keys(answer.content ?? {}));
    this.#failed.delete(id);
    this.#underway.set(id, undefined);
    const said = `${id} ${action}`;
    const again = this.#said.has(said);
    this.#said.set(said, fields);
    /** @type {unknown} */
    let problem;
    await call(this.#attempt(id, write({ action, ...answer }))).catch((found) => (problem = found));
    const heard = this.#underway.get(id);
    this.#underway.delete(id);
    if (!problem || heard) this.#attempts.delete(id);
    if (problem instanceof Refused && !again) this.#said.delete(said); // nothing was lost: it was not taken
    if (!problem) this.#told.settled(id, { ...heard, state: "answered", action, by: HERE }); // It may have been delivered or lost by now.
    else if (heard) this.#told.settled(id, heard);
    else if (!this.#explain(ticket, problem)) this.#fail(id, problem);
  }

  /** The name of an attempt: the same for what is said again, since it may have been taken. @param {string} id @param {string} said */
  #attempt(id, said) {
    const last = this.#attempts.get(id);
    if (last?.said === said) return last.name;
    const name = crypto.getRandomValues(new Uint32Array(4)).join("-");
    this.#attempts.set(id, { said, name });
    return name;
  }

  /** Whether a refusal says that there is nothing more to answer. @param {Ticket} ticket @param {unknown} problem */
  #explain({ gateway, id }, problem) {
    if (!(problem instanceof Refused)) return false;
    const { state, action, by, delivery, reason } = problem.body;
    if (problem.status === 409) this.#told.settled(id, { state, action, by, delivery, reason });
    else if (problem.status === 404) this.#told.settled(id, { state: "gone" });
    else if (problem.status === 401) this.#told.signedOut(gateway);
    else return false;
    return true;
  }

  /** Shows why an answer was not taken, wherever the person is by now. @param {string} id @param {unknown} problem */
  #fail(id, problem) {
    const problems = found(problem);
    this.#failed.set(id, problems);
    if (!this.#element || this.id !== id) return this.#told.failed(id);
    this.#element.problems = problems;
    this.#follow();
  }
}

/** Takes away the note of a question that ended without this page. */
export const forget = () => document.querySelector("mcp-elicitation.over")?.remove();

/** What the person saw above these fields. @param {Ticket} ticket @param {string[]} names */
function labels({ params }, names) {
  /** @type {import("../form.js").Field[]} */
  let fields = [];
  try {
    fields = read(params.requestedSchema).fields;
  } catch {
    // It was shown, so it can be read.
  }
  return names.map((name) => fields.find((field) => field.name === name)?.label ?? name);
}

/** What to show: the gateway's problems, or that it could not be reached. @param {unknown} problem @returns {Problem[]} */
function found(problem) {
  const problems = problem instanceof Refused && problem.body.problems;
  return problems || [{ path: "", key: "mcp.elicitation.page.not_sent", params: {} }];
}
