/**
 * A form being filled in: its fields on screen, what they hold, and what is wrong with that.
 *
 * It is early to complain while somebody is still on the way: a field's problem is shown when
 * the person has moved on to another field, and all of them once sending was tried.
 */
import { clean, h, words } from "./draw.js";
import { focus, sheet } from "./field.js";
import * as values from "./values.js";

/** @typedef {import("./check.js").Problem} Problem */

export class Filling {
  /** The summary, which links to the fields. It also tells why the form cannot be sent yet. */
  list = h("div", { part: "problems", id: "problems" });
  /** Whether the person has changed anything. */
  touched = false;
  /** Problems that typing cannot find: of patterns, or told by the server. @type {Problem[]} */
  told = [];
  /** Paths of fields that could not be checked when all was checked last. @type {Set<string>} */
  unchecked = new Set();

  #form;
  #voice;
  #typed;
  /** @type {ReturnType<typeof sheet> | undefined} */
  #sheet;
  #tried = false;
  /** What the fields held before anybody typed, and whether a draft was put in their place. */
  #start = "";
  #isDraft = false;
  /** Paths of fields the person has left. @type {Set<string>} */
  #seen = new Set();

  /** @param {import("./form.js").Form} form @param {import("./draw.js").Voice} voice */
  constructor(form, voice) {
    this.#form = form;
    this.#voice = voice;
    this.#typed = values.typed(form);
  }

  /** What was typed, without secrets; and back again, in place of defaults. What was emptied is null, which JSON keeps. */
  get draft() {
    const form = this.#sheet; // before it is drawn, nobody has typed anything
    const open = form ? [...this.#typed].filter(([path]) => !form.find(path)?.field.secret) : [];
    return Object.fromEntries(open.map(([path, value]) => [path, value ?? null]));
  }

  set draft(draft) {
    this.#isDraft ||= Object.keys(draft).length > 0;
    for (const path in draft) if (this.#typed.has(path)) this.#typed.set(path, draft[path] ?? undefined);
    this.#sheet = undefined; // it holds what was there before
  }

  /** Whether something would be lost with it. */
  get isDirty() {
    this.#sheet?.read();
    return this.#isDraft || (!!this.#sheet && this.#state() !== this.#start);
  }

  #state() {
    return JSON.stringify([...this.#typed], (_, value) => value ?? String(value)); // null is half a date
  }

  /** Draws the fields. @param {Pick<import("./field.js").At, "voice" | "server" | "message" | "announce">} place */
  draw(place) {
    this.#voice = place.voice;
    this.#sheet = sheet(this.#form.fields, { ...place, typed: this.#typed });
    if (!this.#start) {
      this.#sheet.read();
      this.#start = this.#state();
    }
    return this.#sheet.node;
  }

  /** What would be sent, unchecked. */
  get content() {
    return values.content(this.#form, this.#typed, this.#voice.tag).content;
  }

  /** What would be sent, and everything that is wrong with it. */
  async checked() {
    this.#sheet?.read();
    const checked = await values.checked(this.#form, this.#typed, this.#voice.tag);
    this.unchecked = checked.unchecked;
    return checked;
  }

  /** The person has changed a field. @param {EventTarget | null} target */
  change(target) {
    this.touched = true;
    const entry = this.#sheet?.find(target);
    if (entry) this.told = this.told.filter(({ path }) => this.#sheet?.find(path) !== entry);
  }

  /**
   * Whether the person has moved on to another field. On the way to a button it would be a bad
   * moment: a line that appears moves the button away from under the finger.
   *
   * @param {FocusEvent} event
   */
  leave({ target, relatedTarget }) {
    const [from, to] = [target, relatedTarget].map((node) => this.#sheet?.find(node));
    return from && to && from !== to && this.#seen.add(from.field.path);
  }

  /** Shows every problem, and moves to the first. @param {Problem[]} problems */
  complain(problems) {
    this.told = problems;
    this.#tried = true;
    this.update();
    const first = this.#sheet?.find(problems[0]?.path ?? "");
    if (first) focus(first.control);
  }

  /** Brings what is said in line with what is typed; how many required answers are missing. */
  update() {
    const form = this.#sheet;
    if (!form) return 0;
    const { say, tag } = this.#voice;
    form.read();
    const { problems, unchecked } = values.checkedQuickly(this.#form, this.#typed, tag);
    const missing = problems.filter(({ key }) => key.endsWith(".required")).length;
    const known = new Set(problems.map(({ path }) => path));
    let count = 0; // of answers: some problems are no fault of theirs

    /** @type {Map<string, string>} */
    const texts = new Map();
    const items = [...problems, ...this.told.filter(({ path }) => !known.has(path))].map((one) => {
      const entry = form.find(one.path);
      const text = clean(this.#voice.about(one, entry?.field));
      if (!entry) return h("li", {}, text);
      const { path, label } = entry.field;
      count++;
      if ((this.#tried || this.#seen.has(path)) && !texts.has(path)) texts.set(path, text);
      const go = (/** @type {Event} */ event) => {
        event.preventDefault(); // the page's address is its own
        focus(entry.control);
      };
      return h("li", {}, h("a", { href: "#" + entry.control.id, onclick: go }, words(label, 100)), ": " + text);
    });
    form.mark(texts, unchecked);
    const showing = this.#tried && items.length > 0;
    const head = showing ? count && say("label.problems", { count }) : missing && say("label.missing", { count: missing });
    this.list.replaceChildren(head ? h(showing ? "strong" : "span", {}, head) : "", ...(showing ? [h("ul", {}, ...items)] : []));
    return missing;
  }
}
