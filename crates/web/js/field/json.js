/**
 * What a form cannot express: a JSON value, written by hand.
 */
import { h } from "../draw.js";
import { entry } from "./entry.js";

/** @type {import("../field.js").Kind} */
export function json(field, value, aria, at) {
  const control = h("textarea", { ...aria, rows: "5", part: "code", dir: "ltr", spellcheck: "false", autocapitalize: "off" });
  return { ...entry(field, control, value, at), hint: at.voice.say("label.json") };
}
