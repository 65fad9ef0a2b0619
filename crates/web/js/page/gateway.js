/**
 * A gateway, as the page calls it. No other file fetches.
 *
 * The launch link carries a one-time token in its fragment, which is exchanged here for a
 * bearer. The bearer lives in `sessionStorage`: it survives a reload, ends with the tab, and no
 * other page on this machine can read it. Bearers of other gateways than the one that served this
 * page are kept nowhere: when that one ends, somebody else could get its address and read them.
 */
import { parse, write } from "./exact.js";
import { events, lines } from "./stream.js";

/** @typedef {import("./queue.js").Ticket} Ticket */
/** @typedef {{content?: object, reason?: string, attempt: string}} Said  `attempt` names this answer, so that it can be sent again */

/** A call that was refused: its status, and what the gateway said. */
export class Refused extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.message ?? String(status));
    this.status = status;
    this.body = body ?? {};
  }
}

const BEARER = "midcall.bearer";
/** A quiet stream shows every 15 seconds that it is alive; after so many milliseconds it is not. */
const SILENCE = 40_000;
/** An answer that nobody has taken by then counts as not sent. */
const PATIENCE = 20_000;

export class Gateway {
  /** Where it is. */
  origin;
  /** @type {string | null} */
  #bearer;
  #invitation;
  /** Where the events stand, so that coming back neither loses nor repeats. @type {string | undefined} */
  #mark;

  /**
   * @param {string} origin
   * @param {() => Promise<string>} invitation  gets a launch token by another gateway's word
   */
  constructor(origin, invitation) {
    this.origin = origin;
    this.#invitation = invitation;
    this.#bearer = this.#isOwn ? sessionStorage.getItem(BEARER) : null;
  }

  /**
   * Turns the token in the address into a bearer, and takes it out of the address: whoever
   * copies that later copies no key.
   *
   * @returns {Promise<"in" | "no_link" | "used_link">}
   */
  async arrive() {
    const token = location.hash.slice(1);
    if (!token) return this.#bearer ? "in" : "no_link";
    try {
      await this.#enter(token);
    } catch (refused) {
      if (!(refused instanceof Refused) || refused.status >= 500) throw refused; // it may work in a moment
      if (!this.#bearer) return "used_link"; // A tab that is in already may be opened by its old link.
    }
    history.replaceState(history.state, "", location.pathname + location.search);
    return "in";
  }

  /** The bearer is worth nothing any more. */
  leave() {
    this.#keep(null);
    this.#mark = undefined;
  }

  /**
   * The events from where the last stream ended, until this one does. Whoever is not let in yet
   * has another gateway put in a word.
   *
   * @param {AbortSignal} signal
   * @param {() => void} alive  called whenever something comes
   */
  async *follow(signal, alive) {
    if (!this.#bearer) await this.#enter(await this.#invitation());
    const silence = new AbortController();
    let timer = 0;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE);
      alive();
    };
    const headers = this.#mark ? { "last-event-id": this.#mark } : undefined;
    const options = { headers, signal: AbortSignal.any([signal, silence.signal]) };
    try {
      const { body } = await this.#call("GET", "/elicitation/events?gateways=true", undefined, options);
      heard();
      for await (const event of events(/** @type {import("./stream.js").Body} */ (body), heard)) {
        yield { name: event.name, data: parse(event.data) };
        if (event.id) this.#mark = event.id; // Only now: what was not heard to its end comes again.
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {string} id @param {Said} said */
  accept = (id, { content, attempt }) => this.#json("POST", `/elicitation/${id}/accept`, { content, attempt });
  /** @param {string} id @param {Said} said */
  reject = (id, { reason, attempt }) => this.#json("POST", `/elicitation/${id}/reject`, { reason, attempt });
  /** @param {string} id @param {Said} said */
  cancel = (id, { attempt }) => this.#json("POST", `/elicitation/${id}/cancel`, { attempt });
  /** @param {string} id */
  opened = (id) => this.#json("POST", `/elicitation/${id}/opened`);
  /** @param {string} id @returns {Promise<import("./queue.js").Closing>} */
  status = (id) => this.#json("GET", `/elicitation/status/${id}`);

  /** A launch token for this page, by the gateway at another origin. @param {string} page @returns {Promise<{token: string}>} */
  launch = (page) => this.#json("POST", "/peers/launch", { page });

  /** What the demo can ask. @returns {Promise<{name: string, group: string}[]>} */
  questions = () => this.#json("GET", "/demo");

  /** Has the demo ask something: the messages, one by one. @param {string} name @param {AbortSignal} signal */
  async *ask(name, signal) {
    const { body } = await this.#call("POST", `/demo/${name}`, undefined, { signal });
    yield* lines(/** @type {import("./stream.js").Body} */ (body));
  }

  /** Whether it served this page. */
  get #isOwn() {
    return this.origin === location.origin;
  }

  /** @param {string} token */
  async #enter(token) {
    const { bearer } = await this.#json("POST", "/launch", { token });
    this.#keep(bearer);
  }

  /** @param {string | null} bearer */
  #keep(bearer) {
    this.#bearer = bearer;
    if (!this.#isOwn) return;
    if (bearer) sessionStorage.setItem(BEARER, bearer);
    else sessionStorage.removeItem(BEARER);
  }

  /** @param {string} method @param {string} path @param {object} [body] */
  async #json(method, path, body) {
    return (await this.#call(method, path, body, { signal: AbortSignal.timeout(PATIENCE) })).json();
  }

  /** @param {string} method @param {string} path @param {object} [body] @param {RequestInit} [options] */
  async #call(method, path, body, options = {}) {
    const headers = new Headers(options.headers);
    if (this.#bearer) headers.set("authorization", `Bearer ${this.#bearer}`);
    if (body) headers.set("content-type", "application/json");
    return call(this.origin + path, { ...options, method, headers, body: body && write(body) });
  }
}

/** Tells the demo that the person is done on its other page; whether anybody waited for it. @param {string} id */
export async function finished(id) {
  try {
    await call(`/demo/elsewhere/${encodeURIComponent(id)}`, { method: "POST" });
    return true;
  } catch (refused) {
    if (refused instanceof Refused && refused.status === 404) return false;
    throw refused;
  }
}

/** @param {string} path @param {RequestInit} options */
async function call(path, options) {
  const response = await fetch(path, { ...options, cache: "no-store" });
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => undefined));
  return response;
}
