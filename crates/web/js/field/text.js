/**
 * A text: one line or several, in the browser's own control for its format.
 *
 * Lengths are checked, not enforced: `maxlength` would cut what is pasted without a word.
 */
import { clean, h } from "../draw.js";
import { more } from "../more.js";
import { zone } from "../when.js";

/** @type {Record<string, Record<string, string>>} */
const FORMATS = {
  email: { type: "email", autocomplete: "email" },
  uri: { type: "url" },
  date: { type: "date" },
  "date-time": { type: "datetime-local", step: "1" },
};

/** @type {import("../field.js").Kind} */
export function text(field, held, aria, { voice }) {
  const value = held ?? "";
  const { format = "", example } = field.text ?? {};
  const placeholder = example && clean(example, 200);
  const control = format === "textarea"
    ? h("textarea", { ...aria, rows: "4", dir: "auto", placeholder })
    : h("input", { type: "text", dir: "auto", placeholder, ...FORMATS[format], ...aria });
  const shown = format === "date-time" ? more.format?.local(value) ?? "" : value;
  control.value = shown;
  return {
    control,
    hint: format === "date-time" ? voice.say("label.time_zone", { zone: zone(voice.tag) }) : undefined,
    read: () => {
      // A date that is half filled in reads as empty. It must be a problem, not left out in silence.
      if (control.validity.badInput) return null;
      return control.value === shown ? value : control.value; // unchanged: with the offset it came with
    },
  };
}
