/**
 * What only some forms need, loaded when one does: a form of plain fields stays small.
 *
 * @typedef {keyof typeof IMPORTS} Need
 */
const IMPORTS = {
  format: () => import("./formats.js"),
  pattern: () => import("./pattern.js"),
  rules: () => import("./schema.js"),
  rare: () => import("./field/rare.js"),
  secret: () => import("./field/secret.js"),
  unusual: () => import("./unusual.js"),
  review: () => import("./review.js"),
  link: () => import("./consent.js"),
  notice: () => import("./notice.js"),
  menu: () => import("./menu.js"),
  danger: () => import("./danger.js"),
};

/** @type {{ [need in Need]?: Awaited<ReturnType<typeof IMPORTS[need]>> }} */
export const more = {};

/** @param {Iterable<Need>} needs */
export const load = (needs) =>
  Promise.all([...needs].map(async (need) => Object.assign(more, { [need]: more[need] ?? (await IMPORTS[need]()) })));

/** All of it, for a page that may lose the place it came from. */
export const NEEDS = /** @type {Need[]} */ (Object.keys(IMPORTS));
