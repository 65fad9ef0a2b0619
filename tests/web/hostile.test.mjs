/** Whatever a server sends, reading and checking end soon and never throw anything but a FormError. */
import assert from "node:assert/strict";
import { test } from "node:test";
import "./node-worker.mjs";
import { thorough } from "../../crates/web/js/check.js";
import { FormError, open, read } from "../../crates/web/js/form.js";
import { load } from "../../crates/web/js/more.js";
import { judge } from "../../crates/web/js/link.js";
import { asks } from "../../crates/web/js/secret.js";
import * as values from "../../crates/web/js/values.js";

await load(["unusual"]); // so that forms can be read at once

const asking = (it, more = {}) => ({ type: "object", properties: { it }, ...more });

/** By the time that this process computed: what a busy machine does meanwhile doesn't count. */
async function soon(what, work) {
  const since = process.cpuUsage();
  const result = await work();
  const { user } = process.cpuUsage(since);
  assert.ok(user < 60_000_000, `${what} took ${user} µs`); // what is not bounded takes years
  return result;
}

const tells = async (schema, content) => (await thorough(await open(schema), content)).problems.map(({ key }) => key.split(".").at(-1));

test("a schema that could run without end is not enforced", async () => {
  const doubling = { d40: { type: "string" } };
  for (let n = 0; n < 40; n++) doubling["d" + n] = { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] };
  const wide = { w9: { type: "null" } };
  for (let n = 0; n < 9; n++) wide["w" + n] = { allOf: Array(50).fill({ $ref: `#/$defs/w${n + 1}` }) };
  let nested = { type: "array" };
  for (let n = 0; n < 110; n++) nested = { not: nested };
  for (const [why, it, $defs] of [
    ["a circle", { $ref: "#" }, {}],
    ["a circle of definitions", { $ref: "#/$defs/a" }, { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }],
    ["recursion", { $ref: "#/$defs/a" }, { a: { type: "array", items: { $ref: "#/$defs/a" } } }],
    ["elsewhere", { $ref: "https://example.com/schema" }, {}],
    ["nothing there", { $ref: "#/$defs/absent" }, {}],
    ["2^40 paths", { $ref: "#/$defs/d0" }, doubling],
    ["2^40 paths among options", { anyOf: [{ $ref: "#/$defs/d0" }, { type: "array" }] }, doubling],
    ["null and 2^40 paths", { oneOf: [{ $ref: "#/$defs/d0" }, { type: "null" }] }, doubling],
    ["null and 50^9 paths", { oneOf: [{ $ref: "#/$defs/w0" }, { type: "null" }] }, wide],
    ["not a schema", { type: "array", minItems: "two" }, {}],
    ["many nodes", { type: "object", not: { enum: Array(20_000).fill(1) } }, {}],
  ]) {
    assert.deepEqual(await soon(why, () => tells(asking(it, { $defs }), { it: [[1]] })), [], why);
  }
  await soon("nested", () => tells(asking(nested), { it: [] }));
});

test("what is too deep or too long is refused before any work", () => {
  let deep = {};
  for (let n = 0; n < 60_000; n++) deep = { properties: { a: deep } };
  assert.throws(() => read(deep), FormError);
  let list = [];
  for (let n = 0; n < 100_000; n++) list = [list];
  assert.throws(() => read(asking({ default: list })), FormError);
  assert.throws(() => read(asking({ enum: Array(300_000).fill(0) })), FormError);
});

test("a hostile pattern is ended, or needs no end", async () => {
  const growing = ["^(a+)+$", "^(a|a)*$", "^(.*a){20}$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"];
  for (const pattern of growing) {
    const it = "a".repeat(5000) + "!";
    await soon(pattern, () => tells(asking({ type: "string", pattern }), { it }));
  }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => ["f" + n, { type: "string", pattern: `^((a?){50}){20}b{${n}}$` }]));
  const content = Object.fromEntries(Object.keys(many).map((name) => [name, "a".repeat(400)]));
  await soon("a hundred of them", () => thorough(read({ properties: many }), content));
});

test("what is beyond the bounds of patterns is named", async () => {
  const unchecked = async (properties, content) => [...(await thorough(await open({ type: "object", properties }), content)).unchecked];
  const text = { a: { type: "string", pattern: "^é" }, b: { type: "string", pattern: "^b" } };
  const bytes = (count) => "é".repeat(count / 2);
  for (const [content, expected] of [
    [{ a: bytes(40_000) }, []],
    [{ a: bytes(40_002) }, ["/a"]],
    [{ a: bytes(40_000), b: "b" }, ["/b"]],
  ]) {
    assert.deepEqual(await unchecked(text, content), expected);
  }
  const names = Array.from({ length: 60 }, (_, n) => "f" + n);
  const many = Object.fromEntries(names.map((name, n) => [name, { type: "string", pattern: "^a|" + n }]));
  const content = Object.fromEntries(names.map((name) => [name, "a"]));
  assert.deepEqual(await unchecked(many, content), names.slice(50).map((name) => "/" + name));
});

test("a machine that stands still for a while has its patterns enforced", async () => {
  const { postMessage } = Worker.prototype;
  const still = new Int32Array(new SharedArrayBuffer(4));
  Worker.prototype.postMessage = function (message) {
    postMessage.call(this, message);
    queueMicrotask(() => Atomics.wait(still, 0, 0, 2_500)); // once its answer is waited for: longer than one pattern may take, and than all
    Worker.prototype.postMessage = postMessage;
  };
  try {
    const it = { type: "string", pattern: "^b$" };
    assert.deepEqual(await tells({ type: "object", properties: { it, other: { type: "string", pattern: "^c$" } } }, { it: "a", other: "a" }), ["pattern", "pattern"]);
  } finally {
    Worker.prototype.postMessage = postMessage;
  }
});

test("large content is looked at no longer than needed", async () => {
  const it = Array.from({ length: 200_000 }, (_, n) => n);
  const tags = { type: "array", items: { type: "string" }, uniqueItems: true };
  const found = await soon("numbers for tags", () => tells(asking(tags), { it }));
  assert.ok(found.length >= 100 && found.length < 110, `${found.length} problems`);
  const any = { type: "array", items: { anyOf: Array.from({ length: 500 }, (_, n) => ({ type: "string", minLength: n })) } };
  assert.deepEqual(await soon("a list against many options", () => tells(asking(any), { it })), []);
});

test("random schemas and values never break anything", async () => {
  let seed = 20260728;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  const keywords =
    "type enum const $ref allOf anyOf oneOf not if then else minLength maxLength pattern format minimum maximum multipleOf items prefixItems contains minItems maxItems uniqueItems properties patternProperties additionalProperties required title description default __proto__ toString unevaluatedProperties dependentRequired".split(" ");
  const words = ["string", "object", "array", "null", "integer", "#/$defs/it", "#", "a", "", "^a(", "date", "__proto__", "(?=a)"];
  const draw = (depth) => {
    const kind = random(depth ? 9 : 5);
    if (kind === 0) return words[random(words.length)];
    if (kind === 1) return random(5) - 2;
    if (kind === 2) return [true, false, null][random(3)];
    if (kind === 3) return [0.5, 1e300, 2n ** 63n][random(3)];
    if (kind === 4) return words[random(5)];
    if (kind === 5) return Array.from({ length: random(3) }, () => draw(depth - 1));
    const object = Object.create(null);
    for (let n = random(4); n >= 0; n--) object[keywords[random(keywords.length)]] = draw(depth - 1);
    return object;
  };
  let forms = 0;
  for (let n = 0; n < 4000; n++) {
    const schema = { $defs: { it: draw(3) }, properties: { it: draw(4), type: draw(3) } };
    try {
      const form = await open(schema);
      forms++;
      const content = { it: draw(3), type: draw(2) };
      await thorough(form, content);
      const { content: filled } = values.content(form, values.typed(form, content));
      await thorough(form, filled);
      values.content(form, values.typed(form));
    } catch (error) {
      const it = JSON.stringify(schema, (_, value) => (typeof value === "bigint" ? String(value) : value));
      assert.ok(error instanceof FormError, `${error.stack} for ${it}`);
    }
  }
  assert.ok(forms > 400, `only ${forms} were forms`);
});

test("marks without end are not sorted", async () => {
  const title = "a" + "\u0301\u0316".repeat(120_000); // sorting these takes ten seconds
  await soon("marks", () => Array.from({ length: 20 }, () => read(asking({ type: "string", title }))));
});

test("a long $ref leads nowhere", async () => {
  for (const [length, expected] of [[900, ["json_unfit"]], [100_000, []]]) {
    const name = "n".repeat(length);
    const it = { type: "array", not: { allOf: Array(2000).fill({ $ref: "#/$defs/far" }) } };
    const $defs = { far: { $ref: "#/$defs/" + name }, [name]: { minItems: 1 } };
    assert.deepEqual(await tells(asking(it, { $defs }), { it: [1] }), expected);
  }
});

test("long words are read no further than needed", async () => {
  const long = "Enter your ".repeat(1_000_000);
  await soon("secret", () => asks(long, long, long));
  assert.equal(asks("value", undefined, "x".repeat(2000) + ". Enter your password."), undefined);
  const link = judge("https://example.com/" + "a".repeat(1 << 20));
  assert.equal(link.refused.key, "mcp.elicitation.link.too_long");
  assert.ok(link.sent.length < 2000 && link.sent.endsWith("…"));
  assert.equal(judge("https://example.com/\u202egnp").sent, "https://example.com/<U+202E>gnp");
  assert.equal(judge(`https://example.com/${"a".repeat(8192 - 20)}`).warnings.length, 1);
});
