/**
 * JSON Schema (2020-12) for what a form cannot express: whether a value fits a rule.
 *
 * A hostile schema could recurse or fan out without end through `$ref`, so its nodes are counted
 * first, as in `crates/core/src/form/schema.rs`: those of each rule, and those of all rules of a
 * form. What goes in circles, is too large, points outside the schema, or is no schema at all is
 * not enforced: every value passes here, and the server looks at it itself.
 *
 * In: `admits`, `isEnforced`. Elsewhere: patterns (whoever asks runs them), formats (`formats`).
 *
 * @import { Rule, Schema } from "./form.js"
 * @import { Ask } from "./check.js"
 */
import { FORMATS } from "./formats.js";
import { characters, equal, has, isObject } from "./json.js";
import { isInteger, isMultiple, isNumber } from "./number.js";
import { local } from "./unusual.js";

/**
 * Whether a value fits; undefined if it can't be held against this rule (yet), or not with what is left.
 * @param {Rule} rule @param {unknown} value @param {Ask} ask
 * @param {{ left: number }} effort  nodes of a schema times nodes of a value: what the rules of a form may cost in one check
 */
export function admits(rule, value, ask, effort) {
  const cost = costOf(rule);
  if (!cost || !canBear(value, cost, effort)) return;
  // One pattern that cannot be run makes the whole unenforced; ask about all at once.
  if (cost.patterns.map((pattern) => ask(pattern)).some((is) => !is)) return;
  const trial = { shared: rule.shared ?? {}, ask, isSure: true };
  const { ok } = fits(rule.source, value, trial);
  return trial.isSure ? ok : undefined;
}

/**
 * Whether values are held against a rule, as far as its patterns are known.
 * @param {Rule} rule @param {Ask} ask
 */
export const isEnforced = (rule, ask) => costOf(rule)?.patterns.map((pattern) => ask(pattern)).includes(false) === false;

/** How many schema nodes values may be held against, `$ref`s followed: for all rules of a form together. */
const WIDEST = 10_000;

/** How deep those may lie. */
const DEEPEST = 128;

/** A `pattern` inside takes this much of that. */
const PATTERN = 500;

/** @typedef {{ nodes: number, patterns: string[] }} Cost */
/** @type {WeakMap<Rule, Cost | undefined>} */
const costs = new WeakMap();

/**
 * What a rule costs; undefined when it is not enforced. What those before it in the form have
 * taken is gone, also what was spent on seeing that one is not bearable.
 * @param {Rule} rule
 */
function costOf(rule) {
  if (costs.has(rule)) return costs.get(rule);
  let left = WIDEST;
  for (const one of rule.among) {
    const { cost, nodes } = count(one, left);
    left -= nodes;
    costs.set(one, cost);
  }
  return costs.get(rule);
}

/**
 * The cost of a rule, and the nodes that were looked at.
 * @param {Rule} rule @param {number} most @returns {{ cost?: Cost, nodes: number }}
 */
function count(rule, most) {
  const shared = rule.shared ?? {};
  let left = most;
  /** @type {Set<string>} */
  const patterns = new Set();
  /** @type {string[]} */
  const followed = [];

  /** @param {number} count */
  const spend = (count) => {
    left -= count;
    if (left < 0) throw new Unenforced();
  };
  /** @param {string} source */
  const pattern = (source) => {
    patterns.add(source);
    spend(PATTERN);
  };
  /** @param {any} schema @param {number} depth */
  const visit = (schema, depth) => {
    spend(1);
    if (isObject(schema)) keywords(schema, depth);
    else if (typeof schema !== "boolean") throw new Unenforced();
  };
  /** @param {Schema} schema @param {number} depth */
  const keywords = (schema, depth) => {
    if (depth >= DEEPEST) throw new Unenforced();
    for (const [keyword, rule] of Object.entries(schema)) {
      if (has(EXPECTED, keyword) && !EXPECTED[keyword](rule)) throw new Unenforced();
      if (ELSEWHERE.includes(keyword)) throw new Unenforced();
      else if (keyword === "$ref") follow(rule, depth + 1);
      else if (keyword === "pattern") pattern(rule);
      else if (NAMED.includes(keyword)) {
        for (const [name, sub] of Object.entries(rule)) {
          if (keyword === "patternProperties") pattern(name);
          if (Array.isArray(sub)) spend(nodes(sub));
          else visit(sub, depth + 1);
        }
      } else if (SINGLE.includes(keyword)) visit(rule, depth + 1);
      else if (LISTED.includes(keyword)) for (const sub of rule) visit(sub, depth + 1);
      else spend(nodes(rule)); // an option may be large itself
    }
  };
  /** @param {string} target @param {number} depth */
  const follow = (target, depth) => {
    const found = local(target, shared);
    if (found === undefined || followed.includes(target)) throw new Unenforced();
    followed.push(target);
    visit(found, depth);
    followed.pop();
  };

  try {
    keywords(rule.source, 0);
    return { cost: { nodes: most - left, patterns: [...patterns] }, nodes: most - left };
  } catch (error) {
    if (error instanceof Unenforced) return { nodes: most - Math.max(left, 0) };
    throw error;
  }
}

class Unenforced extends Error {}

/** @param {any} value @returns {number} */
const nodes = (value) =>
  typeof value === "object" && value ? Object.values(value).reduce((sum, member) => sum + nodes(member), 1) : 1;

const ELSEWHERE = ["$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor"];
const NAMED = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
const LISTED = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SINGLE = ["not", "if", "then", "else", "items", "contains", "propertyNames"].concat(
  ["additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contentSchema"],
);
const TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];

/** @param {any} value */
const isCount = (value) => isInteger(value) && value >= 0;
/** @param {any} value */
const isTexts = (value) => Array.isArray(value) && value.every((name) => typeof name === "string") && new Set(value).size === value.length;
/** @param {any} value */
const isText = (value) => typeof value === "string";
/** @param {any} value */
const isSchemas = (value) => Array.isArray(value) && value.length > 0;

/**
 * What the specification wants of each keyword's value.
 * @type {{ [keyword: string]: (value: any) => boolean }}
 */
const EXPECTED = {
  type: (type) => (Array.isArray(type) ? type.length > 0 && isTexts(type) && type.every((name) => TYPES.includes(name)) : TYPES.includes(type)),
  enum: Array.isArray,
  $ref: isText,
  pattern: isText,
  format: isText,
  multipleOf: (of) => isNumber(of) && of > 0,
  required: isTexts,
  uniqueItems: (unique) => typeof unique === "boolean",
  dependentRequired: (names) => isObject(names) && Object.values(names).every(isTexts),
};
for (const keyword of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) EXPECTED[keyword] = isNumber;
for (const keyword of ["Length", "Items", "Properties", "Contains"]) EXPECTED["min" + keyword] = EXPECTED["max" + keyword] = isCount;
for (const keyword of NAMED) EXPECTED[keyword] = isObject;
for (const keyword of LISTED) EXPECTED[keyword] = isSchemas;

/**
 * Whether holding a value against a rule takes a bearable time, which is then spent.
 * @param {unknown} value @param {Cost} cost @param {{ left: number }} effort
 */
function canBear(value, cost, effort) {
  const nodes = Math.max(cost.nodes, 1);
  let left = effort.left / nodes;
  const waiting = [value];
  while (waiting.length) {
    const it = waiting.pop();
    left -= typeof it === "string" ? 1 + it.length / (cost.patterns.length ? 1 : 64) : 1;
    if (left < 0) return false;
    if (typeof it === "object" && it) for (const member of Object.values(it)) waiting.push(member);
    if (waiting.length > left) return false;
  }
  effort.left = left * nodes;
  return true;
}

/**
 * @typedef {{ shared: Schema, ask: Ask, isSure: boolean }} Trial  not sure: a pattern was not answered yet
 * @typedef {{ ok: boolean, seen: Set<string> }} Verdict  `seen`: which names and indexes some rule was about, for `unevaluated…`
 */

/** @param {any} schema @param {any} value @param {Trial} trial @returns {Verdict} */
function fits(schema, value, trial) {
  /** @type {Set<string>} */
  const seen = new Set();
  if (!isObject(schema)) return { ok: schema !== false, seen };
  /**
   * Holds this same value against another schema; what fits is seen here too.
   * @param {any} other
   */
  const also = (other) => {
    const verdict = fits(other, value, trial);
    if (verdict.ok) for (const name of verdict.seen) seen.add(name);
    return verdict.ok;
  };
  const ok =
    fitsScalar(schema, value, trial) &&
    (!("$ref" in schema) || also(local(schema.$ref, trial.shared))) &&
    (!schema.allOf || all(schema.allOf, also)) &&
    (!schema.anyOf || schema.anyOf.filter(also).length > 0) &&
    (!schema.oneOf || schema.oneOf.filter(also).length === 1) &&
    (!("not" in schema) || !fits(schema.not, value, trial).ok) &&
    (!("if" in schema) || also(schema[also(schema.if) ? "then" : "else"])) &&
    (!Array.isArray(value) || fitsList(schema, value, seen, trial)) &&
    (!isObject(value) || fitsObject(schema, value, seen, also, trial));
  return { ok, seen };
}

/**
 * Without stopping at the first that fails, so that every pattern inside is asked for at once.
 * @template T @param {T[]} list @param {(entry: T) => boolean} passes
 */
const all = (list, passes) => list.filter(passes).length === list.length;

/** @param {Schema} schema @param {any} value @param {Trial} trial */
function fitsScalar(schema, value, trial) {
  if ("type" in schema && ![schema.type].flat().some((/** @type {string} */ type) => isType(value, type))) return false;
  if ("enum" in schema && !schema.enum.some((/** @type {any} */ option) => isSame(option, value))) return false;
  if ("const" in schema && !isSame(schema.const, value)) return false;
  if (isNumber(value)) {
    if (value < schema.minimum || value > schema.maximum) return false;
    if (value <= schema.exclusiveMinimum || value >= schema.exclusiveMaximum) return false;
    if ("multipleOf" in schema && !isMultiple(value, schema.multipleOf)) return false;
  }
  if (typeof value === "string") {
    const length = characters(value);
    if (length < schema.minLength || length > schema.maxLength) return false;
    const format = isText(schema.format) && FORMATS[schema.format];
    if (format && !format(value)) return false;
    if ("pattern" in schema && !matches(schema.pattern, value, trial)) return false;
  }
  return true;
}

/** @param {string} pattern @param {string} text @param {Trial} trial */
function matches(pattern, text, trial) {
  const fits = trial.ask(pattern, text);
  if (fits === undefined) trial.isSure = false;
  return fits ?? true;
}

/** @param {Schema} schema @param {any[]} list @param {Set<string>} seen @param {Trial} trial */
function fitsList(schema, list, seen, trial) {
  const { prefixItems = [], minContains = 1, maxContains = Infinity } = schema;
  if (list.length < schema.minItems || list.length > schema.maxItems) return false;
  if (schema.uniqueItems && new Set(list.map(canonical)).size < list.length) return false;
  let contained = 0;
  const ok = all([...list.keys()], (index) => {
    const entry = list[index];
    let ok = true;
    /** @param {any} sub */
    const hold = (sub) => {
      seen.add(String(index));
      ok = fits(sub, entry, trial).ok && ok;
    };
    if (index < prefixItems.length) hold(prefixItems[index]);
    else if ("items" in schema) hold(schema.items);
    if ("contains" in schema && fits(schema.contains, entry, trial).ok) {
      contained++;
      seen.add(String(index));
    }
    if ("unevaluatedItems" in schema && !seen.has(String(index))) hold(schema.unevaluatedItems);
    return ok;
  });
  return ok && (!("contains" in schema) || (contained >= minContains && contained <= maxContains));
}

/** @param {Schema} schema @param {{ [name: string]: any }} object @param {Set<string>} seen @param {(schema: any) => boolean} also @param {Trial} trial */
function fitsObject(schema, object, seen, also, trial) {
  const names = Object.keys(object);
  const { properties = {}, patternProperties = {} } = schema;
  if (names.length < schema.minProperties || names.length > schema.maxProperties) return false;
  /** @param {string[]} [wanted] */
  const hasAll = (wanted = []) => wanted.every((name) => has(object, name));
  if (!hasAll(schema.required)) return false;
  const { dependencies = {}, dependentRequired = {}, dependentSchemas = {} } = schema;
  for (const [name, sub] of [dependencies, dependentRequired, dependentSchemas].flatMap(Object.entries)) {
    if (has(object, name) && !(Array.isArray(sub) ? hasAll(sub) : also(sub))) return false;
  }
  return all(names, (name) => {
    let ok = !("propertyNames" in schema) || fits(schema.propertyNames, name, trial).ok;
    let isOwn = false;
    /** @param {any} sub */
    const hold = (sub) => {
      isOwn = true;
      seen.add(name);
      ok = fits(sub, object[name], trial).ok && ok;
    };
    if (has(properties, name)) hold(properties[name]);
    for (const pattern of Object.keys(patternProperties)) if (matches(pattern, name, trial)) hold(patternProperties[pattern]);
    if (!isOwn && "additionalProperties" in schema) hold(schema.additionalProperties);
    if (!seen.has(name) && "unevaluatedProperties" in schema) hold(schema.unevaluatedProperties);
    return ok;
  });
}

/** @param {any} value @param {string} type */
function isType(value, type) {
  if (type === "integer") return isInteger(value);
  if (type === "number") return isNumber(value);
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  return type === "object" ? isObject(value) : typeof value === type;
}

/**
 * Whether two JSON values are equal, looked at no further than to the first difference.
 * @param {any} a @param {any} b @returns {boolean}
 */
function isSame(a, b) {
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return equal(a, b);
  const names = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === Object.keys(b).length &&
    names.every((name) => has(b, name) && isSame(a[name], b[name]))
  );
}

/**
 * A text that two JSON values share exactly if they are equal: `1` and `1.0` are.
 * @param {any} value @returns {string}
 */
function canonical(value) {
  if (isInteger(value)) return `${BigInt(value)}`;
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => JSON.stringify(name) + ":" + canonical(value[name]))}}`;
}
