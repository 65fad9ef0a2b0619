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

look(`.code { font: .875rem/1.5 ui-monospace, monospace; }`);
