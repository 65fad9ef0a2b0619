/**
 * Whether one host is dressed up as another; the rules of `crates/core/src/link/look_alike.rs`.
 *
 * Judged is the registrable part of a name, `github.com` in `api.github.com`: who owns it owns
 * all below it. Letters of other scripts are compared by a short list of those that pass for
 * Latin ones; the gateway has Unicode's full table.
 */

/**
 * Whether `link` could be taken for `asker` although somebody else may own it. Both are host
 * names in Unicode.
 * @param {string} link @param {string} asker
 */
export function imitates(link, asker) {
  const [one, other] = [domain(link), domain(asker)];
  if (!one || !other || one.own === other.own) return false;
  return (
    lookSame(one.own, other.own) ||
    (one.name !== other.name && (lookSame(one.name, other.name) || isOneSlip(one.name, other.name))) ||
    wears(one.front, other.own)
  );
}

/** Labels that stand before a country's two letters in a public ending. */
const SECOND_LEVEL = "ac co com edu go gob gov jus leg mil ne net or org".split(" ");

/** Letters a name must have before one slip in it is taken for intent. */
const TELLING = 5;

/**
 * Of `api.github.com`: own `github.com`, name `github`, front `api.github`. Nothing for a host
 * without an ending, such as `intranet`.
 * @param {string} host
 */
function domain(host) {
  const labels = host.replace(/\.$/, "").split(".");
  const [second, country] = labels.slice(-2);
  const ending = labels.length > 1 && country.length === 2 && SECOND_LEVEL.includes(second) ? 2 : 1;
  const name = labels.length - ending - 1;
  if (name < 0) return;
  return { own: labels.slice(name).join("."), name: labels[name], front: labels.slice(0, name + 1).join(".") };
}

/**
 * Whether a full name stands in front of another ending, as in `github-com.evil.example`.
 * @param {string} front @param {string} own
 */
function wears(front, own) {
  /** @param {string} name */
  const dotted = (name) => `.${name.replaceAll("-", ".")}.`;
  return dotted(front).includes(dotted(own));
}

/** @param {string} one @param {string} other */
const lookSame = (one, other) => one !== other && drawn(one) === drawn(other);

/** Pairs of a letter and the Latin one it passes for. */
const LETTERS = new Map(
  "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwӏlοoαaρpνvιiκkυuտsօoոnսuɡgɑaıi"
    .match(/../gu)
    ?.map((pair) => /** @type {[string, string]} */ ([...pair])),
);

/**
 * A name reduced to how it looks.
 * @param {string} name
 */
const drawn = (name) =>
  [...name]
    .map((letter) => LETTERS.get(letter) ?? letter)
    .join("")
    .replaceAll("0", "o")
    .replaceAll("1", "l")
    .replaceAll("rn", "m")
    .replaceAll("vv", "w");

/**
 * Whether one letter was added, lost or changed, or two neighbours swapped. Names that differ
 * in a digit only (`node1`, `node2`) are numbered, not forged.
 * @param {string} link @param {string} asker
 */
function isOneSlip(link, asker) {
  const [one, other] = [[...link], [...asker]];
  if (other.length < TELLING) return false;
  while (one.length && one[0] === other[0]) one.shift(), other.shift();
  while (one.length && one.at(-1) === other.at(-1)) one.pop(), other.pop();
  const [a, b] = [one.join(""), other.join("")];
  if (one.length + other.length === 1) return true;
  if (one.length === 1 && other.length === 1) return !/^\d\d$/.test(a + b);
  return one.length === 2 && other.length === 2 && one[0] === other[1] && one[1] === other[0];
}
