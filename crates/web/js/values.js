/**
 * What people type, and the content it becomes.
 *
 * `typed` maps a field's path to what its control holds: a string for text, number, integer and
 * json; a boolean, or undefined while untouched, for a switch; the index of an option, or
 * undefined, for a choice; indexes for choices; strings for tags. null is what a control has
 * that cannot be read, such as half a date.
 *
 * An empty optional field is left out, and so is a group in which nobody answered anything;
 * `false`, `0` and defaults are sent as they stand. Same rules as `crates/core/src/form/fill.rs`.
 *
 * @import { Field, Fields, Form } from "./form.js"
 * @import { Problem } from "./check.js"
 * @typedef {string | boolean | number | number[] | string[] | null | undefined} Typed
 * @typedef {{ [name: string]: any }} Content
 */
import * as check from "./check.js";
import { every } from "./form.js";
import { equal, isObject, isWithin, plain } from "./json.js";
import { more } from "./more.js";
import { isInteger, isNumber } from "./number.js";

/**
 * What the controls start with: earlier content if there is some, else the form's defaults.
 * @param {Form} form @param {Content} [content] @returns {Map<string, Typed>}
 */
export function typed(form, content) {
  const map = new Map();
  begin(form.fields, content ?? {}, !!content, map);
  return map;
}

/**
 * The content that was typed, and what could not be read as its field's kind. `tag` is the
 * person's locale, which decides what a comma in a number means.
 * @param {Form} form @param {Map<string, Typed>} typed @param {string} [tag]
 * @returns {{ content: Content, problems: Problem[] }}
 */
export function content(form, typed, tag = "") {
  const reading = { typed, tag, problems: /** @type {Problem[]} */ ([]) };
  const content = gather(form.fields, reading);
  if (!isWithin(content, MOST)) reading.problems.push(problem("", "too_big"));
  return { content, problems: reading.problems };
}

/**
 * The content that was typed, and everything that is wrong with it, in the order of the form.
 * @param {Form} form @param {Map<string, Typed>} typed @param {string} [tag]
 */
export async function checked(form, typed, tag) {
  const read = content(form, typed, tag);
  return join(form, read, await check.thorough(form, read.content));
}

/**
 * The same at once, without patterns: for while someone types.
 * @param {Form} form @param {Map<string, Typed>} typed @param {string} [tag]
 */
export function checkedQuickly(form, typed, tag) {
  const read = content(form, typed, tag);
  return join(form, read, check.quick(form, read.content));
}

/** Characters of content that are sent. */
const MOST = 1024 * 1024;

/** @param {Field[]} fields @param {Content} content @param {boolean} isEarlier @param {Map<string, Typed>} map */
function begin(fields, content, isEarlier, map) {
  for (const field of fields) {
    const given = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    const value = given === undefined && !isEarlier ? field.default : given;
    if (field.kind === "group") begin(field.fields ?? [], isObject(value) ? value : {}, isEarlier, map);
    else map.set(field.path, hold(field, value));
  }
}

/** @param {Field} field @param {any} value @returns {Typed} */
function hold({ kind, offers = [] }, value) {
  const entries = Array.isArray(value) ? value : [];
  if (kind === "switch") return typeof value === "boolean" ? value : undefined;
  const places = (kind === "choice" ? [value] : entries).map((one) => check.place(offers, one)).filter((index) => index >= 0);
  if (kind === "choice") return places[0];
  if (kind === "choices") return places;
  if (kind === "tags") return entries.filter((entry) => typeof entry === "string");
  if (kind === "json") return value === undefined ? "" : pretty(value);
  return kind === "text" ? (typeof value === "string" ? value : "") : isNumber(value) ? String(value) : "";
}

/** In lines, unless they would mostly be indentation. @param {any} value */
function pretty(value) {
  const text = JSON.stringify(value, plain);
  return text.length > 5000 ? text : JSON.stringify(value, plain, 2);
}

/** @typedef {{ typed: Map<string, Typed>, tag: string, problems: Problem[] }} Reading */

/** @param {Field[]} fields @param {Reading} reading @returns {Content} */
function gather(fields, reading) {
  /** @type {Content} */
  const content = Object.create(null); // `__proto__` is a name like any other
  for (const field of fields) {
    let value = field.kind === "group" ? gatherGroup(field, reading) : gatherOne(field, reading);
    if (value === undefined && field.required && field.nullable) value = null;
    if (value !== undefined) content[field.name] = value;
  }
  return content;
}

/** @param {Field} field @param {Reading} reading */
function gatherGroup(field, reading) {
  const { fields = [], required, nullable } = field;
  const before = reading.problems.length;
  const values = gather(fields, reading);
  const names = Object.keys(values);
  if (reading.problems.length > before) return values;
  if (required) return names.length || !nullable ? values : undefined;
  // Left alone: something it needs is missing, and what is there was there before.
  const lacks = fields.some((inner) => inner.required && !(inner.name in values));
  const isLeft = (/** @type {Field} */ inner) => !(inner.name in values) || isSame(values[inner.name], inner.default);
  return !names.length || (lacks && fields.every(isLeft)) ? undefined : values;
}

/** @param {Field} field @param {Reading} reading @returns {any} */
function gatherOne(field, reading) {
  const { kind, path, offers = [], required } = field;
  const start = hold(field, field.default);
  const now = reading.typed.has(path) ? reading.typed.get(path) : start;
  if (field.default !== undefined && isSame(now, start)) return field.default;
  /** @param {string} name */
  const wrong = (name) => void reading.problems.push(problem(path, name));

  if (now === null) return wrong(field.text?.format?.replace("-", "_") ?? "required"); // only dates have halves
  if (Array.isArray(now)) {
    const values = kind === "tags" ? now : now.map((index) => offers[Number(index)]?.value);
    // "None of these" is an answer where there must be one, or where leaving it out would mean
    // the default.
    const isAnswer = values.length || required || (field.suggested !== undefined && check.takes(field, values));
    return isAnswer ? values : undefined;
  }
  if (kind === "choice") return now === undefined ? undefined : offers[Number(now)]?.value;
  if (kind === "switch") return now;
  const text = String(now ?? "");
  if (kind === "text") return (field.text?.format === "date-time" ? more.format?.zoned(text) : text) || undefined;
  if (!text.trim()) return undefined;
  if (kind === "json") {
    const value = more.rare?.parse(text, wrong);
    return isWithin(value, Infinity) ? value : wrong("not_json"); // too deep for anybody
  }
  return number(text.trim(), kind, reading.tag, wrong);
}

/** @param {string} text @param {string} kind @param {string} tag @param {(name: string) => undefined} wrong */
function number(text, kind, tag, wrong) {
  // In "1,234" the comma may stand for thousands, except where it is the decimal sign.
  const comma = /^pt\b/.test(tag) ? /^[^.,]*,[^.,]*$/ : /^[^.,]*,(?!\d{3}$)[^.,]*$/;
  if (/^pt\b/.test(tag) && /^[+-]?\d{1,3}(\.\d{3})+$/.test(text)) return wrong("not_" + kind); // nor can "1.234" there
  const plain = comma.test(text) ? text.replace(",", ".") : text;
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  if (!isFinite(value)) return wrong("not_" + kind);
  if (kind === "integer" && !isInteger(value)) return wrong("not_integer");
  if (kind === "integer" && !Number.isSafeInteger(value)) return wrong("too_large_to_keep");
  return value;
}

/**
 * What could not be read is told instead of what that leaves missing.
 * @param {Form} form @param {{ content: Content, problems: Problem[] }} read @param {check.Findings} findings
 */
function join(form, { content, problems: unread }, { problems: found, unchecked }) {
  if (!unread.length) return { content, problems: found, unchecked };
  const taken = new Set(unread.map(({ path }) => path));
  const paths = every(form.fields).map(({ path }) => path);
  /** @param {Problem} problem  in a field, or about the whole */
  const place = ({ path }) => (path ? paths.findLastIndex((of) => path === of || path.startsWith(of + "/")) : Infinity);
  const problems = [...unread, ...found.filter(({ path }) => !taken.has(path))].sort((a, b) => place(a) - place(b) || 0);
  return { content, problems, unchecked };
}

/** @param {string} path @param {string} name @returns {Problem} */
const problem = (path, name) => ({ path, key: "mcp.elicitation.problem." + name, params: {} });

/** @param {any} a @param {any} b */
const isSame = (a, b) => equal(a, b) || (typeof a === "object" && JSON.stringify(a, plain) === JSON.stringify(b, plain));
