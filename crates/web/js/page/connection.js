/**
 * Staying connected: reads the events, and comes back when the stream is cut.
 *
 * Each attempt waits longer than the one before, up to a quarter of a minute, until something
 * was heard. What wakes a computer (the network, a look at the page, a click) tries at once.
 */
import { Refused } from "./gateway.js";

/** @typedef {"connecting" | "connected" | "lost" | "signed_out"} State */

const FIRST = 500;
const LONGEST = 15_000;

export class Connection {
  /** @type {State} */
  state = "connecting";
  #gateway;
  #told;
  #wake = () => {};
  #ended = new AbortController();
  /** The stream of this attempt. */
  #stream = new AbortController();
  /** Whether the bearer turned out to be worth nothing. */
  #isOut = false;

  /**
   * @param {import("./gateway.js").Gateway} gateway
   * @param {{event: (name: string, data: any) => void, state: (now: State, before: State) => void,
   *   mayReturn: () => boolean}} told  `mayReturn`: whether somebody may let this page in again
   */
  constructor(gateway, told) {
    this.#gateway = gateway;
    this.#told = told;
    const { signal } = this.#ended;
    addEventListener("online", () => this.tryNow(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.tryNow(), { signal });
  }

  /** Goes on until it is ended, or nobody lets this page in. */
  async run() {
    let wait = FIRST;
    let hasLeft = false; // since something was heard last
    const alive = () => {
      wait = FIRST;
      hasLeft = false;
      this.#enter("connected");
    };
    for (;;) {
      this.#stream = new AbortController();
      try {
        for await (const { name, data } of this.#gateway.follow(this.#stream.signal, alive)) this.#tell(name, data);
      } catch (problem) {
        if (problem instanceof Refused && problem.status === 401) this.#isOut = true;
      }
      if (this.#ended.signal.aborted) return;
      if (this.#isOut) {
        this.#isOut = false;
        this.#gateway.leave();
        if (!this.#told.mayReturn()) return this.#enter("signed_out");
        if (!hasLeft) {
          hasLeft = true;
          continue; // Another gateway's word may let it in at once.
        }
      }
      this.#enter("lost");
      await this.#pause(wait * (0.8 + 0.4 * Math.random())); // Not all pages at once.
      wait = Math.min(wait * 2, LONGEST);
    }
  }

  /** Does not wait any longer. */
  tryNow() {
    this.#wake();
  }

  /** Some other call learned that the bearer is worth nothing. */
  signOut() {
    this.#isOut = true;
    this.#stream.abort();
    this.#wake();
  }

  /** There is nothing to be connected to any more. */
  end() {
    this.#ended.abort();
    this.#stream.abort();
    this.#wake();
  }

  /** What goes wrong over one event is no lost connection, and keeps nothing from the next. @param {string} name @param {any} data */
  #tell(name, data) {
    try {
      this.#told.event(name, data);
    } catch (problem) {
      reportError(problem);
    }
  }

  /** @param {State} now */
  #enter(now) {
    const before = this.state;
    if (before === now || before === "signed_out") return;
    this.state = now;
    this.#told.state(now, before);
  }

  /** @param {number} time */
  #pause(time) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, time);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }
}
