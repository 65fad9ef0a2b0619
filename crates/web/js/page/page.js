/**
 * The page: questions of the person's scope, oldest first, one dialog at a time.
 *
 * Everything is drawn from state: what is open and was before (`queue`), how it is connected and
 * to whom (`gateways`), which place is shown, and what the person put off. The dialog (`asking`) shows
 * the oldest question that is neither elsewhere nor put off.
 */
import { clean, h } from "../draw.js";
import { Asking, forget } from "./asking.js";
import { badge } from "./badge.js";
import { bar } from "./bar.js";
import { Refused } from "./gateway.js";
import { Gateways } from "./gateways.js";
import { before, ending, told, undelivered, waiting } from "./lists.js";
import * as memory from "./memory.js";
import * as notifications from "./notify.js";
import { provide } from "./provisions.js";
import { isIn, Queue } from "./queue.js";
import { Toasts } from "./toasts.js";
import { say, speak, voice } from "./words.js";

/** @typedef {import("./queue.js").Closing} Closing */
/** How often the desk is asked about what may have ended unheard. */
const POLL = 3_000;

export class Page {
  #queue = new Queue(memory.past());
  /** Put off by the person, until they come back to it. @type {Set<string>} */
  #later = new Set();
  #place = place();
  /** Why nobody is let in, if so. @type {"no_link" | "used_link" | "signed_out" | undefined} */
  #barred;

  #gateways = new Gateways({
    event: (gateway, name, data) => this.#hear(gateway, name, data),
    state: (now, before) => this.#connected(now, before),
    arrived: (gateway) => this.#sort(gateway),
    living: (origins) => this.#bury(origins),
    gathers: () => provide(),
    gathered: () => this.draw(),
  });
  #asking = new Asking({
    settled: (id, closing) => this.#settle(id, closing),
    failed: (id) => {
      this.#later.delete(id);
      this.draw();
    },
    opened: (id) => {
      this.#queue.markOpened(id);
      this.draw();
    },
    later: (id) => {
      for (const ticket of this.#queue.all) this.#later.add(ticket.id); // The list shows them all; only new ones come by themselves.
      this.draw();
      document.getElementById(`answer-${id}`)?.focus();
    },
    signedOut: (gateway) => this.#gateways.signOut(gateway),
  });

  #bar = h("header", { class: "bar" });
  #toasts = new Toasts();
  #main = h("main", { id: "content", tabindex: "-1" });
  #extra;
  /** What the bar showed last. */
  #drawn = "";
  /** Where on the page the person is, by name: drawing makes new elements. */
  #at = "";
  #isAsking = false;

  /** @param {() => Node[]} [extra]  what a page has besides: its lead, and what else there is */
  constructor(extra) {
    this.#extra = extra;
  }

  /** Lets the person in and stays with them. */
  async open() {
    await speak();
    document.body.append(this.#bar, this.#main, this.#toasts.node);
    this.draw();
    addEventListener("hashchange", () => location.reload()); // a launch link, pasted into this tab
    const arrived = await this.#arrive();
    if (arrived !== "in") {
      this.#barred = arrived;
      return this.draw();
    }
    addEventListener("popstate", () => this.#move(place()));
    setInterval(() => this.#queue.doubtful(Date.now()).forEach(({ id, gateway }) => this.#inquire(id, gateway)), POLL);
    this.draw();
    this.#gateways.run();
  }

  /** The gateway that served this page. */
  get gateway() {
    return this.#gateways.own;
  }

  /** Its bearer turned out to be worth nothing. */
  signOut() {
    this.#gateways.signOut(this.gateway);
  }

  /** A gateway that cannot be reached right now may be reached in a moment. */
  async #arrive() {
    for (;;) {
      try {
        return await this.gateway.arrive();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    }
  }

  /** @param {import("./gateway.js").Gateway} gateway @param {string} name @param {any} data */
  #hear(gateway, name, data) {
    if (name === "elicitation/request") {
      if (!this.#queue.add({ ...data, gateway })) return;
      if (isIn(data, this.#place)) notifications.notify(data.id, clean(say("page.notification_title", { server: data.server.name })), clean(data.description, 140));
    } else if (name === "elicitation/opened") this.#queue.markOpened(data.id, data.url);
    else {
      const { id, ...closing } = data;
      return this.#settle(id, closing);
    }
    this.draw();
  }

  /** What was typed for a gateway's questions before a reload, and answered: they may have ended or arrived. @param {import("./gateway.js").Gateway} gateway */
  #sort(gateway) {
    memory.drafts().filter(({ from }) => from === gateway.origin).forEach(({ id }) => this.#inquire(id, gateway));
    this.#queue.underway(gateway.origin).forEach(({ id }) => this.#inquire(id, gateway));
  }

  /** What a process asked ends with it, and so do answers that it hadn't sent. @param {Set<string>} living */
  #bury(living) {
    for (const { id, from, closing } of this.#queue.past) {
      if (!living.has(from) && closing.delivery === "pending") this.#settle(id, { ...closing, delivery: "lost", reason: "shutdown" });
    }
    for (const { id, gateway } of this.#queue.all) if (!living.has(gateway.origin)) this.#settle(id, { state: "gone", reason: "shutdown" });
    for (const { id, from } of memory.drafts()) if (!living.has(from)) memory.dropDraft(id);
  }

  /** The desk has closed a ticket, by whatever way that is heard. @param {string} id @param {Closing} closing */
  #settle(id, closing) {
    if (this.#asking.hear(id, closing)) return;
    memory.dropDraft(id);
    const wasLost = this.#queue.lost.some((one) => one.id === id);
    const past = this.#queue.settle(id, closing, { at: new Date().toISOString(), ...this.#asking.how(id, closing) });
    if (!past) return;
    if (past.ours && (!wasLost || !this.#queue.lost.includes(past))) {
      forget();
      this.#toasts.show(() => told(past));
    }
    if (this.#asking.id === id) {
      if (past.ours) this.#asking.dismiss();
      else {
        this.#toasts.clear();
        this.#asking.end(closing.state === "answered" ? "answered_before" : ending(closing));
      }
    }
    memory.keepPast(this.#queue.past);
    notifications.dismiss(id);
    this.#later.delete(id);
    this.draw();
  }

  /** Asks the desk how a ticket stands: no clock of this computer decides that. @param {string} id @param {import("./gateway.js").Gateway} gateway */
  async #inquire(id, gateway) {
    try {
      const { state, action, by, delivery, reason } = await gateway.status(id);
      if (state !== "open") this.#settle(id, { state, action, by, delivery, reason });
    } catch (problem) {
      if (problem instanceof Refused && problem.status === 404) this.#settle(id, { state: "gone" });
      // A cut is told elsewhere.
    }
  }

  /** @param {import("./connection.js").State} now @param {import("./connection.js").State} before */
  #connected(now, before) {
    if (now === "signed_out") {
      this.gateway.leave();
      this.#barred = "signed_out";
      this.#asking.dismiss();
      memory.drafts().forEach(({ id }) => memory.dropDraft(id));
    }
    if (now === "connected" && before === "lost") this.#toasts.show(() => [h("p", {}, say("page.connection_restored"))]);
    this.draw();
  }

  /** Shows another place. Its dialog goes, its question stays. @param {import("./queue.js").Place} place */
  #move(place) {
    this.#place = place;
    this.#asking.dismiss();
    this.draw();
  }

  /** @param {string} workspace */
  #choose(workspace) {
    const url = new URL(location.href);
    url.searchParams.delete("conversation");
    if (workspace) url.searchParams.set("workspace", workspace);
    else url.searchParams.delete("workspace");
    history.pushState(null, "", url);
    this.#move(place());
  }

  /** @param {string} tag */
  async #speak(tag) {
    memory.keepLocale(tag);
    await speak(tag);
    this.#asking.speak();
    this.#toasts.draw();
    this.draw();
  }

  /** The person knows that an answer was lost. @param {string} id */
  #see(id) {
    this.#queue.see(id);
    memory.keepPast(this.#queue.past);
    this.draw();
    this.#main.focus();
  }

  /** Brings the screen in line with the state. */
  draw() {
    const focused = document.activeElement;
    if (focused?.id) this.#at = focused.id;
    const left = focused !== document.body || this.#isAsking;
    const all = this.#barred ? [] : this.#queue.all;
    const open = all.filter((ticket) => isIn(ticket, this.#place));
    this.#drawBar(all);
    this.#main.replaceChildren(...(this.#barred ? [barred(this.#barred, this.#extra ? "demo" : "page")] : this.#gateways.state === "connecting" ? [] : this.#lists(open)));
    badge(say("page.title"), open.length);
    this.#ask(open);
    this.#isAsking = this.#asking.id !== undefined;
    // What was focused may have been drawn anew; a dialog that went gives the focus back as well.
    if (left && !this.#isAsking && document.activeElement === document.body) document.getElementById(this.#at)?.focus({ preventScroll: true });
  }

  /** Only when something changed: a menu that is open would close. @param {import("./queue.js").Ticket[]} all */
  #drawBar(all) {
    const now = { state: this.#barred ? undefined : this.#gateways.state, workspace: this.#place.workspace, workspaces: this.#workspaces(all) };
    const drawn = JSON.stringify([voice.tag, now.state, now.workspace, [...now.workspaces], notifications.permission()]);
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#bar.replaceChildren(...bar(now, {
      speak: (tag) => this.#speak(tag),
      move: (workspace) => this.#choose(workspace),
      tryNow: () => this.#gateways.tryNow(),
      draw: () => this.draw(),
    }));
  }

  /** @param {import("./queue.js").Ticket[]} open */
  #lists(open) {
    const past = this.#queue.past.filter((one) => isIn(one, this.#place));
    const [lead, ...rest] = this.#extra?.() ?? [h("h1", {}, say("page.title"))];
    const listed = rest.length ? open.filter(({ id }) => this.#later.has(id)) : open; // Nothing jumps when a question comes and goes.
    return [
      lead,
      ...(this.#queue.lost.length ? [undelivered(this.#queue.lost, (id) => this.#see(id))] : []),
      ...(listed.length || !rest.length ? [waiting(listed, (ticket) => this.#queue.isAgain(ticket), (id) => this.#answer(id))] : []),
      ...rest,
      ...(past.length ? [before(past)] : []),
    ];
  }

  /** @param {import("./queue.js").Ticket[]} open */
  #ask(open) {
    if (!this.#gateways.isGathered) return;
    const now = open.filter(({ id }) => !this.#later.has(id));
    const next = now.find(({ id }) => id === this.#asking.id) ?? now[0];
    if (!next) this.#asking.dismiss();
    else this.#asking.show(next, open.length > 1 ? `${open.indexOf(next) + 1}/${open.length}` : "", this.#queue.isAgain(next));
  }

  /** @param {string} id */
  #answer(id) {
    this.#later.delete(id);
    this.#asking.dismiss();
    const ticket = this.#queue.get(id);
    if (ticket) this.#asking.show(ticket, "", this.#queue.isAgain(ticket));
    this.draw();
  }

  /** @param {import("./queue.js").Ticket[]} open */
  #workspaces(open) {
    const counts = new Map(this.#place.workspace ? [[this.#place.workspace, 0]] : []);
    for (const { workspace } of open) if (workspace) counts.set(workspace, (counts.get(workspace) ?? 0) + 1);
    return counts;
  }
}

/** The place that the address names. */
function place() {
  const query = new URLSearchParams(location.search);
  return { workspace: query.get("workspace") ?? "", conversation: query.get("conversation") ?? "" };
}

/** @param {"no_link" | "used_link" | "signed_out"} why  @param {"demo" | "page"} where  the demo has a way in of its own */
const barred = (why, where) => h("section", { class: "nothing" },
  h("span", { class: "picture key", "aria-hidden": "true" }),
  h("h1", {}, say(`page.${why}_title`)),
  h("p", {}, say(`${where}.${why}`)),
);
