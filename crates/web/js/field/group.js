/**
 * Fields within a field.
 */
import { h } from "../draw.js";

/** @type {import("../field.js").Kind} */
export function group(field, _value, aria, at) {
  const { "aria-required": _, ...rest } = aria; // what is required within it is marked there
  return { control: h("fieldset", { ...rest, part: "group" }, ...at.draw(field.fields ?? [])) };
}
