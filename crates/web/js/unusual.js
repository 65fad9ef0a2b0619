/**
 * Schemas as other serializers write them, made usual: `$ref`s followed, `null` taken off.
 *
 * @import { Reader, Schema } from "./form.js"
 */
import { has, isObject, pick } from "./json.js";
import { isRule } from "./rule.js";

/**
 * Follows a `$ref` into the schema itself, also one that is wrapped in an `allOf` by itself,
 * keeping the title or default that stands beside it. With rules beside it, or where it leads
 * elsewhere, it stays: it is a rule then.
 * @param {Schema} schema @param {Pick<Reader, "allowance" | "shared">} reader @returns {Schema} a copy
 */
export function inline(schema, { allowance, shared }) {
  for (let hops = 0; hops < 8; hops++) {
    const keyword = "$ref" in schema ? "$ref" : "allOf";
    const found = keyword === "$ref" ? local(schema.$ref, shared) : schema.allOf?.length === 1 && schema.allOf[0];
    const isAlone = !Object.keys(schema).some((name) => name !== keyword && isRule(name));
    if (!isObject(found) || !isAlone) break;
    allowance.inline(found);
    schema = { __proto__: null, ...found, ...pick(schema, (name) => name !== keyword) };
  }
  // Some serializers write `null` for what is absent.
  schema = pick(schema, (name) => schema[name] !== null || name === "default" || name === "const");
  // A list of one type is that type.
  if (schema.type?.length === 1 && Array.isArray(schema.type)) [schema.type] = schema.type;
  return schema;
}

/**
 * The schema without `null`, and whether that fits it; nothing if it is not about `null`.
 * @param {Schema} schema @param {Reader} reader
 */
export function withoutNull(schema, reader) {
  const real = reduced(schema);
  return real && { schema: inline(real, reader), nullable: admitsNull(schema, reader.shared) };
}

/**
 * Takes `null` off a schema that allows it beside one real type, as Python's `Optional` does.
 * Nothing if it is no such schema.
 * @param {Schema} schema @returns {Schema | undefined}
 */
function reduced(schema) {
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
function admitsNull(schema, shared, left = { nodes: 1000 }) {
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
  const [, place, name] = (typeof target === "string" && /^#\/([^/]+)\/([^/%]{0,1000})$/.exec(target)) || []; // a longer one costs too much
  const key = name?.replaceAll("~1", "/").replaceAll("~0", "~");
  if (place && has(shared, place) && isObject(shared[place]) && has(shared[place], key)) return shared[place][key];
}
