/**
 * From a `requestedSchema` to a form, field by field.
 *
 * The same reading as `crates/core/src/form` has: each sub-schema is taken apart once, a kind
 * takes the keywords it understands, a rule that no kind understands is kept in `beyond`. What
 * a form cannot express becomes a field that takes JSON, so that nothing a server asks for is
 * silently dropped. Whatever a server sends, reading is bounded (`limits`).
 *
 * In: `open`, or `openAtOnce`. Elsewhere: schemas as other serializers write them (`unusual`),
 * which kind a sub-schema is (`shape`), the options of a choice (`offers`), whether values fit
 * (`check`).
 *
 * @import { Need } from "./more.js"
 * @typedef {{ source: Schema, shared?: Schema, among: Rule[] }} Rule  a piece of JSON Schema, the definitions its `$ref`s lead to, and all rules of its form
 * @typedef {{ [keyword: string]: any }} Schema
 *
 * @typedef {object} Fields
 * @property {Field[]} fields  what is asked, in the order it was sent
 * @property {"allowed" | "refused" | Rule} extra  whether other names may have values; a rule: if they fit it
 * @property {Rule} [beyond]  what the whole must fit beyond its fields
 *
 * @typedef {Fields & { title?: string, description?: string, needs: Set<Need> }} Form  `needs`: what `ready` loads before the form is drawn
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {string} path  JSON Pointer of its value in the content: `/address/city`
 * @property {string} [title]
 * @property {string} [description]
 * @property {string} label  what people read: the title, else the name in words
 * @property {boolean} required
 * @property {boolean} nullable  `null` is a value too
 * @property {any} [suggested]  the `default` as it came
 * @property {any} [default]  the same, if it is a value that the field takes
 * @property {string} [secret]  the kind of secret it seems to ask for, such as "password"
 * @property {unknown} [marked]  the same, as the gateway found it
 * @property {boolean} [unchecked]  it has a rule that can't be run here, whatever its value
 * @property {Kind} kind
 * @property {Text} [text]  text, and each entry of tags
 * @property {Range} [range]  number, integer
 * @property {Offer[]} [offers]  choice, choices
 * @property {Count} [count]  choices, tags
 * @property {Fields["fields"]} [fields]  group
 * @property {Fields["extra"]} [extra]  group
 * @property {Rule} [schema]  json: what the value must fit
 * @property {Rule} [beyond]  what else a value must fit, beyond its kind
 *
 * @typedef {"text" | "number" | "integer" | "switch" | "choice" | "choices" | "tags" | "group" | "json"} Kind
 * @typedef {{ minLength?: number, maxLength?: number, pattern?: string, isVain?: boolean, format?: string, example?: string }} Text  `isVain`: the form has too many patterns to run this one
 * @typedef {{ minimum?: Num, maximum?: Num, above?: Num, below?: Num, step?: Num }} Range
 * @typedef {number | bigint} Num  a bigint where a host's own parser kept digits that a double loses
 * @typedef {{ value: any, label: string, title?: string, description?: string }} Offer
 * @typedef {{ min?: number, max?: number, unique: boolean }} Count
 * @typedef {{ allowance: Allowance, needs: Set<Need>, rules: Rule[], shared: Schema }} Reader
 */
import { refusing, takes } from "./check.js";
import { isObject, isWithin, pick, plain } from "./json.js";
import { FormError, below, isFlag, isLength, isText, isTexts, nonsense, take } from "./keyword.js";
import { Allowance, LIMITS } from "./limits.js";
import { load, more } from "./more.js";
import { isNumber } from "./number.js";
import { offers } from "./offers.js";
import { isRule } from "./rule.js";
import { shape } from "./shape.js";

export { FormError };

/**
 * Reads a `requestedSchema` of any revision, as the wire brought it, and loads what its form
 * needs.
 * @param {unknown} schema
 * @returns {Promise<Form>}
 * @throws {FormError}
 */
export async function open(schema) {
  if (!isUsual(schema)) await load(["unusual"]);
  return ready(read(schema));
}

/**
 * The same at once, for a form that needs nothing more, as most; of others, nothing.
 * @param {unknown} schema
 */
export function openAtOnce(schema) {
  try {
    const form = isUsual(schema) ? read(schema) : undefined;
    return form?.needs.size ? undefined : form;
  } catch {
    return undefined; // `open` says why
  }
}

/** @param {unknown} schema */
const isUsual = (schema) => isWithin(schema, LIMITS.schema) && !/null|\$ref|allOf|"type":\[/.test(JSON.stringify(schema, plain));

/**
 * Reads at once; for an unusual schema, `unusual` is loaded. Where `needs` is not empty, some of
 * it is provisional until the form is `ready`: whether a default is usable, and what is secret;
 * a field that might be counts as one.
 * @param {unknown} schema
 * @returns {Form}
 * @throws {FormError}
 */
export function read(schema) {
  if (!isWithin(schema, LIMITS.schema)) throw new FormError("the schema is too long or too deep");
  if (!isObject(schema)) throw nonsense("", "expected an object");
  const shared = pick(schema, (name) => name === "$defs" || name === "definitions");
  /** @type {Reader} */
  const reader = { allowance: new Allowance(), needs: new Set(), rules: [], shared };
  const whole = inline(reader, schema);
  if ("type" in whole && whole.type !== "object") throw nonsense("/type", '"object" expected');
  delete whole.type;
  const title = take(whole, "title", "", isText);
  const description = take(whole, "description", "", isText);
  reader.allowance.read(title, description);
  const fields = readFields(reader, whole, "", "", 0);
  return { title, description, ...fields, needs: reader.needs };
}

/** Also those within groups. @param {Field[]} fields @returns {Field[]} */
export const every = (fields) => fields.flatMap((field) => [field, ...every(field.fields ?? [])]);

/**
 * Whether a form should be read once more before it is sent. Up to four fields are seen at one
 * glance, with their values in them: they are their own review, and asking twice would only
 * teach people to click. A longer form has scrolled away by the time it is sent, with defaults
 * in it that nobody may have looked at.
 * @param {Field[]} fields
 */
export const long = (fields) => every(fields).filter(({ kind }) => kind !== "group").length > 4;

/**
 * Loads what a form needs and settles what was provisional. A form that needs nothing is ready
 * as it was read.
 * @param {Form} form
 */
export async function ready(form) {
  await load(form.needs);
  if (!form.needs.size) return form;
  const fields = every(form.fields);
  for (const field of fields) field.secret &&= secretOf(field);
  for (const field of (await more.pattern?.unenforced(fields)) ?? []) field.unchecked = true;
  for (const field of await refusing(fields.filter((field) => field.default !== undefined))) delete field.default;
  return form;
}

/**
 * Takes `properties` and what belongs to it out of an object schema. `at` is its place in the
 * schema, `path` that of its value in the content.
 * @param {Reader} reader @param {Schema} schema @param {string} at @param {string} path
 * @param {number} depth @returns {Fields}
 */
function readFields(reader, schema, at, path, depth) {
  // These are about the other properties too, so that only the whole can be held against
  // them. Names that no field has are theirs to judge then.
  const entangled = "patternProperties" in schema || "unevaluatedProperties" in schema;
  const whole = entangled ? { __proto__: null, ...schema } : undefined;
  const required = new Set(take(schema, "required", at, isTexts));
  const properties = take(schema, "properties", at, isObject) ?? {};
  const more = take(schema, "additionalProperties", at, (rule) => isObject(rule) || isFlag(rule));
  const within = at + "/properties";
  const fields = Object.keys(properties).map((name) =>
    readField(reader, name, properties[name], required.delete(name), within, path, depth),
  );
  const extra = whole || (more ?? true) === true ? "allowed" : more ? rule(reader, more) : "refused";
  for (const name of required) {
    const rule = whole || more === undefined ? true : more;
    reader.allowance.inline(rule);
    fields.push(readField(reader, name, rule, true, within, path, depth));
  }
  return { fields, extra, beyond: beyond(reader, whole ?? schema) };
}

/**
 * @param {Reader} reader @param {string} name @param {any} sub @param {boolean} required
 * @param {string} parent @param {string} within @param {number} depth @returns {Field}
 */
function readField(reader, name, sub, required, parent, within, depth) {
  reader.allowance.ask();
  if (name.length > LIMITS.name) throw nonsense(parent, "a name is too long");
  const at = below(parent, name);
  const path = below(within, name);
  if (!isObject(sub) && !isFlag(sub)) throw nonsense(at, "expected a schema");
  const given = inline(reader, sub === true ? {} : sub || { not: {} });
  const { schema, nullable } = more.unusual?.withoutNull(given, reader) ?? { schema: given, nullable: false };
  if (isObject(schema.items)) schema.items = inline(reader, schema.items);
  const { kind, keyword } = shape(schema, at);
  const title = take(schema, "title", at, isText);
  const description = take(schema, "description", at, isText);
  reader.allowance.read(title, description);
  const suggested = schema.default;
  delete schema.default;
  /** @type {Field} */
  const field = { name, path, title, description, label: title ?? readable(name), required, nullable, suggested, kind, marked: schema[MARK] };
  readKind(reader, field, schema, keyword, at, depth);
  if (/^(choices|tags|group|json)$/.test(field.kind)) reader.needs.add("rare");
  if ((suggested !== null || nullable) && takes(field, suggested)) field.default = suggested;
  field.secret = secretOf(field);
  if (field.secret) reader.needs.add("secret");
  return field;
}

/** A program's name in words: `seatKind` and `seat_kind` are "Seat kind". @param {string} name */
function readable(name) {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim().replace(/ [A-Z](?=[a-z])/g, (initial) => initial.toLowerCase());
  return words ? words[0].toUpperCase() + words.slice(1) : name;
}

/** Where the gateway says what it found; `crates/core/src/wire/mark.rs`. */
const MARK = "dev.midcall/secret";

/** @param {Field} field */
function secretOf({ kind, name, title = "", description = "", text, marked }) {
  if (["switch", "choice", "choices", "group"].includes(kind)) return;
  const format = kind === "text" ? text?.format : undefined;
  if (more.secret) return more.secret.asks(name, title, description, format, marked);
  return isSuspicious(name, title, description, format, marked) ? "password" : undefined;
}

/**
 * Whether any phrase that `secret.js` knows may be in it. Most forms have none.
 * @param {string} name @param {string} [title] @param {...unknown} rest
 */
export const isSuspicious = (name, title = "", ...rest) => {
  const text = [name, title, (name + "\n" + title).replace(/[ _.-]/g, ""), ...rest].join("\n");
  // Marks go first: browsers take seconds to sort 100,000 of them.
  return SUSPICIOUS.test(text.replace(/\p{M}/gu, "").normalize("NFKD").replace(/[\u0300-\u036f]/g, ""));
};

/**
 * A part of every phrase in Latin letters; letters that stand alone; digits that stand for
 * letters; and other scripts, or nothing visible at all.
 */
const SUSPICIOUS =
  /pass|pwd|senha|palavra|contrase|kennwort|geheim|parola|pin|cod[ei]|ziffer|nummer|crypto|token|jeton|secr|segre|key|clave|cle[ _-]|api\b|\bapi|priv|chave|chiave|schl|cv[cvn]|card|cart|kart|tarjeta|cc.{0,3}num|otp|[2m]fa|phrase|frase|palabra|mnemonic|ssn|social|sozial|itin|tax|steuer|fiscal|insur|cpf|nif|contrib|cookie|jwt|(?<![a-z\d])([a-z\d][\W_]+){2}[a-z\d](?![a-z\d])|[013457@$][a-z]|[a-z][0134578@$!|]+[a-z]|[^\0-\xac\xae-\u02ff\u2010-\u2027]/i;

/**
 * Takes a kind's keywords out of its schema.
 * @param {Reader} reader @param {Field} field @param {Schema} schema
 * @param {string | undefined} keyword @param {string} at @param {number} depth
 */
function readKind(reader, field, schema, keyword, at, depth) {
  const { kind } = field;
  if (kind === "json" || (kind === "group" && depth >= LIMITS.nesting)) {
    field.kind = "json";
    field.schema = rule(reader, schema);
    return;
  }
  const isList = kind === "choices" || kind === "tags";
  const one = isList ? { __proto__: null, ...schema.items } : schema;
  const where = isList ? at + "/items" : at;
  if (keyword) field.offers = offers(one, keyword, where, reader.allowance);
  delete one.type;
  if (kind === "text" || kind === "tags") {
    const pattern = take(one, "pattern", where, isText);
    field.text = {
      minLength: take(one, "minLength", where, isLength),
      maxLength: take(one, "maxLength", where, isLength),
      pattern,
      isVain: reader.allowance.isVain(pattern),
      format: take(one, "format", where, isText),
      example: [one.examples].flat().find(isText),
    };
  }
  if (kind === "number" || kind === "integer") field.range = range(schema, at);
  if (isList) {
    field.count = {
      min: take(schema, "minItems", at, isLength),
      max: take(schema, "maxItems", at, isLength),
      unique: take(schema, "uniqueItems", at, isFlag) ?? false,
    };
    schema.items = one; // what entries say beyond their kind
  }
  delete schema.type;
  if (kind === "group") Object.assign(field, readFields(reader, schema, at, field.path, depth + 1));
  else field.beyond = beyond(reader, schema);
  const { format, pattern } = field.text ?? {};
  if (pattern !== undefined) reader.needs.add("pattern");
  if (format && !/^(email|textarea|password)$/.test(format)) reader.needs.add("format");
}

/** @param {Schema} schema @param {string} at @returns {Range} */
function range(schema, at) {
  const step = take(schema, "multipleOf", at, (of) => isNumber(of) && of > 0);
  /** @param {string} keyword @param {string} exclusive @returns {[Num | undefined, Num | undefined]} */
  const bound = (keyword, exclusive) => {
    const limit = take(schema, keyword, at, isNumber);
    const strict = take(schema, exclusive, at, (is) => isNumber(is) || isFlag(is));
    // In JSON Schema's draft 4, `true` says that the bound itself is exclusive.
    return strict === true ? [undefined, limit] : [limit, strict || strict === 0 ? strict : undefined];
  };
  const [minimum, above] = bound("minimum", "exclusiveMinimum");
  const [maximum, less] = bound("maximum", "exclusiveMaximum");
  return { minimum, maximum, above, below: less, step };
}

/**
 * The rules that no kind took, if there are any.
 * @param {Reader} reader @param {Schema} schema
 */
function beyond(reader, schema) {
  // Entries of a list may have words that restrict nothing.
  const rules = pick(schema, (name) =>
    name === "items" && isObject(schema.items) ? Object.keys(schema.items).some(isRule) : isRule(name),
  );
  return Object.keys(rules).length ? rule(reader, rules) : undefined;
}

/** @param {Reader} reader @param {Schema} source @returns {Rule} */
function rule(reader, source) {
  reader.needs.add("rules").add("pattern");
  const rule = { source, shared: reader.shared, among: reader.rules };
  reader.rules.push(rule);
  return rule;
}

/**
 * A copy, without what other serializers and people write differently.
 * @param {Reader} reader @param {Schema} schema @returns {Schema}
 */
const inline = (reader, schema) => more.unusual?.inline(schema, reader) ?? { __proto__: null, ...schema };
