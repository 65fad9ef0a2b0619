/**
 * A server's `pattern`, run where it cannot freeze the page.
 *
 * One worker runs all of them, each for so many steps and no more. What needs more, or hangs all
 * the same and is ended with its worker, counts as unenforced from then on: the server checks its
 * own pattern anyway.
 *
 * In: `Answers`, for one check; `unenforced`, for a form. Elsewhere: what a pattern means (`pattern-worker`).
 */
import { more } from "./more.js";

/** What the worker may take to start, and for one pattern, on the busiest machine. */
const START = 5000;
const HANGS = 2000;

/** What all patterns of one check may take together. Loading the worker is no pattern's fault. */
const TOGETHER = 1000;

/** Each of these times has so many parts. A machine that stood still for a while has used up one of them. */
const PARTS = 20;

/** Longer ones are not enforced: nobody writes them by hand. */
const LONGEST = 2000;

/** What is left of a check's time, in milliseconds. @typedef {{left: number}} Budget */

/** What is known about patterns and texts. What people typed is forgotten with it. */
export class Answers {
  /** @type {Map<string, Map<string, boolean>>} */
  #known = new Map();
  /** @type {Map<string, Set<string>>} */
  #wanted = new Map();
  #budget = { left: TOGETHER };

  /** @type {import("./check.js").Ask} */
  ask = (pattern, text) => {
    const known = this.#known.get(pattern);
    if (isRefused(pattern)) return text === undefined ? false : undefined;
    if (text === undefined ? known : known?.has(text)) return text === undefined || known?.get(text);
    const wanted = this.#wanted.get(pattern) ?? new Set();
    if (text !== undefined) wanted.add(text);
    this.#wanted.set(pattern, wanted);
  };

  /** Finds out what was asked since; whether anything new is known now. */
  async gather() {
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    if (wanted.length) await running();
    for (const [pattern, texts] of wanted) {
      const fits = await match(pattern, [...texts], this.#budget);
      const known = this.#known.get(pattern) ?? new Map();
      [...texts].forEach((text, index) => known.set(text, fits?.[index]));
      this.#known.set(pattern, known);
    }
    return wanted.length > 0;
  }
}

/**
 * The fields that have a rule which can't be run, whatever their value. What they need is loaded.
 * @param {import("./form.js").Field[]} fields
 */
export async function unenforced(fields) {
  const answers = new Answers();
  const { ask } = answers;
  const find = () => fields.filter(({ text, schema, beyond }) =>
    text?.isVain || (text?.pattern !== undefined && ask(text.pattern) === false) ||
    [schema, beyond].some((rule) => rule && more.rules?.isEnforced(rule, ask) === false));
  find();
  await answers.gather();
  return find();
}

/** Starts the worker, for a page that may not be able to later. */
export const prepare = () => (ready ??= start());

/** Patterns that cannot be run, or took too long once. */
const refused = new Set();

/** @param {string} pattern */
const isRefused = (pattern) => pattern.length > LONGEST || refused.has(pattern);

/** @type {Promise<Worker | undefined> | undefined} */
let ready;
const running = () => (ready ??= start().catch(() => void (ready = undefined)));
let turn = Promise.resolve();

/**
 * Whether each text fits; undefined if the pattern is not enforced, or its turn came too late. One
 * after the other, so that only the guilty one is ended.
 * @param {string} pattern @param {string[]} texts @param {Budget} budget @returns {Promise<boolean[] | undefined>}
 */
function match(pattern, texts, budget) {
  const answer = turn.then(() => (budget.left > 0 ? run(pattern, texts, budget) : undefined));
  turn = answer.then(() => {});
  return answer;
}

/** @param {string} pattern @param {string[]} texts @param {Budget} budget @returns {Promise<boolean[] | undefined>} */
async function run(pattern, texts, budget) {
  if (isRefused(pattern)) return;
  const worker = await running();
  if (!worker) return;
  worker.postMessage({ pattern, texts });
  const fits = await heard(worker, HANGS, budget);
  if (fits) return fits;
  refused.add(pattern);
  if (fits === undefined) {
    worker.terminate();
    ready = undefined;
  }
}

async function start() {
  const worker = new Worker(new URL("./pattern-worker.js", import.meta.url), { type: "module" });
  if (await heard(worker, START)) return worker;
  worker.terminate();
  throw new Error("the pattern worker does not start"); // tried again for the next pattern
}

/**
 * The worker's next word; undefined if it does not come in time. What that took is taken from a budget.
 * @param {Worker} worker @param {number} time @param {Budget} [budget] @returns {Promise<any>}
 */
function heard(worker, time, budget = { left: 0 }) {
  return new Promise((resolve) => {
    const since = Date.now();
    let parts = 0;
    let timer = 0;
    const end = (/** @type {any} */ word) => {
      clearTimeout(timer);
      budget.left -= Math.min(Date.now() - since, (parts * time) / PARTS);
      resolve(word);
    };
    const wait = () => {
      if (parts++ === PARTS) end(undefined);
      else timer = setTimeout(wait, time / PARTS);
    };
    wait();
    worker.onmessage = ({ data }) => end(data);
    worker.onerror = () => end(undefined);
  });
}
