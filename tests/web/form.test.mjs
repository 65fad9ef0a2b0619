/** What becomes of a schema, as `crates/core/tests/core/form.rs` tells it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import "./node-worker.mjs";
import { thorough } from "../../crates/web/js/check.js";
import { FormError, open, read } from "../../crates/web/js/form.js";
import { load } from "../../crates/web/js/more.js";
import { isMultiple } from "../../crates/web/js/number.js";
import { parse } from "./tables.mjs";

await load(["unusual"]); // so that forms can be read at once

/** A form of one field, called `it`. */
const asking = (it) => ({ type: "object", properties: { it } });

const kinds = (fields) =>
  fields.flatMap((field) => [`${field.path} ${field.kind}${field.nullable ? "?" : ""}`, ...kinds(field.fields ?? [])]);

const told = async (schema, content) => {
  const { problems } = await thorough(read(schema), content);
  return problems.map(({ path, key }) => `${path} ${key.split(".").at(-1)}`).join(", ");
};

const lines = (table) => table.trim().split("\n").map((line) => line.split("=>").map((part) => part.trim()));

test("what peers send is read as they mean it", () => {
  const pydantic = {
    $defs: {
      Color: { enum: ["red", "green"], title: "Color", type: "string" },
      Home: { properties: { city: { type: "string" } }, required: ["city"], type: "object" },
    },
    properties: {
      name: { anyOf: [{ minLength: 1, type: "string" }, { type: "null" }], default: null },
      color: { $ref: "#/$defs/Color", default: "red" },
      colors: { items: { $ref: "#/$defs/Color" }, type: "array" },
      maybe: { anyOf: [{ $ref: "#/$defs/Color" }, { type: "null" }], default: null },
      size: { enum: [1, 2], type: "integer" },
      only: { const: "x", type: "string" },
      tags: { items: { type: "string" }, type: "array", uniqueItems: true },
      home: { $ref: "#/$defs/Home" },
      meta: { additionalProperties: { type: "integer" }, type: "object" },
      either: { anyOf: [{ type: "integer" }, { type: "string" }] },
    },
    required: ["colors", "home", "token"],
    type: "object",
  };
  const form = read(pydantic);
  assert.equal(
    kinds(form.fields).join(", "),
    "/name text?, /color choice, /colors choices, /maybe choice?, /size choice, /only choice, /tags tags, " +
      "/home group, /home/city text, /meta json, /either json, /token json",
  );
  assert.deepEqual(form.fields.filter(({ required }) => required).map(({ name }) => name), ["colors", "home", "token"]);
});

test("options are read with their titles", () => {
  const table = `
    {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]} => r Red, g Green
    {"type": "string", "enum": ["r", 1, "g"], "enumNames": ["Red", "One", "Green"]} => r Red, g Green
    {"type": "string", "enum": ["r", "g"], "enumNames": ["Red"]} => r Red, g g
    {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g"}]} => r Red, g g
    {"type": "array", "items": {"anyOf": [{"const": "r", "title": "Red"}]}} => r Red
    {"type": "integer", "enum": [1, 2], "enumNames": ["One", "Two"]} => 1 One, 2 Two
    {"type": ["string", "null"], "enum": [null, "a"], "enumNames": ["None", "A"]} => a A
    {"enum": ["a", "a", true]} => a a, true true
  `;
  for (const [field, expected] of lines(table)) {
    const [{ offers }] = read(asking(JSON.parse(field))).fields;
    assert.equal(offers.map(({ value, label }) => `${value} ${label}`).join(", "), expected, field);
  }
});

test("a default is used if the field takes it", async () => {
  const table = `
    {"type": "integer", "default": "seven"} => undefined
    {"type": "integer", "default": 0} => 0
    {"type": "string", "default": "", "minLength": 1} => undefined
    {"type": "string", "default": null} => undefined
    {"type": ["string", "null"], "default": null} => null
    {"type": "string", "enum": ["a"], "default": "b"} => undefined
    {"type": "array", "items": {"enum": ["a"]}, "default": ["a"]} => ["a"]
    {"type": "string", "format": "date", "default": "2026-02-30"} => undefined
    {"type": "string", "pattern": "^a$", "default": "b"} => undefined
    {"type": "string", "pattern": "^a$", "default": "a"} => "a"
    {"type": "string", "not": {"const": "a"}, "default": "a"} => undefined
  `;
  for (const [field, expected] of lines(table)) {
    const { fields } = await open(asking(JSON.parse(field)));
    assert.equal(`${JSON.stringify(fields[0].default)}`, expected, field);
  }
});

test("words beside a $ref win over those it leads to", () => {
  const [it] = read({
    $defs: { Color: { type: "string", enum: ["r", "g"], title: "Color", default: "r" } },
    properties: { it: { $ref: "#/$defs/Color", title: "Paint", default: "g" } },
  }).fields;
  assert.deepEqual([it.label, it.default], ["Paint", "g"]);
});

test("secrets are seen in text and number fields only", async () => {
  const secret = async (it) => (await open(asking(it))).fields[0].secret;
  assert.equal(await secret({ type: "string", title: "Password" }), "password");
  assert.equal(await secret({ type: "integer", title: "Your PIN" }), "pin");
  assert.equal(await secret({ type: "string", format: "password" }), "password");
  assert.equal(await secret({ type: "boolean", title: "Password" }), undefined);
  assert.equal(await secret({ type: "string", enum: ["a"], title: "Password" }), undefined);
  assert.equal(await secret({ type: "string", title: "Shipping address" }), undefined);
});

test("nonsense is refused", () => {
  for (const schema of [
    [],
    true,
    null,
    "{}",
    { type: "string" },
    { type: 1 },
    { properties: [] },
    { required: "name" },
    { required: [1] },
    { title: 1 },
    { additionalProperties: 0 },
    ...[
      5,
      { type: "sting" },
      { type: [] },
      { type: "string", minLength: -1 },
      { type: "string", minLength: 1.5 },
      { type: "string", pattern: 1 },
      { type: "number", minimum: "1" },
      { type: "number", multipleOf: 0 },
      { enum: [] },
      { type: "string", enum: [1] },
      { enum: "a" },
      { oneOf: {} },
      { oneOf: [{ const: "a", title: 1 }] },
      { type: "array", items: { type: "sting" } },
      { type: "array", items: { type: "string" }, uniqueItems: 1 },
      { properties: { "a/b": { type: "x" } } },
    ].map(asking),
  ]) {
    assert.throws(() => read(schema), FormError, JSON.stringify(schema));
  }
  assert.throws(() => read(asking({ properties: { "a/b": { type: "x" } } })), /`\/properties\/it\/properties\/a~1b\/type`/);
});

test("limits hold at their edge", () => {
  const many = (count) => Object.fromEntries(Array.from({ length: count }, (_, n) => ["f" + n, { type: "string" }]));
  assert.equal(read({ properties: many(200) }).fields.length, 200);
  assert.throws(() => read({ properties: many(201) }), FormError);
  assert.throws(() => read({ properties: many(200), required: ["one more"] }), FormError);
  const options = (count) => asking({ enum: Array.from({ length: count }, (_, n) => n) });
  assert.equal(read(options(2000)).fields[0].offers.length, 2000);
  assert.throws(() => read(options(2001)), FormError);
  assert.throws(() => read({ properties: { ["n".repeat(257)]: {} } }), FormError);
  assert.throws(() => read({ description: "d".repeat(256 * 1024) }), FormError);
  const fields = (count, more) => ({ properties: Object.fromEntries(Array.from({ length: count }, (_, n) => ["f" + n, { enum: Array.from({ length: 1000 }, (_, n) => n) }])), ...more });
  assert.equal(read(fields(10)).fields.length, 10);
  assert.throws(() => read(fields(10, { required: ["one"], additionalProperties: { const: 1 } })), /more options in all/);
  const twice = (length) => ({ $defs: { it: { description: "d".repeat(length) } }, properties: { a: { $ref: "#/$defs/it" }, b: { $ref: "#/$defs/it" } } });
  assert.equal(read(twice(128 * 1024)).fields.length, 2);
  assert.throws(() => read(twice(128 * 1024 + 1)), /more words in all/);
  const eight = (length) => ({ $defs: { it: { x: "d".repeat(length) } }, properties: Object.fromEntries([..."abcdefgh"].map((name) => [name, { $ref: "#/$defs/it" }])) });
  assert.equal(read(eight(128 * 1024 - 20)).fields.length, 8);
  assert.throws(() => read(eight(128 * 1024)), /more inlined in all/);
  let deep = asking({ type: "boolean" });
  for (let n = 0; n < 5; n++) deep = asking(deep);
  assert.equal(kinds(read(deep).fields).at(-1), "/it/it/it/it/it json");
});

test("what a form cannot express is held against its schema", async () => {
  const table = `
    {} takes null =>
    {} takes [{"a": 1}] =>
    false takes 1 => /it json_unfit
    {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes [{"a": 1}] =>
    {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes [{}] => /it json_unfit
    {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes [] => /it json_unfit
    {"type": "array", "items": {"type": "object", "required": ["a"]}, "minItems": 1} takes "[]" => /it json_unfit
    {"type": "object", "additionalProperties": {"type": "integer"}} takes {"a": 1} =>
    {"type": "object", "additionalProperties": {"type": "integer"}} takes {"a": "1"} => /it json_unfit
    {"type": ["string", "integer"]} takes 1 =>
    {"type": ["string", "integer"]} takes "1" =>
    {"type": ["string", "integer"]} takes 1.5 => /it json_unfit
    {"enum": [[1, 2], null]} takes [1, 2.0] =>
    {"enum": [[1, 2], null]} takes null =>
    {"enum": [[1, 2], null]} takes [2, 1] => /it json_unfit
    {"type": "string", "minLength": 2, "not": {"const": "root"}} takes "ada" =>
    {"type": "string", "minLength": 2, "not": {"const": "root"}} takes "root" => /it json_unfit
    {"type": "string", "minLength": 2, "not": {"const": "root"}} takes "a" => /it too_short
    {"type": "string", "enum": ["a", "abc"], "maxLength": 2} takes "a" =>
    {"type": "string", "enum": ["a", "abc"], "maxLength": 2} takes "abc" => /it json_unfit
    {"type": "string", "format": "uuid"} takes "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" =>
    {"type": "string", "format": "uuid"} takes "f81d4fae" => /it format
    {"type": "string", "format": "uuid"} takes 1 => /it not_text
    {"type": "string", "format": "uint32"} takes "any" =>
    {"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1} takes {"b": 1} =>
  `;
  await hold(table);
  const either = { type: "object", anyOf: [{ required: ["mail"] }, { required: ["phone"] }] };
  assert.equal(await told(either, {}), " json_unfit", "the form itself has an empty path");
  assert.equal(await told(either, { phone: "1" }), "");
});

test("corners are judged as JSON Schema does", async () => {
  await hold(String.raw`
    {"type": ["string", "null"], "oneOf": [{"const": "a"}]} takes null => /it not_an_option
    {"type": ["string", "null"], "not": {"type": "null"}} takes null => /it not_text, /it json_unfit
    {"type": ["string"], "enum": ["a"]} takes "a" =>
    {"type": "integer"} takes -9223372036854775809 => /it too_large_to_keep
    {"properties": {"a": {"type": "string"}}, "additionalProperties": false} takes {"z": 1, "a": 1} => /it/a not_text, /it/z unknown_field
    {"properties": {}, "patternProperties": {"^x-": {}}, "additionalProperties": false} takes {"x-a": "1"} =>
    {"properties": {}, "patternProperties": {"^x-": {}}, "additionalProperties": false} takes {"y-a": "1"} => /it json_unfit
    {"properties": {"a": {"type": "string"}}, "unevaluatedProperties": false} takes {"a": "1"} =>
    {"properties": {"a": {"type": "string"}}, "unevaluatedProperties": false} takes {"b": "1"} => /it json_unfit
    {"type": "array", "items": {"type": "string"}, "unevaluatedItems": false} takes ["a"] =>
    {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}} takes [1, "a"] =>
    {"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}} takes ["a", "a"] => /it json_unfit
    {"type": "number", "minimum": 1, "exclusiveMinimum": true} takes 1 => /it not_above
    {"type": "number", "minimum": 1, "exclusiveMinimum": true} takes 0.5 => /it not_above
    {"type": "number", "maximum": 1, "exclusiveMaximum": false} takes 1 =>
    {"type": "number", "exclusiveMinimum": 0} takes 0 => /it not_above
    {"title": null, "type": "string"} takes "a" =>
    {"allOf": [{"type": "string", "maxLength": 1}], "title": "T"} takes "ab" => /it too_long
    {"oneOf": [{"type": "string", "enum": ["a", "b"]}, {"const": "c", "description": "C"}]} takes "d" => /it not_an_option
    {"type": "string", "minLength": null, "maxLength": null, "enum": null} takes "a" =>
    {"required": ["x1"], "properties": {}, "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false} takes {"x1": 5} =>
    {"required": ["x1"], "properties": {}, "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false} takes {"x1": "5"} => /it json_unfit
    {"type": ["string", "null"], "enum": [null]} takes null =>
    {"properties": {}, "required": ["t"], "additionalProperties": {"type": "integer"}} takes {"t": "x"} => /it/t not_integer
    {"type": "string", "pattern": "^.$"} takes "\r" => /it pattern
    {"type": "string", "format": "email"} takes "Ada <ada@example.com>" => /it email
    {"type": "object", "properties": {}, "minProperties": 1} takes {} => /it json_unfit
    {"type": "string", "not": {"pattern": "^a"}} takes "abc" => /it json_unfit
    {"type": "string", "not": {"pattern": "^a"}} takes "b" =>
    {"type": "string", "not": {"pattern": "(?=a)"}} takes "abc" =>
    {"type": "string", "not": {"const": "a"}, "allOf": [{"pattern": "(?=x)"}, {}]} takes "a" =>
    {"type": "string", "pattern": "^a{3,2}$"} takes "b" =>
    {"type": "string", "pattern": "^a{2}$"} takes "aaa" => /it pattern
    {"type": "string", "pattern": "^(ab|c){1,2}$"} takes "abc" =>
    {"type": "string", "pattern": "^(ab|c){1,2}$"} takes "abcc" => /it pattern
    {"type": "string", "pattern": "^[^\\]\\-x]$"} takes "y" =>
    {"type": "string", "pattern": "^\\-]$"} takes "-]" =>
    {"type": "object", "anyOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false} takes {"a": 1} =>
    {"type": "object", "anyOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false} takes {"b": 1} => /it json_unfit
    {"oneOf": [{"type": "number"}, {"type": "integer"}]} takes 1.5 =>
    {"oneOf": [{"type": "number"}, {"type": "integer"}]} takes 1 => /it json_unfit
    {"anyOf": [{"type": "string"}, {"type": "null"}], "maxLength": 1} takes "ab" => /it json_unfit
    {"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "z$"}]} takes "bz" =>
    {"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "z$"}]} takes "by" => /it json_unfit
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "type": "object"} takes {"a": 1} => /it json_unfit
    {"type": "object", "dependentRequired": {"a": ["b"]}} takes {"a": 1} => /it json_unfit
    {"type": "array", "contains": {"const": 1}, "maxContains": 1} takes [1, 2] =>
    {"type": "array", "contains": {"const": 1}, "maxContains": 1} takes [1, 1] => /it json_unfit
    {"type": "object", "propertyNames": {"maxLength": 1}} takes {"ab": 1} => /it json_unfit
    {"type": "array", "items": {}, "uniqueItems": true} takes [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}] => /it json_unfit
  `);
});

test("formats end where the gateway's end", async () => {
  const [host, name] = ["b".repeat(63), "a".repeat(64)];
  await hold(`
    {"type": "string", "format": "email"} takes "${name}@${host}.${host}" =>
    {"type": "string", "format": "email"} takes "${name}a@${host}" => /it email
    {"type": "string", "format": "email"} takes "a@${host}b" => /it email
    {"type": "string", "format": "email"} takes "a@[IPv6:::1]" =>
    {"type": "string", "format": "uri"} takes "http://[::1]:80/" =>
    {"type": "string", "format": "uri"} takes "http://[:::1]/" => /it uri
    {"type": "string", "format": "ipv4"} takes "127.0.0.1" =>
    {"type": "string", "format": "ipv4"} takes "127.0.0.01" => /it format
    {"type": "string", "format": "ipv6"} takes "::ffff:1.2.3.4" =>
    {"type": "string", "format": "ipv6"} takes "1::2::3" => /it format
    {"type": "string", "format": "time"} takes "12:00:00Z" =>
    {"type": "string", "format": "time"} takes "12:00" => /it format
    {"type": "string", "format": "duration"} takes "P1DT2H" =>
    {"type": "string", "format": "duration"} takes "P1D2H" => /it format
    {"type": "string", "format": "hostname"} takes "a-b.example" =>
    {"type": "string", "format": "hostname"} takes "-a.example" => /it format
    {"type": "string", "format": "uri-reference"} takes "/a?b#c" =>
    {"type": "string", "format": "uri-reference"} takes "a b" => /it format
    {"type": "string", "format": "json-pointer"} takes "/a~0b" =>
    {"type": "string", "format": "json-pointer"} takes "/a~b" => /it format
  `);
});

test("a pattern nobody writes by hand is not enforced", async () => {
  assert.equal(await told(asking({ type: "string", pattern: "a".repeat(2001) }), { it: "b" }), "");
  assert.equal(await told(asking({ type: "string", pattern: "a".repeat(2000) }), { it: "b" }), "/it pattern");
});

test("a pattern is enforced as far as it takes steps, however busy the machine is", async () => {
  const it = { type: "string", pattern: "^((a?){50}){20}b$" };
  assert.equal(await told(asking(it), { it: "a".repeat(20) }), "/it pattern", "some 50,000 steps");
  assert.equal(await told(asking(it), { it: "a".repeat(20_000) }), "", "some 50,000,000");
});

test("patterns are enforced up to a number in all", async () => {
  const fields = (pattern) => ({ properties: Object.fromEntries(Array.from({ length: 60 }, (_, n) => ["f" + n, { type: "string", pattern: pattern(n) }])) });
  const content = Object.fromEntries(Array.from({ length: 60 }, (_, n) => ["f" + n, "x"]));
  const count = async (schema) => (await thorough(await open(schema), content)).problems.length;
  assert.equal(await count(fields((n) => `^a{${n + 1}}$`)), 50);
  assert.equal(await count(fields(() => "^a$")), 60, "one that is repeated counts once");
});

test("a step divides as people count", () => {
  assert.ok(isMultiple(2 ** 60, 1024), "every digit of a double counts");
  assert.ok(isMultiple(1e300, 0.1) && isMultiple(5e-324, 5e-324) && !isMultiple(1e-7, 1e-6));
});

async function hold(table) {
  for (const [given, expected] of lines(table)) {
    const [field, value] = given.split(" takes ").map(parse);
    assert.equal(await told(asking(field), { it: value }), expected, given);
  }
}
