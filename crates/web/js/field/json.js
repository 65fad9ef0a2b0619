/**
 * What a form cannot express: a JSON value, written by hand.
 */
import { h } from "../draw.js";
import { secret } from "./secret.js";

/** @type {import("../field.js").Kind} */
export function json(field, value, aria, at) {
  const control = h("textarea", { ...aria, rows: "5", part: "code", dir: "ltr", spellcheck: "false", autocapitalize: "off" });
  return { ...secret(field, control, value, at), hint: at.voice.say("label.json") };
}
