/**
 * One of several options: side by side when they are few and short, else a list.
 */
import { button, changed, clean, h } from "../draw.js";

const FEW = 4;
const SHORT = 16; // characters
const LONGEST = 200;

/** @type {import("../field.js").Kind} */
export function choice(field, value, aria, at) {
  const offers = field.offers ?? [];
  const labels = offers.map(({ label, description }) => clean(label, LONGEST) + (description ? ": " + clean(description, LONGEST) : ""));
  if (labels.length <= FEW && labels.every((label) => label.length <= SHORT)) return segments(field, labels, value, aria, at);

  const control = h(
    "select", aria,
    h("option", { value: "" }, at.voice.say("label.choose")),
    ...labels.map((label, index) => h("option", { value: index, selected: index === value, dir: "auto" }, label)),
  );
  return { control, read: () => (control.value === "" ? undefined : Number(control.value)) };
}

/**
 * Radio buttons in a row. What may be left out can also be taken back.
 *
 * @param {import("../field.js").Field} field
 * @param {string[]} labels
 * @param {number | undefined} value
 * @param {Record<string, any>} aria
 * @param {import("../field.js").At} at
 * @returns {import("../field.js").Drawn}
 */
export function segments(field, labels, value, aria, { voice: { say } }) {
  const radios = labels.map((_, index) => h("input", { type: "radio", name: aria.id, value: index, checked: index === value }));
  const clear = () => {
    for (const radio of radios) radio.checked = false;
    radios[0].focus();
    changed(radios[0]);
  };
  const control = h(
    "fieldset", { role: "radiogroup", ...aria },
    h("div", { part: "row" },
      h("div", { part: "segments" }, ...radios.map((radio, index) => h("label", {}, radio, h("bdi", {}, labels[index])))),
      !field.required && button(say("action.clear"), clear, { part: "clear" })),
  );
  return {
    control,
    read: () => {
      const chosen = radios.findIndex((radio) => radio.checked);
      return chosen < 0 ? undefined : chosen;
    },
  };
}
