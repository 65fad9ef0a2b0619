/**
 * Every text a person can see, in every language there is; as `crates/core/src/catalog.rs` says them.
 *
 * A text is a string, or `{"one": …, "other": …}` where the parameter `count` decides; `{name}`
 * stands for a parameter.
 *
 * @typedef {{ [key: string]: string | { one: string, other: string } }} Texts
 * @typedef {{ [name: string]: string | number | bigint }} Params
 */
import english from "./locales/en-US.json" with { type: "json" };

/**
 * The text of `key`. Nothing here fails, because a person is waiting: an unknown key is returned
 * as it is, a parameter that is not given stays visible as `{name}`, and a locale that is not
 * loaded speaks English.
 * @param {string} tag @param {string} key @param {Params} [params]
 */
export function say(tag, key, params = {}) {
  const texts = loaded[tag] ?? loaded["en-US"];
  const isPortuguese = texts === loaded["pt-BR"];
  if (!Object.hasOwn(texts, key)) return key;
  const found = texts[key];
  const size = typeof params.count === "string" ? NaN : Math.abs(Number(params.count));
  const text = typeof found === "string" ? found : (isPortuguese ? size < 2 : size === 1) ? found.one : found.other;
  return text.replace(/\{(.*?)\}/g, (as, name) => {
    if (!Object.hasOwn(params, name)) return as;
    const value = params[name];
    if (typeof value === "string") return value;
    const number = String(value).replace("e+", "e");
    return isPortuguese ? number.replace(".", ",") : number;
  });
}

/**
 * Makes a locale ready for `say`. Only what every form says in English is always there.
 * @param {string} tag
 */
export async function load(tag) {
  if (!Object.hasOwn(FILES, tag)) return;
  const files = await Promise.all(FILES[tag]());
  loaded[tag] = Object.assign({}, ...files.map((file) => file.default), loaded[tag]); // what a page has added stays
}

/** @type {{ [tag: string]: () => Promise<{ default: Texts }>[] }} */
const FILES = {
  "en-US": () => [import("./locales/en-US.more.json", { with: { type: "json" } })],
  "pt-BR": () => [import("./locales/pt-BR.json", { with: { type: "json" } }), import("./locales/pt-BR.more.json", { with: { type: "json" } })],
};

/**
 * Adds the texts of a page around the element to a locale that is loaded.
 * @param {string} tag @param {Texts} texts
 */
export function add(tag, texts) {
  Object.assign(loaded[tag], texts);
}

/**
 * The best locale for what a person prefers: `navigator.languages`, a tag, or an
 * `Accept-Language` list with weights. Regions do not matter: the other Portuguese is nearer
 * than English.
 * @param {string | readonly string[]} languages
 */
export function negotiate(languages) {
  let best = "en-US";
  let most = 0;
  for (const range of String(languages).split(/[,:]/)) {
    const [tag, ...members] = range.split(";").map((member) => member.trim());
    const weight = Number(members.find((member) => member.startsWith("q="))?.slice(2) ?? 1);
    const [language] = tag.toLowerCase().split(/[-_.@]/);
    const ours = language === "pt" ? "pt-BR" : language === "en" || language === "*" ? "en-US" : undefined;
    if (ours && weight > most && weight <= 1) [best, most] = [ours, weight];
  }
  return best;
}

/** @type {{ [tag: string]: Texts }} */
const loaded = { "en-US": english };
