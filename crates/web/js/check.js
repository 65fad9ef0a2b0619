/**
 * Whether content fits its form: the same problems in the same order as `Form::check` in
 * Rust finds, by the same table (`fixtures/check`), and the fields that can't be checked here.
 *
 * Looking is synchronous. A server's `pattern` may not run on this thread, so a look only
 * notes which patterns it would like to hold against which texts; `thorough` has them run in
 * a worker and looks again, until nothing is left to ask.
 *
 * In: `thorough` before sending, `quick` while someone types.
 * Elsewhere: formats, patterns and JSON Schema beyond fields, for forms that need them (`more`).
 *
 * @import { Field, Form, Offer, Rule, Count, Range, Text } from "./form.js"
 * @typedef {{ path: string, key: string, params: { [name: string]: string | number | bigint } }} Problem
 * @typedef {{ problems: Problem[], unchecked: Set<string> }} Findings  what is wrong, in the order of the form; nothing if it fits. `unchecked`: paths of fields with a rule that can't be run on their value
 * @typedef {(pattern: string, text?: string) => boolean | undefined} Ask  whether a text fits a pattern (without a text: whether it is enforced at all); undefined while unknown
 */
import { isEmail } from "./email.js";
import { characters, isObject, keyOf } from "./json.js";
import { below } from "./keyword.js";
import { load, more } from "./more.js";
import { isInteger, isMultiple, isNumber, isRounded } from "./number.js";

/**
 * Checks everything that can be checked.
 * @param {Form} form
 * @param {{ [name: string]: any }} content
 * @returns {Promise<Findings>}
 */
export async function thorough(form, content) {
  await load(form.needs);
  return settle((ask) => look(form, content, EFFORT, ask));
}

/**
 * The same at once: without patterns, and as far as what the form needs is loaded. Unchecked is
 * only text that is too long for any pattern.
 * @param {Form} form
 * @param {{ [name: string]: any }} content
 * @returns {Findings}
 */
export const quick = (form, content) => look(form, content, LITTLE);

/**
 * Whether a value is one this field takes, as far as `quick` can tell.
 * @param {Field} field
 * @param {unknown} value
 */
export const takes = (field, value) => isTaken(field, value);

/**
 * The fields that do not take their own default, with patterns. What they need is loaded.
 * @param {Field[]} fields
 */
export const refusing = (fields) => settle((ask) => fields.filter((field) => !isTaken(field, field.default, ask)));

/**
 * Where an option stands, found without looking at each; -1 if it is none.
 * @param {Offer[]} offers @param {unknown} value
 */
export function place(offers, value) {
  const known = places.get(offers) ?? new Map(offers.map((offer, index) => [keyOf(offer.value), index]));
  places.set(offers, known);
  return known.get(keyOf(value)) ?? -1;
}

/** @type {WeakMap<Offer[], Map<string, number>>} */
const places = new WeakMap();

/** More problems than a person would read. */
const ENOUGH = 100;

/** Bytes that one check holds against patterns; and looking at one default. */
const MOST_TEXT = 40_000;
const DEFAULT_TEXT = 1000;

/** Nodes of rules times nodes of values: what one check may cost. What is beyond passes here. */
const EFFORT = 3_000_000;

/** The same for what is looked at in passing: a default, or what somebody is typing. */
const LITTLE = 30_000;

/** How often new answers may lead to new questions. */
const ROUNDS = 10;

/**
 * Looks until every pattern that matters is answered.
 * @template T @param {(ask?: Ask) => T} look
 */
async function settle(look) {
  const answers = more.pattern && new more.pattern.Answers();
  for (let round = 1; ; round++) {
    const found = look(answers?.ask);
    if (round === ROUNDS || !(await answers?.gather())) return found;
  }
}

/** @param {Form} form @param {{ [name: string]: any }} content @param {number} effort @param {Ask} [ask] */
function look(form, content, effort, ask) {
  const looking = new Looking(effort, MOST_TEXT, ask);
  looking.fields(form, content, "");
  return looking;
}

/** @param {Field} field @param {unknown} value @param {Ask} [ask] */
function isTaken(field, value, ask) {
  const looking = new Looking(LITTLE, DEFAULT_TEXT, ask);
  if (value !== undefined) looking.field(field, value, "");
  return value !== undefined && !looking.problems.length;
}

/** One look at some content. */
class Looking {
  /** @type {Problem[]} */
  problems = [];
  /** @type {Set<string>} */
  unchecked = new Set();
  /** Bytes that may still be held against patterns. */
  #left;
  #effort;
  #ask;

  /** @param {number} effort @param {number} text @param {Ask} [ask] */
  constructor(effort, text, ask) {
    this.#effort = { left: effort };
    this.#left = text;
    this.#ask = ask;
  }

  /** @param {string} path @param {string} name @param {Problem["params"]} [params] */
  #add(path, name, params = {}) {
    this.problems.push({ path, key: "mcp.elicitation.problem." + name, params });
  }

  /**
   * Takes note of what a rule says to a value: whether it fits, or nothing if it can't be run.
   * @param {boolean | undefined} fits @param {string} path @param {string} field  the path of its field @param {string} name
   */
  #judge(fits, path, field, name) {
    if (fits === false) this.#add(path, name);
    else if (!fits && this.#ask) this.unchecked.add(field);
  }

  get #enough() {
    return this.problems.length >= ENOUGH;
  }

  /** @param {Pick<Field, "fields" | "extra" | "beyond">} form @param {{ [name: string]: any }} content @param {string} path */
  fields({ fields = [], extra, beyond }, content, path) {
    const names = new Set(Object.keys(content));
    for (const field of fields) {
      if (this.#enough) return;
      const at = below(path, field.name);
      if (names.delete(field.name)) this.field(field, content[field.name], at);
      else if (field.required) this.#add(at, "required");
    }
    for (const name of names) {
      if (this.#enough) return;
      if (extra === "refused") this.#add(below(path, name), "unknown_field");
      else if (isObject(extra)) this.#rule(extra, content[name], below(path, name));
    }
    this.#rule(beyond, content, path);
  }

  /** @param {Field} field @param {any} value @param {string} path */
  field(field, value, path) {
    if (value === null && field.nullable) return;
    const { kind, offers = [] } = field;
    if (kind === "text") this.#text(field.text, value, path);
    else if (kind === "number" || kind === "integer") this.#number(kind, field.range ?? {}, value, path);
    else if (kind === "switch") typeof value === "boolean" || this.#add(path, "not_boolean");
    else if (kind === "choice") this.#offer(offers, value, path);
    else if (kind === "group") isObject(value) ? this.fields(field, value, path) : this.#add(path, "not_group");
    else if (kind === "json") this.#rule(field.schema, value, path);
    else if (!Array.isArray(value)) this.#add(path, "not_list");
    else {
      this.#list(field.count, value, path, (entry, at) =>
        kind === "tags" ? this.#text(field.text, entry, at, path) : this.#offer(offers, entry, at),
      );
    }
    if (kind !== "group") this.#rule(field.beyond, value, path);
  }

  /** @param {Text | undefined} rules @param {unknown} text @param {string} path @param {string} [field]  the path of its field */
  #text({ minLength = 0, maxLength = Infinity, format = "", pattern, isVain } = {}, text, path, field = path) {
    if (typeof text !== "string") return this.#add(path, "not_text");
    const length = characters(text);
    if (length < minLength) this.#add(path, "too_short", { count: minLength });
    if (length > maxLength) this.#add(path, "too_long", { count: maxLength });
    const fault = format === "email" ? !isEmail(text) && format : more.format?.faultOf(format, text);
    if (fault) this.#add(path, fault, fault === "format" ? { format } : {});
    if (pattern !== undefined) {
      this.#left -= new TextEncoder().encode(text).length;
      if (isVain || this.#left < 0) this.unchecked.add(field);
      else this.#judge(this.#ask?.(pattern, text), path, field, "pattern");
    }
  }

  /** @param {"number" | "integer"} kind @param {Range} range @param {unknown} number @param {string} path */
  #number(kind, { minimum, maximum, above, below, step }, number, path) {
    if (!isNumber(number)) return this.#add(path, "not_" + kind);
    if (kind === "integer") {
      if (!isInteger(number)) return this.#add(path, "not_integer");
      if (isRounded(number)) return this.#add(path, "too_large_to_keep");
    }
    if (minimum !== undefined && number < minimum) this.#add(path, "too_small", { min: minimum });
    if (maximum !== undefined && number > maximum) this.#add(path, "too_large", { max: maximum });
    if (above !== undefined && number <= above) this.#add(path, "not_above", { min: above });
    if (below !== undefined && number >= below) this.#add(path, "not_below", { max: below });
    if (step !== undefined && !isMultiple(number, step)) this.#add(path, "not_multiple", { of: step });
  }

  /** @param {Offer[]} offers @param {unknown} value @param {string} path */
  #offer(offers, value, path) {
    if (place(offers, value) < 0) this.#add(path, "not_an_option");
  }

  /** @param {Count | undefined} count @param {unknown[]} entries @param {string} path @param {(entry: unknown, at: string) => void} each */
  #list({ min = 0, max = Infinity, unique } = { unique: false }, entries, path, each) {
    // Too many are not looked at one by one.
    if (entries.length > max) return this.#add(path, "too_many", { count: max });
    entries.some((entry, index) => this.#enough || each(entry, below(path, index)));
    if (entries.length < min) this.#add(path, "too_few", { count: min });
    if (unique) {
      const scalars = entries.filter((entry) => typeof entry !== "object").map(keyOf);
      if (new Set(scalars).size < scalars.length) this.#add(path, "duplicate");
    }
  }

  /** @param {Rule | undefined} rule @param {unknown} value @param {string} path */
  #rule(rule, value, path) {
    if (rule) this.#judge(more.rules?.admits(rule, value, this.#ask ?? (() => undefined), this.#effort), path, path, "json_unfit");
  }
}

