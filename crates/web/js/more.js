/**
 * What only some forms need, loaded when one does: a form of plain fields stays small.
 *
 * @typedef {"format" | "pattern" | "rules" | "secret"} Need
 */
const IMPORTS = {
  format: () => import("./format.js"),
  pattern: () => import("./pattern.js"),
  rules: () => import("./schema.js"),
  secret: () => import("./secret.js"),
};

/** @type {{ [need in Need]?: Awaited<ReturnType<typeof IMPORTS[need]>> }} */
export const more = {};

/** @param {Iterable<Need>} needs */
export const load = (needs) =>
  Promise.all([...needs].map(async (need) => Object.assign(more, { [need]: more[need] ?? (await IMPORTS[need]()) })));
