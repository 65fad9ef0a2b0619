/**
 * Fields on screen.
 *
 * Each file of `field/` draws one kind: given the field, what it holds and the attributes its
 * control must carry, it returns the control and a way to read it. What all fields share is
 * here: label, help, warnings, problem.
 *
 * In: `sheet`. Elsewhere: what values mean (`values.js`), what is wrong with them (`check.js`).
 */
import { h, words } from "./draw.js";
import { choice } from "./field/choice.js";
import { number } from "./field/number.js";
import { switch_ } from "./field/switch.js";
import { text } from "./field/text.js";
import { more } from "./more.js";

/**
 * @typedef {import("./form.js").Field} Field
 * @typedef {import("./draw.js").Voice} Voice
 *
 * @typedef {object} At                 where a field is drawn
 * @property {Voice} voice
 * @property {Map<string, any>} typed   what each field holds, by path
 * @property {string} server            who will read it
 * @property {unknown} message          what stands above the fields
 * @property {(news: string) => void} announce   tells those who cannot see what happened
 * @property {(fields: Field[]) => Node[]} draw   fields within the field
 *
 * @typedef {object} Drawn              what a kind returns
 * @property {HTMLElement} control      takes the label: a control, or a fieldset
 * @property {Node} [node]              what is shown, when that is more than the control
 * @property {() => any} [read]         what the person has entered
 * @property {string} [hint]            how to enter it
 * @property {boolean} [beside]         whether the label stands beside the control
 *
 * @typedef {(field: Field, value: any, aria: Record<string, any>, at: At) => Drawn} Kind
 */

/** The others are in `field/rare.js`. @type {Record<string, Kind>} */
const KINDS = { text, number, integer: number, switch: switch_, choice };


/** Characters of a label. A longer one is no label, and would bury the others. */
const LABEL = 200;

/**
 * Draws a form's fields.
 *
 * @param {Field[]} fields
 * @param {Omit<At, "draw">} place
 */
export function sheet(fields, place) {
  const { voice, typed, server, message } = place;
  /** @type {{field: Field, control: HTMLElement, read?: () => any, help: HTMLElement, problem: HTMLElement, note: HTMLElement}[]} */
  const drawn = [];
  const at = { ...place, draw: (/** @type {Field[]} */ inner) => inner.map(one) };

  /** @param {Field} field */
  function one(field) {
    const id = "f" + drawn.length;
    const problem = h("p", { id: id + "p", part: "problem" });
    const help = h("div", { id: id + "h", part: "help" });
    const note = h("p", { part: "unchecked" }, voice.say("label.unchecked"));
    const entry = { field, help, problem, note, control: /** @type {HTMLElement} */ (problem), read: /** @type {Drawn["read"]} */ (undefined) };
    drawn.push(entry); // before the fields within it, so that ids run from top to bottom

    const secret = field.secret === undefined ? undefined : more.secret;
    const { control, node = secret?.masked(control, voice) ?? control, read, hint, beside } = { ...KINDS, ...more.rare?.KINDS }[field.kind](
      field, typed.get(field.path),
      { id, "aria-describedby": `${id}h ${id}p`, "aria-required": field.required && "true" }, at,
    );
    Object.assign(entry, { control, read });

    const grouped = control instanceof HTMLFieldSetElement;
    const inner = field.kind === "group";
    const mark = field.required && !inner && h("span", { part: "mark", ...(grouped && !control.role ? { role: "img", "aria-label": voice.say("field_required") } : { "aria-hidden": "true" }) }, "*");
    // Where the question and its one field have the same words, they are read once.
    const said = fields.length === 1 && !beside && typeof message === "string" && message.split("\n", 1)[0] === field.label;
    const label = h(grouped ? "legend" : "label", { part: said ? "label quiet" : "label", for: !grouped && id }, words(field.label, LABEL), mark);
    if (field.description !== undefined) help.append(h("p", { dir: "auto" }, words(field.description)));
    if (hint !== undefined) help.append(h("p", {}, hint));
    if (secret && field.secret !== undefined) help.append(secret.warning(field.secret, server, voice));
    if (grouped) {
      control.prepend(label, help);
      control.append(problem);
      return h("div", { part: "field" }, node);
    }
    return h("div", { part: beside ? "field beside" : "field" }, label, help, node, problem);
  }

  const nodes = at.draw(fields);
  return {
    node: h("div", { part: "fields" }, ...nodes),

    /** Puts what the controls hold into `typed`. */
    read() {
      for (const { field, read } of drawn) if (read) typed.set(field.path, read());
    },

    /** The field a problem or an event is about, if any. @param {string | EventTarget | null} of */
    find: (of) => drawn.findLast(({ field, control }) =>
      typeof of === "string" ? of === field.path || of.startsWith(field.path + "/") : of instanceof Node && (control.parentElement ?? control).contains(of)),

    /** Says at each field what is wrong with it, or that it can't be checked. @param {Map<string, string>} texts  by the field's path @param {Set<string>} unchecked  paths */
    mark(texts, unchecked) {
      for (const { field, control, help, problem, note } of drawn) {
        if (field.unchecked || unchecked.has(field.path)) help.append(note);
        else note.remove();
        const text = texts.get(field.path);
        problem.textContent = text ?? "";
        control.ariaInvalid = text ? "true" : null;
      }
    },
  };
}

/** Moves to a control, or to the first within a fieldset. @param {HTMLElement} control */
export function focus(control) {
  const inner = control instanceof HTMLFieldSetElement ? control.querySelector("input, select, textarea") : control;
  if (inner instanceof HTMLElement) inner.focus();
}
