/**
 * Runs patterns away from the page, in time that grows with pattern times text and no faster.
 *
 * The browser's own engine backtracks: `^(a+)+$` takes it minutes on thirty letters. So it is
 * only asked about single characters here. A pattern becomes a small machine whose states are
 * followed all at once, as in the engine that the gateway has; what no such machine can do
 * (look-around, back-references) is not enforced, here as there. No answer can be wrong because
 * of it: the server holds its own pattern against what arrives.
 *
 * In: `{pattern, texts}`. Out: for each text whether it fits, or null if the pattern is not
 * enforced. The first message only says that the worker runs.
 *
 * @typedef {{ test: (character: string) => boolean, next: number }} Step  takes one character
 * @typedef {{ fork: number[] }} Fork  goes on at several places
 * @typedef {{ holds: (before: string, after: string) => boolean, next: number }} Assertion
 * @typedef {(next: number) => number} Build  adds states that lead to `next`; says where they begin
 */

/** States of one machine. A repetition that is counted repeats its states. */
const MOST_STATES = 10_000;

/**
 * Steps of one machine over all its texts: about a tenth of a second. Counted, not timed, so that
 * a pattern is enforced on a busy machine exactly if it is on an idle one.
 */
const MOST_STEPS = 2_000_000;

/** Groups within groups. */
const DEEPEST = 200;

globalThis.onmessage = ({ data }) => postMessage(run(data.pattern, data.texts));
postMessage(true);

/** @param {string} pattern @param {string[]} texts @returns {boolean[] | null} */
function run(pattern, texts) {
  try {
    const machine = new Machine(pattern);
    return texts.map((text) => machine.fits(text));
  } catch {
    return null;
  }
}

class Machine {
  /** @type {(Step | Fork | Assertion)[]} */
  #states = [];
  #start;
  #steps = 0;

  /** @param {string} pattern */
  constructor(pattern) {
    const end = this.#add({ fork: [] });
    this.#start = new Parser(pattern, (state) => this.#add(state)).whole()(end);
  }

  /** @param {Step | Fork | Assertion} state */
  #add(state) {
    if (this.#states.length >= MOST_STATES) throw new Error("too large");
    return this.#states.push(state) - 1;
  }

  /**
   * Whether the pattern is found anywhere in the text. State 0 is the end.
   * @param {string} text
   */
  fits(text) {
    const met = new Int32Array(this.#states.length).fill(-1);
    const characters = [...text];
    /** @type {Step[]} */
    let now = [];
    for (let at = 0; at <= characters.length; at++) {
      const [before, after] = [characters[at - 1] ?? "", characters[at] ?? ""];
      const waiting = [this.#start, ...now.map((step) => step.next).reverse()];
      now = [];
      for (let place; (place = waiting.pop()) !== undefined; ) {
        if (++this.#steps > MOST_STEPS) throw new Error("too slow");
        if (met[place] === at) continue;
        met[place] = at;
        if (place === 0) return true;
        const state = this.#states[place];
        if ("fork" in state) waiting.push(...state.fork);
        else if ("test" in state) after && state.test(after) && now.push(state);
        else if (state.holds(before, after)) waiting.push(state.next);
      }
    }
    return false;
  }
}

/** Reads ECMAScript's patterns as its `u` flag does; what it does not know, it throws at. */
class Parser {
  #rest;
  #depth = 0;
  #add;

  /** @param {string} pattern @param {(state: Step | Fork | Assertion) => number} add */
  constructor(pattern, add) {
    this.#rest = pattern;
    this.#add = add;
  }

  /** @returns {Build} */
  whole() {
    const build = this.#alternatives();
    if (this.#rest) throw new Error("a bracket too many");
    return build;
  }

  /** @param {RegExp} what  anchored */
  #take(what) {
    const found = what.exec(this.#rest);
    if (found) this.#rest = this.#rest.slice(found[0].length);
    return found;
  }

  /** @returns {Build} */
  #alternatives() {
    const all = [this.#sequence()];
    while (this.#take(/^\|/)) all.push(this.#sequence());
    return (next) => (all.length > 1 ? this.#add({ fork: all.map((build) => build(next)) }) : all[0](next));
  }

  /** @returns {Build} */
  #sequence() {
    /** @type {Build[]} */
    const all = [];
    while (this.#rest && !/^[|)]/.test(this.#rest)) all.push(this.#repeated());
    return (next) => all.reduceRight((place, build) => build(place), next);
  }

  /** @returns {Build} */
  #repeated() {
    const assertion = this.#assertion();
    if (assertion) return (next) => this.#add({ holds: assertion, next });
    const build = this.#group() ?? this.#character();
    const found = this.#take(/^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/);
    if (!found) return build;
    const [, sign, from, open, to] = found;
    const least = sign ? Number(sign === "+") : Number(from);
    const most = sign ? (sign === "?" ? 1 : Infinity) : open ? (to ? Number(to) : Infinity) : least;
    if (most < least || (to && !open)) throw new Error("no such number of times");
    return (next) => this.#times(build, least, most, next);
  }

  /** @param {Build} build @param {number} least @param {number} most @param {number} next */
  #times(build, least, most, next) {
    let place = next;
    if (most === Infinity) {
      const loop = /** @type {Fork} */ ({ fork: [next] });
      place = this.#add(loop);
      loop.fork.push(build(place));
    } else {
      for (let n = least; n < most; n++) place = this.#add({ fork: [next, build(place)] });
    }
    for (let n = 0; n < least; n++) place = this.#again(build, place);
    return place;
  }

  /**
   * An empty group adds no states, however often it is repeated: the count itself must cost.
   * @param {Build} build @param {number} place
   */
  #again(build, place) {
    return this.#add({ fork: [build(place)] });
  }

  #assertion() {
    const found = this.#take(/^(?:[\^$]|\\[bB])/)?.[0];
    if (found && /^[*+?{]/.test(this.#rest)) throw new Error("nothing to repeat");
    return found && ASSERTIONS[found];
  }

  /** @returns {Build | undefined} */
  #group() {
    if (!this.#take(/^\((?:\?:|\?<[\p{ID_Start}$_][\p{ID_Continue}$]*>|(?!\?))/u)) return;
    if (++this.#depth > DEEPEST) throw new Error("too deep");
    const build = this.#alternatives();
    if (!this.#take(/^\)/)) throw new Error("a bracket is missing");
    this.#depth--;
    return build;
  }

  /** @returns {Build} */
  #character() {
    const source = this.#take(CLASS) ?? this.#take(ESCAPE) ?? this.#take(PLAIN);
    if (!source) throw new Error("not understood");
    const test = remembered(RegExp(`^${bare(source[0])}$`, "u"));
    return (next) => this.#add({ test, next });
  }
}

const CLASS = /^\[(?:[^\]\\]|\\.)*\]/su;
const ESCAPE = /^\\(?:[dDsSwWtnrfv]|c[a-zA-Z]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]+\}|[pP]\{[\w=]+\}|[!-/:-@[-`{-~])/;
const PLAIN = /^[^\\()[*+?{|]/su;

/**
 * A character's source as the `u` flag wants it: it escapes fewer signs than people do, and
 * takes no closing bracket for itself.
 * @param {string} source
 */
const bare = (source) =>
  /^[\]}]/.test(source) ? "\\" + source : source.replace(/\\(.)/gsu, (as, sign) => (/[!"#%&',:;<=>@_`~]/.test(sign) ? sign : as));

/** @param {string} character */
const isWord = (character) => /^\w$/.test(character);

/** @type {{ [source: string]: (before: string, after: string) => boolean }} */
const ASSERTIONS = {
  "^": (before) => !before,
  $: (_, after) => !after,
  "\\b": (before, after) => isWord(before) !== isWord(after),
  "\\B": (before, after) => isWord(before) === isWord(after),
};

/** @param {RegExp} class_ @returns {(character: string) => boolean} */
function remembered(class_) {
  /** @type {Map<string, boolean>} */
  const known = new Map();
  return (character) => {
    const found = known.get(character) ?? class_.test(character);
    known.set(character, found);
    return found;
  };
}
