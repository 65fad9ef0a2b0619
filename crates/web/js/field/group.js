/**
 * Fields within a field.
 */
import { h } from "../draw.js";
import { look } from "../style.js";

/** @type {import("../field.js").Kind} */
export function group(field, _value, aria, at) {
  const { "aria-required": _, ...rest } = aria; // what is required within it is marked there
  return { control: h("fieldset", { ...rest, part: "group" }, ...at.draw(field.fields ?? [])) };
}

look(`
.group { border: 1px solid var(--hair); border-radius: var(--round); padding: .5rem 1rem 1rem; display: grid; grid-template-columns: 100%; gap: 1rem; }
.group > legend { padding: 0 .375rem; margin-inline-start: -.375rem; }
`);
