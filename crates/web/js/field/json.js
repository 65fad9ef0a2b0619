/**
 * What a form cannot express: a JSON value, written by hand.
 */
import { h } from "../draw.js";
import { look } from "../style.js";

/** @type {import("../field.js").Kind} */
export function json(_field, value = "", aria, at) {
  const control = h("textarea", { ...aria, rows: "5", part: "code", dir: "ltr", spellcheck: "false", autocapitalize: "off" }, value);
  return { control, read: () => control.value, hint: at.voice.say("label.json") };
}

/** What was written, or what is wrong with it. @param {string} text @param {(name: string) => undefined} wrong */
export function parse(text, wrong) {
  let isKept = true;
  /** @param {string} _ @param {any} value @param {{ source?: string }} [context] */
  const watch = (_, value, context) => {
    if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? String(value))) isKept = false;
    return value;
  };
  try {
    const value = JSON.parse(text, watch);
    return isKept ? value : wrong("too_large_to_keep");
  } catch {
    return wrong("not_json");
  }
}

look(`.code { font: .875rem/1.5 ui-monospace, monospace; }`);
