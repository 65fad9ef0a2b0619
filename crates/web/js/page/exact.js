/**
 * JSON whose large integers keep their digits: a number would round them, and nobody would see it.
 * Browsers that cannot tell how a number was written never make a bigint here.
 */

/** @param {string} text */
export const parse = (text) => JSON.parse(text, /** @type {any} */ (exact));

/** @param {unknown} value */
export const write = (value) => JSON.stringify(value, (_, member) => (typeof member === "bigint" ? raw(String(member)) : member));

/** @param {string} _ @param {any} value @param {{source?: string}} [context] */
const exact = (_, value, context) =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(/** @type {any} */ (context).source) : value;

/** @param {string} text */
const raw = (text) => /** @type {any} */ (JSON).rawJSON(text);
