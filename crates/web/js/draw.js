/**
 * Making elements, and putting words into them.
 *
 * Whatever a server says becomes a text node here and nothing else: there is no road from its
 * words to markup. Characters that are not seen but change what is seen (overrides of the
 * writing direction, controls) are written out as `<U+202E>`, and each piece stands in a `bdi`,
 * so that it cannot reorder the words around it.
 */
import { say } from "./locale.js";

/**
 * An element. Functions become its properties (`onclick`), the rest attributes; a part is also
 * its class; what is `false` or missing is left out, of attributes and children alike.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | false | undefined)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const name in attributes) {
    const value = attributes[name];
    if (typeof value === "function") /** @type {any} */ (node)[name] = value;
    else if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  if (attributes.part) node.className = attributes.part;
  for (const child of children) if (child) node.append(child);
  return node;
}

/**
 * A button that says one of our texts.
 *
 * @param {string} label
 * @param {() => void} onclick
 * @param {Record<string, any>} attributes
 */
export const button = (label, onclick, attributes) => h("button", { type: "button", onclick, ...attributes }, label);

/** A round button with a cross. @param {string} label @param {() => void} onclick @param {string} part */
export const cross = (label, onclick, part) => button("×", onclick, { part, "aria-label": label });

/** Tells the form that a control was changed by a program, on a person's behalf. @param {Element} control */
export const changed = (control) => control.dispatchEvent(new Event("input", { bubbles: true }));

const HIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/**
 * A server's words with nothing hidden in them, and no longer than `limit`.
 *
 * @param {unknown} text
 * @param {number} [limit]
 */
export function clean(text, limit = Infinity) {
  let words = typeof text === "object" ? "" : String(text ?? ""); // no object is a word, and some cannot be made one
  if (words.length > limit) words = words.slice(0, limit) + "…";
  return words.replace(HIDDEN, (hidden) => `<U+${hidden.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}>`);
}

/** A server's words, among ours. @param {unknown} text @param {number} [limit] */
export const words = (text, limit) => h("bdi", {}, clean(text, limit));

/**
 * Says texts of the catalog in one language.
 *
 * @typedef {ReturnType<typeof voice>} Voice
 * @param {string} tag
 */
export function voice(tag) {
  /** @param {string} key @param {Record<string, any>} [params] */
  const our = (key, params) => say(tag, "mcp.elicitation." + key, params);
  return {
    tag,
    say: our,

    /** Our words around a server's. @param {string} key @param {Record<string, string>} params */
    phrase(key, params) {
      const marked = Object.fromEntries(Object.keys(params).map((name) => [name, `\0${name}\0`]));
      return our(key, marked).split("\0").map((part, at) => (at % 2 ? words(params[part], 60) : part));
    },

    /**
     * The same at its field: what the field says of itself explains a pattern better than the pattern does.
     * @param {{key: string, params?: Record<string, any>}} problem @param {import("./form.js").Field} [field]
     */
    about({ key, params }, field) {
      const { pattern, example, format = "" } = field?.text ?? {};
      if (key.endsWith(".pattern") && pattern) {
        if (field?.description) return our("label.pattern");
        return example ? our("label.pattern_example", { example: example.slice(0, 60) }) : our("label.pattern_raw", { pattern: pattern.slice(0, 200) });
      }
      if (/\.date(_time)?$/.test(key) && format.startsWith("date")) return our("label.half_a_date");
      const text = say(tag, key, params);
      return text === key ? our("problem.json_unfit") : text; // of a gateway that knows more
    },

    /** What is wrong. @param {{key: string, params?: Record<string, any>}} problem */
    problem: ({ key, params }) => clean(say(tag, key, params)),
  };
}
