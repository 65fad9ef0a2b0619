/**
 * Keywords taken out of a sub-schema, each with the type it must have.
 *
 * @import { Schema } from "./form.js"
 */
import { isInteger } from "./number.js";

/** Why a schema is not a form. */
export class FormError extends Error {
  name = "FormError";
}

/**
 * Takes a keyword's value out of a schema; it is nonsense unless it passes.
 * @param {Schema} schema @param {string} keyword @param {string} at
 * @param {(value: any) => boolean} passes @returns {any}
 */
export function take(schema, keyword, at, passes) {
  const value = schema[keyword] ?? undefined;
  delete schema[keyword];
  if (value !== undefined && !passes(value)) throw nonsense(`${at}/${keyword}`, "not what was expected");
  return value;
}

/** @param {unknown} value */
export const isText = (value) => typeof value === "string";
/** @param {unknown} value */
export const isTexts = (value) => Array.isArray(value) && value.every(isText);
/** @param {unknown} value */
export const isFlag = (value) => typeof value === "boolean";
/** @param {any} value */
export const isLength = (value) => isInteger(value) && value >= 0;

/** @param {string} at @param {string} why */
export const nonsense = (at, why) => new FormError(`at \`${at || "/"}\`: ${why}`);

/**
 * A member's JSON Pointer.
 * @param {string} at @param {string | number} name
 */
export const below = (at, name) => `${at}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
