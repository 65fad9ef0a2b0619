/** The tables that Rust runs too, in a real browser with its real workers, and a hostile pattern. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { browser, PATIENCE } from "./browser.mjs";

const root = join(import.meta.dirname, "../..");
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json" };

let server, chromium, page;

before(async () => {
  server = createServer(async ({ url }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, "http://x").pathname));
    try {
      if (path === "/") return response.setHeader("content-type", "text/html").end("<!doctype html><title>tables</title>");
      if (!/^\/(crates\/web\/js|fixtures|tests\/web)\//.test(path)) throw new Error("not served");
      const body = await readFile(join(root, path));
      response.setHeader("content-type", TYPES[extname(path)] ?? "text/plain").end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  chromium = await browser();
  page = await chromium.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});

after(async () => {
  await chromium?.close();
  server?.close();
});

for (const [name, fewest] of [
  ["checks", 350],
  ["links", 80],
  ["secrets", 100],
]) {
  test(`every case of the table of ${name} holds in Chromium`, async () => {
    const { ran, wrong } = await page.evaluate(async (name) => {
      const tables = await import("/tests/web/tables.mjs");
      return tables[name](async (path) => (await fetch("/fixtures/" + path)).text());
    }, name);
    assert.deepEqual(wrong, []);
    assert.ok(ran > fewest, `only ${ran} cases ran`);
  });
}

test("a hostile pattern does not freeze the page", async () => {
  const tried = await page.evaluate(async () => {
    const { read } = await import("/crates/web/js/form.js");
    const { thorough } = await import("/crates/web/js/check.js");
    const tried = [];
    for (const [pattern, it] of [
      ["^(a+)+$", "a".repeat(30_000) + "b"],
      ["^((a{0,90}){0,90})$", "a".repeat(30_000) + "b"],
      ["^x", "y"],
    ]) {
      const form = read({ properties: { it: { type: "string", pattern } } });
      tried.push((await thorough(form, { it })).problems.length);
    }
    return tried;
  });
  // The second takes too long and is not enforced; the worker that comes after it runs the third.
  assert.deepEqual(tried, [1, 0, 1]);
});

test("a pattern is run by a worker, so that the page doesn't wait for it", async () => {
  const turns = await page.evaluate(async () => {
    const { read } = await import("/crates/web/js/form.js");
    const { thorough } = await import("/crates/web/js/check.js");
    const { postMessage } = Worker.prototype;
    let letGo;
    Worker.prototype.postMessage = function (...message) {
      letGo = () => postMessage.apply(this, message);
    };
    try {
      const turns = [];
      const found = thorough(read({ properties: { it: { type: "string", pattern: "^z" } } }), { it: "y" }).then(() => turns.push("checked"));
      while (!letGo) await new Promise((resolve) => setTimeout(resolve));
      turns.push("the page goes on");
      letGo();
      await found;
      return turns;
    } finally {
      Worker.prototype.postMessage = postMessage;
    }
  });
  assert.deepEqual(turns, ["the page goes on", "checked"]);
});
