/**
 * All gateways of the person, as one: the one that served this page, and those that it, or any
 * other, tells of.
 *
 * Each has its own connection and its own questions. A gateway is there as long as it is
 * connected or another one knows of it. When the one that served this page goes, the page goes on
 * with the rest.
 */
import { Connection } from "./connection.js";
import { Gateway, Refused } from "./gateway.js";

/**
 * @typedef {import("./connection.js").State} State
 * @typedef {{gateway: Gateway, connection: Connection, others?: string[]}} One  `others`: whom it
 *   knows to be there, while it is connected
 */

/** How long those that are there at first may take to tell what they ask. */
const AT_FIRST = 1_000;

export class Gateways {
  /** @type {Map<string, One>} */
  #all = new Map();
  #told;
  /** The state of all together. @type {State} */
  state = "connecting";
  /** Whether those that were there at first have been heard: before, nobody knows what is the oldest. */
  isGathered = false;
  /** The one that served this page. */
  own;

  /**
   * @param {object} told
   * @param {(gateway: Gateway, name: string, data: any) => void} told.event
   * @param {(now: State, before: State) => void} told.state
   * @param {(gateway: Gateway) => void} told.arrived  it is connected for the first time
   * @param {(living: Set<string>) => void} told.living  the origins of those that are there
   * @param {() => void} told.gathers  there are several
   * @param {() => void} told.gathered  those that were there at first have been heard
   */
  constructor(told) {
    this.#told = told;
    this.own = this.#add(location.origin).gateway;
  }

  /** Follows the one that served this page, and whoever it tells of. */
  run() {
    setTimeout(() => this.#settle(true), AT_FIRST);
    this.#all.get(this.own.origin)?.connection.run();
  }

  /** Does not wait any longer. */
  tryNow() {
    for (const { connection } of this.#all.values()) connection.tryNow();
  }

  /** A bearer turned out to be worth nothing. @param {Gateway} gateway */
  signOut(gateway) {
    this.#all.get(gateway.origin)?.connection.signOut();
  }

  /** @param {string} origin */
  #add(origin) {
    const gateway = new Gateway(origin, () => this.#invitation(origin));
    /** @type {One} */
    const one = {
      gateway,
      connection: new Connection(gateway, {
        event: (name, data) => this.#hear(one, name, data),
        state: (now, before) => this.#connected(one, now, before),
        mayReturn: () => this.#all.size > 1,
      }),
    };
    this.#all.set(origin, one);
    return one;
  }

  /** A launch token for a gateway, by the word of one that knows it. @param {string} origin */
  async #invitation(origin) {
    const host = this.#witnesses.find(({ others }) => others?.includes(origin));
    if (host) return (await host.gateway.launch(origin)).token;
    if (this.#all.size > 1) throw new Error("nobody knows it right now");
    throw new Refused(401, undefined);
  }

  /** @param {One} one @param {string} name @param {any} data */
  #hear(one, name, data) {
    if (name !== "gateways") return this.#told.event(one.gateway, name, data);
    const before = one.others ?? [];
    one.others = data.pages;
    this.#gather();
    for (const origin of data.pages) if (!before.includes(origin)) this.#all.get(origin)?.connection.tryNow(); // it may be back
    this.#settle();
  }

  /** @param {One} one @param {State} now @param {State} before */
  #connected(one, now, before) {
    one.others = undefined;
    if (now === "connected" && before === "connecting") this.#told.arrived(one.gateway);
    if (now !== "connected") this.#gather();
    this.#enter(this.#together());
    this.#settle();
  }

  #settle(late = false) {
    const all = [...this.#all.values()];
    const isHeard = all.every(({ connection, others }) => others || connection.state === "lost" || connection.state === "signed_out");
    if (this.isGathered || !(late || isHeard)) return;
    this.isGathered = true;
    this.#told.gathered();
  }

  /** Those that know who is there. */
  get #witnesses() {
    return [...this.#all.values()].filter(({ others }) => others);
  }

  /** Brings the connections in line with what is known. Without anybody who knows, nothing is given up. */
  #gather() {
    const witnesses = this.#witnesses;
    if (!witnesses.length) return;
    const living = new Set(witnesses.flatMap(({ others }) => others ?? []));
    for (const [origin, { connection }] of this.#all) if (connection.state === "connected") living.add(origin);
    for (const origin of living) {
      if (this.#all.has(origin)) continue;
      this.#told.gathers();
      this.#add(origin).connection.run();
    }
    for (const [origin, { gateway, connection }] of this.#all) {
      if (living.has(origin) || gateway === this.own) continue; // Its own is tried again: it may be started again.
      connection.end();
      this.#all.delete(origin);
    }
    this.#told.living(living);
  }

  /** @returns {State} */
  #together() {
    const states = [...this.#all.values()].map(({ connection }) => connection.state);
    if (states.includes("connected")) return "connected";
    return states.length === 1 ? states[0] : "lost";
  }

  /** @param {State} now */
  #enter(now) {
    const before = this.state;
    if (before === now) return;
    this.state = now;
    this.#told.state(now, before);
  }
}
