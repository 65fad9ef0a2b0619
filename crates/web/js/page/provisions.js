/**
 * Whatever this page may need later, fetched while the gateway that served it is there: it may
 * have to go on without.
 */
import { load, more, NEEDS } from "../more.js";
import { LOCALES, learn } from "./words.js";

let isDone = false;

export async function provide() {
  if (isDone) return;
  isDone = true;
  const patterns = load(NEEDS).then(() => more.pattern?.prepare());
  const got = await Promise.allSettled([patterns, ...LOCALES.map(([tag]) => learn(tag))]);
  isDone = got.every(({ status }) => status === "fulfilled"); // else with the next gateway
}
