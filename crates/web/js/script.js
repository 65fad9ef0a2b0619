/**
 * Whether a label of a host name is written in several scripts, as UTS 39 counts them.
 */

/**
 * ASCII beside Chinese, Japanese or Korean is how those names are usually written.
 * @param {string} label
 */
export function mixesScripts(label) {
  if (SCRIPTS.some((script) => script.test(label))) return false;
  const beside = label.replace(/[\x00-\x7f]/g, "");
  return !EAST_ASIAN.some((script) => script.test(beside));
}

/** @param {string} scripts */
const only = (scripts) =>
  RegExp(`^[${scripts.replace(/ ?(\w+)/g, "\\p{scx=$1}")}\\p{sc=Zyyy}\\p{sc=Zinh}]*$`, "u");

const EAST_ASIAN = ["Hani Hira Kana", "Hani Hang", "Hani Bopo"].map((scripts) => only(scripts));

/** Those in wide use today. Whatever has letters of none of them is taken for one more script. */
const NAMES =
  "Latn Cyrl Grek Armn Hebr Arab Thaa Ethi Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai Laoo Tibt Mymr Geor Khmr Hang Hira Kana Bopo Hani Cher Cans Mong Syrc Nkoo Tfng Vaii Yiii Java Bali Lana".split(
    " ",
  );

const SCRIPTS = [
  ...EAST_ASIAN,
  ...NAMES.map((name) => only(name)),
  RegExp(`^[^${NAMES.map((name) => `\\p{sc=${name}}`).join("")}]*$`, "u"),
];
