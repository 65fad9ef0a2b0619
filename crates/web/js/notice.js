/**
 * A box that warns, with the looks it needs.
 */
import { h } from "./draw.js";
import { look } from "./style.js";

/** @param {string} title @param {boolean} danger @param {...Node} more */
export const notice = (title, danger, ...more) =>
  h("div", { part: danger ? "notice danger" : "notice" }, h("strong", {}, title), ...more);

look(`
.notice { background: var(--warm); border: 1px solid transparent; border-inline-start: .25rem solid light-dark(#b97500, #e0b050); border-radius: var(--round); padding: .625rem .875rem; font-size: .875rem; color: var(--text); }
.field .notice { margin-block-start: .375rem; }
.danger { background: color-mix(in srgb, var(--danger) 13%, var(--ground)); border-inline-start-color: var(--danger); }
.notice strong { display: block; }
.notice ul { display: grid; gap: .25rem; }
`);
