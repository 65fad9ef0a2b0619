/**
 * A text: one line or several, in the browser's own control for its format.
 *
 * Lengths are checked, not enforced: `maxlength` would cut what is pasted without a word.
 */
import { h } from "../draw.js";
import { entry } from "./entry.js";

/** @type {Record<string, Record<string, string>>} */
const FORMATS = {
  email: { type: "email", autocomplete: "email" },
  uri: { type: "url" },
  date: { type: "date" },
  "date-time": { type: "datetime-local", step: "1" },
};

/** @type {import("../field.js").Kind} */
export function text(field, value, aria, at) {
  const format = field.text?.format ?? "";
  if (format === "textarea") return entry(field, h("textarea", { ...aria, rows: "4", dir: "auto" }), value, at);
  return entry(field, h("input", { type: "text", dir: "auto", ...FORMATS[format], ...aria }), value, at);
}
