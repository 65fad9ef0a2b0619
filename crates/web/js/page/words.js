/**
 * The page's own language: chosen once, changed at any time.
 */
import { voice as speaking } from "../draw.js";
import { add, load, negotiate } from "../locale.js";
import * as memory from "./memory.js";

/** The languages there are, each by its own name. */
export const LOCALES = [["en-US", "English"], ["pt-BR", "Português"]];

/** Says the catalog's texts in the chosen language. */
export let voice = speaking("en-US");

/** @param {string} key @param {Record<string, any>} [params] */
export const say = (key, params) => voice.say(key, params);

/** The time of day, as the person writes it. @param {string} stamp */
export const time = (stamp) => new Intl.DateTimeFormat(voice.tag, { timeStyle: "short" }).format(new Date(stamp));

/** Fetches what is said in a language. @param {string} tag */
export async function learn(tag) {
  const texts = await Promise.all([import(`./locales/${tag}.json`, { with: { type: "json" } }), load(tag)]);
  add(tag, texts[0].default);
}

/** Speaks the language the person chose, or else the one their browser asks for. @param {string} [chosen] */
export async function speak(chosen = memory.locale()) {
  const tag = negotiate(chosen ? [chosen] : navigator.languages);
  await learn(tag);
  voice = speaking(tag);
  document.documentElement.lang = tag;
}
