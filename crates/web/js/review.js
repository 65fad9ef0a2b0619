/**
 * What is about to be sent, to be read once more.
 *
 * Up to four fields are seen at one glance, with their values in them: they are their own
 * review, and asking twice would only teach people to click. A longer form has scrolled away
 * by the time it is sent, with defaults in it that nobody may have looked at.
 */
import { clean, h, words } from "./draw.js";

const GLANCE = 4;

/** Whether a form should be read once more. @param {import("./form.js").Field[]} fields */
export const long = (fields) => leaves(fields) > GLANCE;

/** @param {import("./form.js").Field[]} fields @returns {number} */
const leaves = (fields) => fields.reduce((sum, field) => sum + (field.fields ? leaves(field.fields) : 1), 0);

/**
 * @param {import("./form.js").Field[]} fields
 * @param {any} content   what will be sent
 * @param {import("./draw.js").Voice} voice
 * @returns {HTMLElement}
 */
export function review(fields, content, voice) {
  return h("dl", { part: "review" }, ...fields.map((field) => {
    const value = content && Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    const inner = field.fields && value && review(field.fields, value, voice);
    return h("div", {}, h("dt", {}, words(field.label, 200)), inner ? h("dd", {}, inner) : shown(field, value, voice));
  }));
}

/** @param {import("./form.js").Field} field @param {any} value @param {import("./draw.js").Voice} voice */
function shown(field, value, { say }) {
  if (value === undefined || value === null) return h("dd", { part: "empty" }, say("label.left_empty"));
  if (field.secret) return h("dd", {}, "••••••••");
  /** @param {any} one @returns {string} */
  const text = (one) => {
    const offer = field.offers?.find((offer) => JSON.stringify(offer.value) === JSON.stringify(one));
    if (offer) return clean(offer.label, 200);
    if (typeof one === "boolean") return say(one ? "label.yes" : "label.no");
    return typeof one === "string" ? one : JSON.stringify(one, null, 2);
  };
  const several = Array.isArray(value) && field.kind !== "json";
  return h("dd", { dir: "auto" }, several ? value.map(text).join(", ") || say("label.left_empty") : text(value));
}
