/**
 * How much of a stranger's schema is looked at; as in `crates/core/src/limits.rs`.
 *
 * A definition may be written once and meant by two hundred fields, so that what the bytes of a
 * schema bound is not what its form takes: a form in all has bounds of its own.
 */
import { size } from "./json.js";
import { FormError } from "./keyword.js";

/** Characters of a schema, and of a name; options of one choice; groups within groups. */
export const LIMITS = { schema: 256 * 1024, name: 256, options: 2000, nesting: 4, message: 64 * 1024 };

/** Different patterns of one form. Those beyond it are not enforced. */
const MOST_PATTERNS = 50;

/** What a form may still have in all. */
export class Allowance {
  /** @type {Set<string>} */
  #patterns = new Set();

  #left = {
    fields: 200,
    options: 10_000, // each counted wherever a `$ref` repeats it
    words: 256 * 1024, // characters that people read; counted like options
    inlined: 1024 * 1024, // characters that following `$ref`s adds
  };

  /** Whether a pattern is one too many. @param {string | undefined} pattern */
  isVain(pattern) {
    if (pattern === undefined) return false;
    if (this.#patterns.size < MOST_PATTERNS) this.#patterns.add(pattern);
    return !this.#patterns.has(pattern);
  }

  /** Counts what stands here though it was written elsewhere. @param {unknown} schema @throws {FormError} */
  inline(schema) {
    this.#spend("inlined", size(schema, LIMITS.schema));
  }

  /** @param {number} count @throws {FormError} */
  offer(count) {
    this.#spend("options", count);
  }

  /** One more field. @throws {FormError} */
  ask() {
    this.#spend("fields", 1);
  }

  /** Counts what people read. @param {...(string | undefined)} words @throws {FormError} */
  read(...words) {
    this.#spend("words", words.join("").length);
  }

  /** @param {"fields" | "options" | "words" | "inlined"} what @param {number} much */
  #spend(what, much) {
    if ((this.#left[what] -= much) < 0) throw new FormError(`the form has more ${what} in all than are read`);
  }
}
