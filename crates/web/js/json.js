/**
 * JSON values as a stranger may have sent them.
 */
import { isNumber } from "./number.js";

/**
 * @param {unknown} value
 * @returns {value is { [name: string]: any }}
 */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {unknown} value */
export const isScalar = (value) => isNumber(value) || typeof value === "string" || typeof value === "boolean";

/**
 * @param {{ [name: string]: any }} object
 * @param {string} name
 */
export const has = (object, name) => Object.hasOwn(object, name);

/**
 * Equality of scalars as JSON Schema has it: `1` and `1.0` are the same number.
 * @param {unknown} a
 * @param {unknown} b
 */
export const equal = (a, b) => a === b || (isNumber(a) && isNumber(b) && a == b);

/**
 * A text that two scalars share exactly if they are equal; nothing else has one.
 * @param {any} value
 */
export const keyOf = (value) =>
  typeof value === "string" ? `"${value}` : typeof value === "object" ? "" : `${Number.isInteger(value) ? BigInt(value) : value}`;

/**
 * How long people and JSON Schema find a text: a surrogate pair is one character.
 * @param {string} text
 */
export function characters(text) {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) >> 10 === 0x36 && text.charCodeAt(at + 1) >> 10 === 0x37) pairs++;
  return text.length - pairs;
}

/** What `serde_json` reads: a deeper value would not get past the gateway. */
const DEEPEST = 128;

/**
 * How many characters a value takes as JSON, looked at no further than needed: Infinity if it takes
 * more than so many, or is deeper than anybody needs. Everything that recurs over it is bounded then.
 * @param {unknown} value
 * @param {number} most
 */
export function size(value, most) {
  let size = 0;
  /** @type {[unknown, number][]} */
  const waiting = [[value, 0]];
  for (let next; (next = waiting.pop()); ) {
    const [it, depth] = next;
    size += typeof it === "string" ? it.length + 2 : 1;
    if (typeof it === "object" && it) {
      if (depth >= DEEPEST) return Infinity;
      for (const [name, member] of Object.entries(it)) {
        size += Array.isArray(it) ? 1 : name.length + 3;
        if (size > most) return Infinity;
        waiting.push([member, depth + 1]);
      }
    }
    if (size > most) return Infinity;
  }
  return size;
}

/**
 * Whether a value takes no more characters than that, and is not too deep.
 * @param {unknown} value
 * @param {number} characters
 */
export const isWithin = (value, characters) => isFinite(size(value, characters));

/**
 * The members whose names pass, in an object without inherited names.
 * @param {{ [name: string]: any }} schema @param {(name: string) => boolean} passes @returns {{ [name: string]: any }}
 */
export function pick(schema, passes) {
  /** @type {{ [name: string]: any }} */
  const picked = Object.create(null);
  for (const name of Object.keys(schema)) if (passes(name)) picked[name] = schema[name];
  return picked;
}

/**
 * JSON has no bigint, and not every browser writes one as it is.
 * @param {string} _ @param {any} value
 */
export const plain = (_, value) => (typeof value === "bigint" ? Number(value) : value);
