/**
 * Which kind of field a sub-schema is, seen before it is taken apart.
 *
 * @import { Kind, Schema } from "./form.js"
 */
import { has, isObject } from "./json.js";
import { nonsense } from "./keyword.js";
import { isInteger, isNumber } from "./number.js";

/**
 * The kind, and for a choice the keyword that has its options.
 * @param {Schema} schema @param {string} at @returns {{ kind: Kind, keyword?: string }}
 */
export function shape(schema, at) {
  const type = typeOf(schema, at);
  const keyword = options(schema, at);
  if (keyword && (!type || has(PLAIN, type))) return { kind: "choice", keyword };
  if (keyword) return { kind: "json" };
  if (type && has(PLAIN, type)) return { kind: PLAIN[type] };
  // The other two change what `items` is about.
  if (type === "array" && isObject(schema.items) && !("prefixItems" in schema || "unevaluatedItems" in schema)) {
    const { kind, keyword } = shape(schema.items, at + "/items");
    return { kind: kind === "choice" ? "choices" : kind === "text" ? "tags" : "json", keyword };
  }
  return { kind: (!type || type === "object") && "properties" in schema ? "group" : "json" };
}

/** @type {{ [type: string]: Kind }} */
const PLAIN = { string: "text", number: "number", integer: "integer", boolean: "switch" };
const TYPES = [...Object.keys(PLAIN), "array", "object", "null"];

/**
 * The one type of a schema; none if it has no `type`, "any" if it has several.
 * @param {Schema} schema @param {string} at @returns {string | undefined}
 */
function typeOf({ type }, at) {
  if (type === undefined) return;
  const several = Array.isArray(type);
  const known = several ? type.length && type.every((name) => TYPES.includes(name)) : TYPES.includes(type);
  if (!known) throw nonsense(at + "/type", "not a JSON type");
  return several ? "any" : type;
}

/**
 * The keyword that has the options, if the schema is a choice between scalars.
 * @param {Schema} schema @param {string} at
 */
function options(schema, at) {
  for (const keyword of ["oneOf", "anyOf", "enum"]) {
    const list = schema[keyword];
    if (list === undefined) continue;
    const empty = keyword === "enum" && !list.length;
    if (!Array.isArray(list) || empty) throw nonsense(`${at}/${keyword}`, "expected options");
    if (list.length && list.every(keyword === "enum" ? isScalar : isOption)) return keyword;
  }
  if (isScalar(schema.const)) return "const";
}

/**
 * Options in the long form: `{const, title?, description?}`, or several without words of their
 * own in `{enum}`, and nothing else that restricts.
 * @param {any} option
 */
function isOption(option) {
  if (!isObject(option) || has(option, "const") === has(option, "enum")) return false;
  const values = has(option, "enum") ? option.enum : [option.const];
  return (
    Array.isArray(values) &&
    values.every((value) => isScalar(value) && (!("type" in option) || hasType(value, option.type))) &&
    Object.keys(option).every((name) => ["const", "enum", "type"].includes(name) || !isRule(name))
  );
}

/** @param {unknown} value */
const isScalar = (value) => isNumber(value) || typeof value === "string" || typeof value === "boolean";

/**
 * Whether a value has the type that a schema's `type` names; any, if it names none.
 * @param {unknown} value @param {any} type
 */
export const hasType = (value, type) =>
  type === undefined ||
  (type === "integer" ? isInteger(value) : type === "number" ? isNumber(value) : type !== "object" && typeof value === type);

/**
 * Takes `null` off a schema that allows it beside one real type, as Python's `Optional` does.
 * Nothing if it is no such schema.
 * @param {Schema} schema @returns {Schema | undefined}
 */
export function withoutNull(schema) {
  const { type } = schema;
  if (Array.isArray(type) && type.length === 2 && type.every((name) => typeof name === "string")) {
    const [real, ...others] = type.filter((name) => name !== "null");
    if (real === undefined || others.length) return;
    /** @type {Schema} */
    const rest = { __proto__: null, ...schema, type: real };
    if (Array.isArray(rest.enum)) {
      /** @param {any} _ @param {number} index */
      const isReal = (_, index) => schema.enum[index] !== null;
      if (rest.enumNames?.length === rest.enum.length) rest.enumNames = rest.enumNames.filter(isReal);
      rest.enum = rest.enum.filter(isReal);
      if (!rest.enum.length) return;
    }
    return rest;
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const list = schema[keyword];
    if (!Array.isArray(list) || list.length !== 2) continue;
    const [real, ...others] = list.filter((option) => !isNullSchema(option));
    if (others.length || !isObject(real)) continue;
    const { [keyword]: _, ...beside } = schema;
    if (!Object.keys(beside).some(isRule)) return { __proto__: null, ...real, ...beside };
  }
}

/** @param {any} schema */
const isNullSchema = (schema) =>
  isObject(schema) && schema.type === "null" && Object.keys(schema).every((name) => name === "type" || !isRule(name));

/**
 * Whether `null` fits a schema. Only rules that are about every type can refuse it, so this
 * needs no evaluator. What goes in circles or fans out without end refuses nothing.
 * @param {any} schema @param {Schema} shared @param {{ nodes: number }} [left] @returns {boolean}
 */
export function admitsNull(schema, shared, left = { nodes: 1000 }) {
  if (!isObject(schema)) return schema !== false;
  if (--left.nodes < 0) return true;
  /** @param {any} sub */
  const admits = (sub) => admitsNull(sub, shared, left);
  /** @param {string} keyword */
  const list = (keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : undefined);
  return (
    (!("type" in schema) || [schema.type].flat().includes("null")) &&
    (list("enum")?.includes(null) ?? true) &&
    (!("const" in schema) || schema.const === null) &&
    (!("$ref" in schema) || admits(local(schema.$ref, shared))) &&
    (list("allOf")?.every(admits) ?? true) &&
    (list("anyOf")?.some(admits) ?? true) &&
    (list("oneOf")?.filter(admits).length ?? 1) === 1 &&
    !("not" in schema && admits(schema.not)) &&
    (!("if" in schema) || admits(schema[admits(schema.if) ? "then" : "else"]))
  );
}

/**
 * What a `$ref` to a definition of the same schema points at. Other places in it and percent
 * signs exist in theory; nobody sends them.
 * @param {unknown} target @param {Schema} shared @returns {any}
 */
export function local(target, shared) {
  const [, place, name] = (typeof target === "string" && /^#\/([^/]+)\/([^/%]*)$/.exec(target)) || [];
  const key = name?.replaceAll("~1", "/").replaceAll("~0", "~");
  if (place && has(shared, place) && isObject(shared[place]) && has(shared[place], key)) return shared[place][key];
}

/**
 * Whether a keyword can refuse a value. The others only say something about it.
 * @param {string} keyword
 */
export const isRule = (keyword) => RULE.test(keyword);

const RULE =
  /^(type|enum|const|\$ref|\$dynamicRef|(all|any|one)Of|not|if|then|else|(min|max)(Length|imum|Items|Contains|Properties)|exclusiveM(in|ax)imum|multipleOf|pattern|format|contains|(prefixI|unevaluatedI|i)tems|uniqueItems|(patternP|additionalP|unevaluatedP|p)roperties|propertyNames|required|dependent(Required|Schemas)|dependencies)$/;
