/**
 * What this tab remembers across a reload, and what the browser remembers of the person's taste.
 *
 * Drafts and what was before are in `sessionStorage`: for this tab only, gone when it closes. A
 * draft goes when its question does. The element leaves secrets out of what it gives away.
 */

const DRAFT = "midcall.draft.";
const PAST = "midcall.past";
const LOCALE = "midcall.locale";

/** What was typed for a question, if anything was. @param {string} id */
export const draft = (id) => read(sessionStorage, DRAFT + id)?.typed;

/** @param {string} id @param {unknown} typed @param {string} from  the gateway that asks */
export const keepDraft = (id, typed, from) => write(sessionStorage, DRAFT + id, { typed, from });

/** @param {string} id */
export const dropDraft = (id) => sessionStorage.removeItem(DRAFT + id);

/** The questions that there are drafts for, and the gateways that ask them. @returns {{id: string, from: string}[]} */
export const drafts = () => Object.keys(sessionStorage).filter((name) => name.startsWith(DRAFT))
  .map((name) => ({ id: name.slice(DRAFT.length), from: read(sessionStorage, name)?.from }));

/** @returns {import("./queue.js").Past[]} */
export const past = () => read(sessionStorage, PAST) ?? [];

/** @param {import("./queue.js").Past[]} past */
export const keepPast = (past) => write(sessionStorage, PAST, past);

/** The language the person chose, if they did. @returns {string | undefined} */
export const locale = () => read(localStorage, LOCALE);

/** @param {string} tag */
export const keepLocale = (tag) => write(localStorage, LOCALE, tag);

/** @param {Storage} storage @param {string} name */
function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name) ?? "null") ?? undefined;
  } catch {
    return undefined; // Another version may have written it.
  }
}

/** @param {Storage} storage @param {string} name @param {unknown} value */
function write(storage, name, value) {
  try {
    storage.setItem(name, JSON.stringify(value));
  } catch {
    // A full storage forgets; nothing else depends on it.
  }
}
