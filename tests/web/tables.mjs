/**
 * The tables of `fixtures/`, held against the JavaScript: what Rust's tests do with them.
 *
 * Runs in Node and in the browser alike, so it takes a way to read a file. Each function tells
 * what is wrong, case by case, and how many cases there were.
 */
import { quick, thorough } from "../../crates/web/js/check.js";
import { isSuspicious, open } from "../../crates/web/js/form.js";
import { judge } from "../../crates/web/js/link.js";
import { asks } from "../../crates/web/js/secret.js";

const CHECK = "choice choices form format group integer number pattern switch tags text".split(" ");
const LINK = "allowed confusables hidden host look_alike scheme unreadable".split(" ");
const SECRET = "descriptions disguised format harmless languages names not_names titles".split(" ");

/** Every file the tables are in; a test sees that none is left out. */
export const FILES = [
  ...CHECK.map((name) => `check/${name}.json`),
  ...LINK.map((name) => `link/${name}.json`),
  ...SECRET.map((name) => `secret/${name}.json`),
];

/** Integers beyond 2^53 stay what they are: the table is about their last digits. */
export const parse = (text) =>
  JSON.parse(text, (_, value, { source } = {}) =>
    typeof value === "number" && /^-?\d+$/.test(source) && !Number.isSafeInteger(value) ? BigInt(source) : value,
  );

/** @param {(path: string) => Promise<string>} text */
export async function checks(text) {
  const wrong = [];
  let ran = 0;
  for (const file of CHECK) {
    for (const { name, schema, cases } of parse(await text(`check/${file}.json`))) {
      const form = await open(schema);
      for (const { name: which, content, problems: expected, unchecked = [] } of cases) {
        ran++;
        const told = (found) => show(found.map(({ path, key }) => ({ path, key })));
        const found = await thorough(form, content);
        const where = `${file}: ${name}: ${which ?? show(content)}`;
        if (told(found.problems) !== show(expected)) wrong.push(`${where}: found ${told(found.problems)}, expected ${show(expected)}`);
        const named = show([...found.unchecked].sort());
        if (!expected.length && named !== show(unchecked)) wrong.push(`${where}: unchecked are ${named}, expected ${show(unchecked)}`);
        const rest = expected.filter(({ key }) => !key.endsWith(".pattern"));
        if (told(quick(form, content).problems) !== show(rest)) wrong.push(`${where}: quick differs`);
      }
    }
  }
  return { ran, wrong };
}

/** @param {(path: string) => Promise<string>} text */
export async function links(text) {
  const wrong = [];
  let ran = 0;
  for (const file of LINK) {
    for (const { name, url, asker, allowed, verdict, reasons, shown, ascii } of JSON.parse(await text(`link/${file}.json`))) {
      ran++;
      const found = judge(url, { asker, allowed });
      const told = found.refused ? "refuse" : found.warnings.length ? "warn" : "plain";
      const why = found.reasons.map(({ key }) => key.replace("mcp.elicitation.link.", ""));
      const sound = !found.url === !!found.refused && found.refused === (found.refused && found.reasons[0]);
      if (told !== verdict || show(why) !== show(reasons) || !sound) wrong.push(`${file}: ${name}: ${told} ${why}`);
      if ((shown && shown !== found.host) || (ascii && ascii !== found.ascii)) wrong.push(`${file}: ${name}: ${found.host} ${found.ascii}`);
    }
  }
  return { ran, wrong };
}

/** @param {(path: string) => Promise<string>} text */
export async function secrets(text) {
  const wrong = [];
  let ran = 0;
  for (const file of SECRET) {
    for (const { name, title, description, format, secret, by } of JSON.parse(await text(`secret/${file}.json`))) {
      if (by === "gateway") continue; // which marks it
      ran++;
      const found = asks(name, title ?? undefined, description ?? undefined, format ?? undefined);
      if (secret && !isSuspicious(name, title ?? undefined, description, format)) wrong.push(`${file}: ${name} is not suspicious`);
      if (found !== (secret ?? undefined)) wrong.push(`${file}: ${found} for ${show({ name, title, description, secret })}`);
    }
  }
  return { ran, wrong };
}

const show = (value) => JSON.stringify(value, (_, it) => (typeof it === "bigint" ? String(it) : it));
