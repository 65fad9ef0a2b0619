/** The tables that Rust runs too, in Node. `chromium.test.mjs` runs them in a browser. */
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";
import "./node-worker.mjs";
import { FILES, checks, links, secrets } from "./tables.mjs";

const fixtures = new URL("../../fixtures/", import.meta.url);
const text = (path) => readFile(new URL(path, fixtures), "utf8");

for (const [name, table, fewest] of [
  ["check", checks, 350],
  ["link", links, 80],
  ["secret", secrets, 780],
]) {
  test(`every case of fixtures/${name} holds`, async () => {
    const { ran, wrong } = await table(text);
    assert.deepEqual(wrong, []);
    assert.ok(ran > fewest, `only ${ran} cases ran`);
  });
}

test("no table is left out", async () => {
  const found = [];
  for (const folder of ["check", "link", "secret"]) {
    for (const file of await readdir(new URL(folder, fixtures))) found.push(`${folder}/${file}`);
  }
  assert.deepEqual(found.sort(), [...FILES].sort());
});
