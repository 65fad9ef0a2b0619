/**
 * The options of a choice, out of whichever keyword has them.
 *
 * @import { Offer, Schema } from "./form.js"
 */
import { has, keyOf } from "./json.js";
import { FormError, isText, isTexts, nonsense, take } from "./keyword.js";
import { LIMITS } from "./limits.js";
import { hasType } from "./shape.js";

/**
 * Takes the options out of a schema; `shape` has seen that they are options. One that is there
 * twice or does not have the field's type is dropped.
 * @param {Schema} schema @param {string} keyword @param {string} at @param {import("./limits.js").Allowance} allowance
 * @returns {Offer[]}
 */
export function offers(schema, keyword, at, allowance) {
  const options = schema[keyword];
  delete schema[keyword];
  /** @type {Omit<Offer, "label">[]} */
  let found;
  if (keyword === "const") found = [{ value: options }];
  else if (keyword === "enum") {
    const names = take(schema, "enumNames", at, isTexts) ?? [];
    found = options.map((/** @type {any} */ value, /** @type {number} */ index) => ({ value, title: names[index] }));
  } else found = options.flatMap((/** @type {Schema} */ option) => described({ ...option }, `${at}/${keyword}`));
  if (found.length > LIMITS.options) throw new FormError(`at \`${at}/${keyword}\`: more than ${LIMITS.options} options`);
  allowance.offer(found.length);

  /** @type {Map<string, Offer>} */
  const list = new Map();
  for (const offer of found) {
    const { value, title, description } = offer;
    const key = keyOf(value);
    allowance.read(isText(value) ? value : "", title, description);
    if (hasType(value, schema.type) && !list.has(key)) list.set(key, { ...offer, label: title ?? String(value) });
  }
  if (!list.size) throw nonsense(`${at}/${keyword}`, "there is no option to choose");
  return [...list.values()];
}

/**
 * An option of `oneOf` or `anyOf`: one with words of its own, or several without.
 * @param {Schema} option @param {string} at
 */
function described(option, at) {
  if (has(option, "enum")) return option.enum.map((/** @type {any} */ value) => ({ value }));
  return {
    value: option.const,
    title: take(option, "title", at, isText),
    description: take(option, "description", at, isText),
  };
}
