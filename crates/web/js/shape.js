/**
 * Which kind of field a sub-schema is, seen before it is taken apart.
 *
 * @import { Kind, Schema } from "./form.js"
 */
import { has, isObject, isScalar } from "./json.js";
import { nonsense } from "./keyword.js";
import { isInteger, isNumber } from "./number.js";
import { isRule } from "./rule.js";

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

/**
 * Whether a value has the type that a schema's `type` names; any, if it names none.
 * @param {unknown} value @param {any} type
 */
export const hasType = (value, type) =>
  type === undefined ||
  (type === "integer" ? isInteger(value) : type === "number" ? isNumber(value) : type !== "object" && typeof value === type);
