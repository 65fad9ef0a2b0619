/**
 * Yes or no.
 *
 * A switch always says one of the two, so it is drawn only where the server has said which
 * one holds when nobody touches it. Otherwise a person must be able to have said neither.
 */
import { h } from "../draw.js";
import { segments } from "./choice.js";

/** @type {import("../field.js").Kind} */
export function switch_(field, value, aria, at) {
  if (field.default === undefined) {
    const { say } = at.voice;
    const drawn = segments(field, [say("label.yes"), say("label.no")], value === undefined ? value : value ? 0 : 1, aria, at);
    const read = () => [true, false][drawn.read?.()];
    return { ...drawn, read };
  }
  const control = h("input", { ...aria, type: "checkbox", role: "switch", checked: value === true });
  return { control, beside: true, read: () => control.checked };
}
