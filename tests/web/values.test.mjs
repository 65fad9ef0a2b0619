/** From what people type to content, and back; the rules of `crates/core/src/form/fill.rs`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import "./node-worker.mjs";
import { read } from "../../crates/web/js/form.js";
import { local } from "../../crates/web/js/moment.js";
import { load } from "../../crates/web/js/more.js";
import * as values from "../../crates/web/js/values.js";

await load(["unusual", "rare", "format"]); // so that forms can be read at once

process.env.TZ = "America/Sao_Paulo"; // three hours west, all year

const object = (properties, required = []) => ({ type: "object", properties, required });
const asking = (it, required = []) => object({ it }, required);

/** What is sent when these controls were touched and the others left alone. */
function sent(schema, touched = {}, tag = "en-US") {
  const form = read(schema);
  const typed = values.typed(form);
  for (const [path, value] of Object.entries(touched)) typed.set(path, value);
  const { content, problems } = values.content(form, typed, tag);
  const wrong = problems.map(({ path, key }) => `${path} ${key.split(".").at(-1)}`);
  return { content: JSON.parse(JSON.stringify(content)), wrong: wrong.join(", ") };
}
const content = (...given) => sent(...given).content;

const EVERYTHING = object(
  {
    name: { type: "string" },
    note: { type: "string", default: "" },
    city: { type: "string", default: "Lisbon" },
    age: { type: "integer", default: 0 },
    news: { type: "boolean", default: false },
    size: { enum: ["", "S"], type: "string" },
    extras: { type: "array", items: { type: "string", enum: ["a"] }, default: ["a"] },
    wrong: { type: "integer", default: "seven" },
    agree: { type: "boolean" },
    address: object({ street: { type: "string" }, country: { type: "string", default: "PT" } }, ["street"]),
    prefs: object({ dark: { type: "boolean", default: true } }),
  },
  ["name"],
);

test("what was left alone is filled and what was emptied is left out", () => {
  assert.deepEqual(content(EVERYTHING), {
    note: "", city: "Lisbon", age: 0, news: false, extras: ["a"], prefs: { dark: true },
  });
  assert.deepEqual(content(EVERYTHING, { "/city": "", "/name": "", "/size": 0, "/extras": [], "/agree": false }), {
    note: "", age: 0, news: false, size: "", extras: [], agree: false, prefs: { dark: true },
  });
  assert.deepEqual(content(EVERYTHING, { "/address/street": "Rua A" }).address, { street: "Rua A", country: "PT" });
});

test("lists, choices and switches that say nothing are left out", () => {
  const schema = object({
    tags: { type: "array", items: { type: "string" } },
    some: { type: "array", items: { enum: ["a", "b"] } },
    one: { enum: [1, 2], default: 2 },
    on: { type: "boolean" },
  });
  assert.deepEqual(content(schema), { one: 2 });
  assert.deepEqual(content(schema, { "/one": undefined }), {}, "an optional choice can be cleared");
  assert.deepEqual(content(schema, { "/tags": ["x"], "/some": [1, 0], "/one": 0, "/on": false }), {
    tags: ["x"], some: ["b", "a"], one: 1, on: false,
  });
  assert.deepEqual(content({ ...schema, required: ["tags"] }), { one: 2, tags: [] }, "none is an answer where there must be one");
  assert.deepEqual(content(asking({ type: "array", items: { type: "string" }, minItems: 1, default: ["x"] }), { "/it": [] }), {});
});

test("null stands where nothing else does and it is a value", () => {
  const maybe = { anyOf: [{ type: "string" }, { type: "null" }] };
  assert.deepEqual(content(asking({ ...maybe, default: null })), { it: null });
  assert.deepEqual(content(asking(maybe)), {});
  assert.deepEqual(content(asking(maybe, ["it"])), { it: null });
  assert.deepEqual(content(asking(maybe, ["it"]), { "/it": "x" }), { it: "x" });
});

test("groups are there when they must be or something was said", () => {
  const home = object({ city: { type: "string" }, more: object({ zip: { type: "string" } }) }, ["city"]);
  assert.deepEqual(content(asking(home)), {});
  assert.deepEqual(content(asking(home, ["it"])), { it: {} });
  assert.deepEqual(content(asking(home), { "/it/more/zip": "1" }), { it: { more: { zip: "1" } } });
  const both = asking({ ...object({ a: { type: "integer" }, b: { type: "integer", default: 2 } }), default: { a: 1 } });
  assert.deepEqual(content(both), { it: { a: 1, b: 2 } }, "a group's default is filled too");
});

test("numbers are read as people write them", () => {
  for (const [kind, text, expected, tag] of [
    ["number", "1.5", 1.5],
    ["number", " -2 ", -2],
    ["number", "+3", 3],
    ["number", ".5", 0.5],
    ["number", "1e3", 1000],
    ["number", "1,5", 1.5],
    ["number", "1,234", "not_number"],
    ["number", "1,234", 1.234, "pt-BR"],
    ["number", "1.234,5", "not_number", "pt-BR"],
    ["number", "1.000", "not_number", "pt-BR"],
    ["number", "-1.000.000", "not_number", "pt-BR"],
    ["number", "1.50", 1.5, "pt-BR"],
    ["integer", "1.000", "not_integer", "pt-BR"],
    ["integer", "1.000", 1],
    ["number", "1,234,567", "not_number"],
    ["number", "0x10", "not_number"],
    ["number", "Infinity", "not_number"],
    ["number", "1e999", "not_number"],
    ["number", "five", "not_number"],
    ["integer", "5", 5],
    ["integer", "5.0", 5],
    ["integer", "5.5", "not_integer"],
    ["integer", "five", "not_integer"],
    ["integer", "9007199254740991", 9007199254740991],
    ["integer", "9007199254740993", "too_large_to_keep"],
    ["integer", "0", 0],
  ]) {
    const { content, wrong } = sent(asking({ type: kind }), { "/it": text }, tag);
    assert.deepEqual(typeof expected === "string" ? wrong : content.it, typeof expected === "string" ? `/it ${expected}` : expected, text);
  }
  const kept = read(asking({ type: "integer", default: 9007199254740993n }));
  assert.equal(values.content(kept, values.typed(kept)).content.it, 9007199254740993n, "a default is sent as it stands");
});

test("JSON is read, and told if it is none or its digits would be lost", () => {
  const any = asking({});
  assert.deepEqual(content(any, { "/it": '{"a": [1, null]}' }), { it: { a: [1, null] } });
  assert.deepEqual(content(any, { "/it": '""' }), { it: "" });
  assert.deepEqual(content(any, { "/it": " " }), {});
  assert.equal(sent(any, { "/it": "{" }).wrong, "/it not_json");
  assert.equal(sent(any, { "/it": "[".repeat(5000) + "]".repeat(5000) }).wrong, "/it not_json");
  assert.equal(sent(any, { "/it": "[9007199254740993]" }).wrong, "/it too_large_to_keep");
  assert.equal(sent(any, { "/it": "[1e300]" }).wrong, "");
  assert.equal(values.typed(read(asking({ default: { a: 1 } }))).get("/it"), '{\n  "a": 1\n}');
});

test("a local moment gets the person's offset", () => {
  const at = asking({ type: "string", format: "date-time", default: "2027-03-09T14:30:00Z" });
  assert.equal(content(at).it, "2027-03-09T14:30:00Z", "a default is sent as it stands");
  assert.equal(content(at, { "/it": "2027-03-09T14:30" }).it, "2027-03-09T14:30:00-03:00");
  assert.equal(content(at, { "/it": "2027-03-09T14:30:15" }).it, "2027-03-09T14:30:15-03:00");
  assert.equal(content(at, { "/it": "tomorrow" }).it, "tomorrow");
  assert.equal(local("2027-03-09T14:30:00Z"), "2027-03-09T11:30");
  assert.equal(local("2027-03-09T14:30:15+02:00"), "2027-03-09T09:30:15");
  assert.equal(local("soon"), "");
});

test("earlier content fills the controls, and nothing else does", () => {
  const form = read(EVERYTHING);
  const typed = values.typed(form, { name: "Ada", extras: [], address: { street: "Rua A" } });
  const said = Object.fromEntries([...typed].filter(([, value]) => value !== "" && value !== undefined));
  assert.deepEqual(said, { "/name": "Ada", "/extras": [], "/address/street": "Rua A" });
});

test("names that every object has are names", () => {
  const schema = JSON.parse('{"properties": {"__proto__": {"type": "string"}, "toString": {"type": "string"}}}');
  const form = read(schema);
  const typed = values.typed(form);
  assert.equal(JSON.stringify(values.content(form, typed).content), "{}");
  typed.set("/__proto__", "a").set("/toString", "b");
  assert.equal(JSON.stringify(values.content(form, typed).content), '{"__proto__":"a","toString":"b"}');
  assert.equal(values.typed(form, {}).get("/toString"), "");
});

test("what could not be read is told in the order of the form, and not as missing", async () => {
  const form = read(object({ name: { type: "string" }, age: { type: "integer" }, code: { type: "string", pattern: "^a$" } }, ["name", "age"]));
  const typed = values.typed(form).set("/age", "old").set("/code", "b");
  const keys = (found) => found.problems.map(({ path, key }) => `${path} ${key.split(".").at(-1)}`).join(", ");
  assert.equal(keys(await values.checked(form, typed)), "/name required, /age not_integer, /code pattern");
  assert.equal(keys(values.checkedQuickly(form, typed)), "/name required, /age not_integer");
});

test("a group in which something could not be read was not left alone", () => {
  const group = asking(object({ city: { type: "string" }, floor: { type: "integer" } }, ["city"]));
  assert.deepEqual(sent(group, { "/it/floor": "top" }), { content: { it: {} }, wrong: "/it/floor not_integer" });
});

test("more than a megabyte is not sent", () => {
  assert.equal(sent(asking({ type: "string" }), { "/it": "x".repeat(1024 * 1024) }).wrong, " too_big");
});
