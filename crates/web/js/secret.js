/**
 * Which fields of a form ask for a secret, by their words in ten languages.
 *
 * The same matcher as `crates/core/src/secret.rs`, which explains it. Both read `secret.json` and
 * run `fixtures/secret/`. Names and titles are labels, where a phrase alone tells. Descriptions
 * are prose, where it must be asked for or open the sentence. Unsure means no.
 *
 * Letters of other scripts that look like Latin ones are left to the gateway, which has Unicode's
 * table of them and marks what it finds.
 */
import table from "./secret.json" with { type: "json" };

/**
 * The kind of secret that a field asks for, if any: "password", "api_key", …
 * @param {string} name @param {string} [title] @param {string} [description] @param {string} [format]
 * @param {unknown} [marked]  what the gateway found
 * @returns {string | undefined}
 */
export function asks(name, title = "", description = "", format, marked) {
  return (
    find(name, NAME) ??
    find(title, TITLE) ??
    find(title, PROSE) ??
    find(description, PROSE) ??
    KINDS.find((kind) => kind === marked) ??
    (format === "password" ? format : undefined)
  );
}

/** Characters looked at in each text. */
const READ = 2000;

/** Letters that a phrase needs before it counts in pieces, as in "pass word". */
const TELLING = 6;

const [NAME, TITLE, PROSE] = [0, 1, 2];
const KINDS = Object.keys(table.secrets);
const MARKS = /\p{M}/gu;
const CJK = /[\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]+/gu;

/** Chinese and Japanese words, which are written without spaces. The longest fits first. */
const UNSPACED = RegExp(
  [...new Set(JSON.stringify(table).normalize("NFKD").replace(MARKS, "").match(CJK))].sort((a, b) => b.length - a.length).join("|"),
  "g",
);

/** Long words that also count at the end of another, as in "userpassword". @type {string[]} */
const ENDINGS = [];

/** Every word of a phrase that needs no help. @type {Set<string>} */
const KNOWN = new Set();

/** The words of a list. @param {string[]} list */
const all = (list) => new Set(list.flatMap((entry) => clauses(entry)[0]));
const [ABOUT, OTHER, DENIED, ASKING, TURN, SILENT] = [table.about, table.other, table.denied, table.asking, table.turn, table.silent].map(all);
TURN.add(",");

/**
 * By a phrase without its spaces: the phrase, the rank of its secret, and whether it needs no help.
 * @type {Map<string, { phrase: string, rank: number, alone: boolean }[]>}
 */
const PHRASES = new Map();
for (const [rank, row] of Object.values(table.secrets).entries()) {
  const { phrases, words } = /** @type {{ phrases: string[], words?: string[] }} */ (row);
  for (const entry of [...phrases, ...(words ?? [])]) {
    const [whole] = clauses(entry);
    const parts = spoken(whole);
    const alone = phrases.includes(entry);
    for (const part of parts) KNOWN[alone ? "add" : "delete"](part);
    for (const joined of new Set([parts.join(""), whole.join("")])) {
      PHRASES.set(joined, [...(PHRASES.get(joined) ?? []), { phrase: parts.join(" "), rank, alone }]);
    }
  }
}
for (const [joined, [{ phrase, alone }]] of PHRASES) if (alone && joined === phrase && /^\p{L}{8,}$/u.test(joined)) ENDINGS.push(joined);

/** Every beginning of a phrase. */
const BEGINNINGS = new Set([...PHRASES.keys()].flatMap((joined) => [...joined].map((_, at) => joined.slice(0, at + 1))));

/** The most telling secret that any reading of a text asks for. @param {string} text @param {number} kind */
function find(text, kind) {
  const visible = text.replace(/[\p{DI}\p{Cf}]/gu, "").slice(0, 2 * READ);
  const plain = [...visible].slice(0, READ).join("").normalize("NFKD").replace(MARKS, "").slice(0, READ);
  const leet = /[013457@$!|]/.test(plain) ? ["oieast", "oleast"] : [];
  const ranks = ["", ...leet].flatMap((letters) => clauses(plain, letters).flatMap((clause) => ranksIn(clause, kind)));
  return KINDS[Math.min(...ranks)];
}

/** The ranks of the secrets that a clause asks for. @param {string[]} words @param {number} kind */
function ranksIn(words, kind) {
  /** @type {number[]} */
  const found = [];
  for (let start = 0; start < words.length; start++) {
    /** @type {string[]} */
    const parts = [];
    let whole = "";
    for (let end = start; end < words.length && words[end] !== ","; end++) {
      whole += words[end];
      parts.push(...spoken([words[end]]));
      if (!BEGINNINGS.has(whole) && !BEGINNINGS.has(parts.join(""))) break;
      const isName = kind === NAME && start === 0 && end === words.length - 1;
      const mayJoin = end === start || whole.length >= (isName ? TELLING - 1 : TELLING);
      for (const joined of new Set([parts.join(""), whole])) {
        for (const { phrase, rank, alone } of PHRASES.get(joined) ?? []) {
          const fits = parts.join(" ") === phrase || (mayJoin && joined === whole);
          if (fits && isAsked(lastSpoken(words, start), words.slice(end + 1).find(isSpoken), kind, alone)) found.push(rank);
        }
      }
    }
  }
  return found;
}

/** @param {string} word */
function isSpoken(word) {
  return !SILENT.has(word);
}

/** Without silent words. @param {string[]} words */
function spoken(words) {
  return words.filter(isSpoken);
}

/** Words before a phrase that may change what it means. Those before them aren't looked at. */
const NEAR = 12;

/** The last words before a place, without silent ones. @param {string[]} words @param {number} end */
function lastSpoken(words, end) {
  /** @type {string[]} */
  const found = [];
  for (let at = end - 1; at >= 0 && found.length < NEAR; at--) if (isSpoken(words[at])) found.unshift(words[at]);
  return found;
}

/**
 * Whether the words around a phrase, up to `NEAR` of those before, let it mean a secret that this field is for. `alone` says
 * that the phrase needs no help.
 * @param {string[]} before @param {string | undefined} next @param {number} kind @param {boolean} alone
 */
function isAsked(before, next, kind, alone) {
  const near = before.slice(before.lastIndexOf(",") + 1);
  if (near.some((word) => DENIED.has(word)) || OTHER.has(near.at(-1) ?? "") || ABOUT.has(next ?? "")) return false;
  if (kind !== PROSE) return alone || !next || next === ",";
  // Up to four words may stand between: "your GitHub personal access token".
  const lead = before.slice(-5).findLast((word) => ASKING.has(word) || TURN.has(word));
  return lead ? ASKING.has(lead) : alone && before.length <= 3;
}

/**
 * The words of a text, sentence by sentence: lower case, without accents, apostrophes and closing
 * digits, `camelCase` and Chinese taken apart, letters that stand alone put together. Commas,
 * colons and slashes stay as ",". With `leet`, the digits 013457 stand for its letters.
 * @param {string} text @param {string} [leet]
 */
function clauses(text, leet = "") {
  const plain = text.normalize("NFKD").replace(MARKS, "");
  return (leet ? symbols(plain, leet[1]) : plain)
    .replace(/(?<=\p{Lowercase})(?=\p{Uppercase})|(?<=[\p{Alphabetic}\p{N}])(?=\p{Uppercase}\p{Lowercase})/gu, " ")
    .replace(/['’]/g, "")
    .toLowerCase()
    .replace(MARKS, "")
    .replace(/[,:/]/g, " , ")
    .replace(/(?<=[\p{Alphabetic}\p{N}])\.(?=[\p{Alphabetic}\p{N}])/gu, " ")
    .replace(/[.!?;()\n。、]/gu, ".")
    .replace(/[^\p{Alphabetic}\p{N},.]/gu, " ")
    .replace(/(?<![^ .])(?:[^ ,.] +){2,}[^ ,.](?![^ .])/gu, (letters) => letters.replaceAll(" ", ""))
    .replace(CJK, (run) => ` ${run.replace(UNSPACED, " $& ")} `)
    .split(".")
    .map((clause) => clause.split(" ").flatMap((word) => pieces(word, leet)));
}

/** Letters for the symbols that stand for them beside others: `p@$$word`, `p!n`. @param {string} text @param {string} one */
function symbols(text, one) {
  return text
    .replace(/(?<=[\p{L}\p{N}])[!|](?=[\p{L}\p{N}])/gu, one)
    .replace(/\p{L}?[@$]+\p{L}?/gu, (run) => (/\p{L}/u.test(run) ? run.replaceAll("@", "a").replaceAll("$", "s") : run));
}

/** A word without closing digits, in two if it ends in one that counts by itself. @param {string} word @param {string} leet */
function pieces(word, leet) {
  const trimmed = word.replace(/\d+$/, "");
  const [whole, counted] = [word, trimmed].map((it) => it.replace(/[013457]/g, (digit) => leet["013457".indexOf(digit)] ?? digit));
  const read = trimmed && leet && KNOWN.has(whole) ? whole : counted; // a digit at the end mostly counts the fields
  // The rest has to be letters as it was written: 1password is a program.
  const ending = ENDINGS.find((ending) => read.endsWith(ending) && /^\p{L}+$/u.test(word.slice(0, read.length - ending.length)));
  return (ending ? [read.slice(0, -ending.length), ending] : [read]).filter(Boolean);
}
