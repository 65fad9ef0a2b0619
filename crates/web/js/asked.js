/**
 * What one request has become: a form being filled in or a link, and the step it is at.
 *
 * The element makes one for each request and forgets it with the request, so that nothing of a
 * question can stay behind. What it looks like is said here; when it is drawn, there.
 */
import { h } from "./draw.js";
import { Filling } from "./filling.js";
import { long } from "./form.js";
import { more } from "./more.js";
import * as screen from "./screen.js";

/** @typedef {import("./draw.js").Voice} Voice */

/** A title that is a name in somebody's program, and nothing for a person. */
const NAME = /_|^\S*[a-z\d][A-Z]\S*$/;
/** A line that can stand as a heading: all of a message, or a question at its start. */
const QUESTION = /^(.{1,120}?)(?:$|(?<=\?)\s*\n\s*([^]*))$/;

export class Asked {
  /** @type {import("./form.js").Form | undefined} */
  form;
  /** @type {Filling | undefined} */
  filling;
  /** @type {import("./link.js").Verdict | undefined} */
  link;

  /** Whether it needs more than what is always here. */
  rare = false;
  /** Whether everything is here that it needs. */
  ready = false;
  /** @type {screen.Step} */
  step = "ask";
  /** Problems that were told before there was anything to show them in. @type {import("./check.js").Problem[]} */
  found = [];

  /** What was typed before the form was ready. @type {Record<string, any>} */
  #draft = {};
  /** What the person is asked a second time, if they are. @type {"discard" | "open" | undefined} */
  second;
  /** @type {import("./menu.js").Menu} */
  menu = { open: false, reason: "" };

  /** @param {any} [request]  none: nothing is asked */
  constructor(request = null) {
    this.request = request;
  }

  /** Everything is here. @param {import("./question.js").Question} question @param {Voice} voice */
  begin({ form, link }, voice) {
    this.ready = true;
    this.form = form;
    this.link = link;
    this.filling = form && new Filling(form, voice);
    this.typed = this.#draft;
  }

  get typed() {
    return this.filling?.draft ?? this.#draft;
  }

  set typed(typed) {
    this.#draft = typed;
    if (this.filling) this.filling.draft = typed;
  }

  /** Whether its link has something odd about it that the person should think over. */
  get isRisky() {
    return !this.opened && !!this.link?.url && this.link.warnings.length > 0;
  }

  /** Whether anything would be lost with it. */
  get isDirty() {
    return this.filling?.isDirty || !!this.menu.reason.trim();
  }

  get opened() {
    return this.step === "opened";
  }

  /** Opened again, the link leads to this address, if that is new and of the same site. @param {string} url @param {{asker?: string, allowed?: string[]}} from */
  renew(url, from) {
    const link = this.opened ? more.link?.judge(url, from) : undefined;
    const [before, now] = [this.link?.url, link?.url];
    if (!before || !now || before === now || new URL(before).origin !== new URL(now).origin) return false;
    this.link = link;
    return true;
  }

  /** What the main button does, if there is anything left to do but refuse. */
  get next() {
    if (this.opened) return "finished";
    if (this.link) return this.link.refused ? undefined : "open_link";
    if (!this.form) return undefined;
    if (!this.form.fields.length) return "approve";
    return this.step === "ask" && long(this.form.fields) ? "review" : "accept";
  }

  /** What it is about: its title if it has one, else the question itself where that is one line; and the server's words. @param {Voice} voice */
  words({ say }) {
    const { title, message, description } = this.request;
    if (this.step === "review") return { title: say("label.review") };
    const words = message ?? description ?? "";
    const head = typeof title === "string" ? title : NAME.test(this.form?.title ?? "") ? undefined : this.form?.title;
    const [line, more] = head === undefined && typeof words === "string" ? QUESTION.exec(words)?.slice(1) ?? [] : [];
    return line ? { title: line, message: more || undefined } : { title: head, message: words };
  }

  /** What is asked. Whatever a server sends, it can be refused. @param {Pick<import("./field.js").At, "voice" | "server" | "message" | "announce">} place @returns {HTMLElement} */
  content(place) {
    try {
      return this.#shown(place);
    } catch {
      this.form = this.filling = this.link = undefined;
      return this.#shown(place);
    }
  }

  /** @param {Pick<import("./field.js").At, "voice" | "server" | "message" | "announce">} place */
  #shown(place) {
    const { voice } = place;
    if (this.link && more.link) return more.link.consent(this.link, voice, this.opened);
    if (!this.form || !this.filling) return h("p", { part: "notice danger" }, voice.say("label.unreadable_form"));
    if (this.step === "review" && more.review) return more.review.review(this.form.fields, this.filling.content, this.filling.unchecked, voice);
    return this.filling.draw(place);
  }

  /** What can be done about it. @param {Voice} voice @param {boolean} destructive @param {Parameters<typeof screen.footer>[2]} acts */
  actions(voice, destructive, acts) {
    const { step, next, menu, second, isRisky: risky } = this;
    const verb = destructive && next === "approve" ? more.danger?.verb(this.request.message) : undefined;
    return screen.footer(voice, { step, main: next, problems: this.filling?.list, menu, second, verb, risky }, acts);
  }
}
