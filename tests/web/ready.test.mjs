/** What a form is before and after what it needs was loaded; in a file of its own, where nothing is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import "./node-worker.mjs";
import { quick } from "../../crates/web/js/check.js";
import { read, ready } from "../../crates/web/js/form.js";

test("what was provisional is settled when the form is ready", async () => {
  const form = read({
    properties: {
      ship: { type: "string", title: "Shipping address" },
      key: { type: "string", title: "API key" },
      name: { type: "string" },
      day: { type: "string", format: "date", default: "2026-02-30" },
      code: { type: "string", pattern: "^a$", default: "b" },
    },
  });
  const secrets = () => form.fields.map(({ secret }) => secret);
  const defaults = () => form.fields.map((field) => field.default).filter(Boolean);
  assert.deepEqual([...form.needs].sort(), ["format", "pattern", "secret"]);
  assert.deepEqual(secrets(), ["password", "password", undefined, undefined, "password"], "what might be a secret counts as one");
  assert.deepEqual(defaults(), ["2026-02-30", "b"]);
  assert.deepEqual(quick(form, { day: "never" }).problems, []);

  assert.equal(await ready(form), form);
  assert.deepEqual(secrets(), [undefined, "api_key", undefined, undefined, undefined]);
  assert.deepEqual(defaults(), []);
  assert.equal(quick(form, { day: "never" }).problems.length, 1);
});

test("a plain form needs nothing", () => {
  const form = read({ properties: { name: { type: "string" }, size: { enum: ["S", "M"] }, on: { type: "boolean" } }, required: ["name"] });
  assert.equal(form.needs.size, 0);
});
