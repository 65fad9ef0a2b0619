/**
 * The page's own language: chosen once, changed at any time.
 */
import { voice as speaking } from "../draw.js";
import { add, load, negotiate } from "../locale.js";
import { moment } from "../when.js";
import * as memory from "./memory.js";

/** The languages there are, each by its own name. */
export const LOCALES = [["en-US", "English"], ["pt-BR", "Português"]];

/** Says the catalog's texts in the chosen language. */
export let voice = speaking("en-US");

/** @param {string} key @param {Record<string, any>} [params] */
export const say = (key, params) => voice.say(key, params);

/** The time of day, as the person writes it, with the day unless that is today. @param {string} stamp */
export const time = (stamp) => moment(voice.tag, stamp);

/** What this page says in other words than the element does by itself: `page.action.reject` for `action.reject`. */
const INSTEAD = /\.page\.(action|label)\./;

/** Fetches what is said in a language. @param {string} tag */
export async function learn(tag) {
  const texts = await Promise.all([import(`./locales/${tag}.json`, { with: { type: "json" } }), load(tag)]);
  const ours = texts[0].default;
  const other = Object.keys(ours).filter((key) => INSTEAD.test(key)).map((key) => [key.replace(".page.", "."), ours[key]]);
  add(tag, { ...ours, ...Object.fromEntries(other) });
}

/** Speaks the language the person chose, or else the one their browser asks for. @param {string} [chosen] */
export async function speak(chosen = memory.locale()) {
  const tag = negotiate(chosen ? [chosen] : navigator.languages);
  await learn(tag);
  voice = speaking(tag);
  document.documentElement.lang = tag;
}
