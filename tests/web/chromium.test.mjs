/** The tables that Rust runs too, in a real browser with its real workers, and a hostile pattern. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json" };
const node = execFileSync(join(root, "tests/node/install"), { encoding: "utf8" });
const { chromium } = createRequire(join(dirname(node), "../"))("playwright-core"); // lies beside that Node

/** Nothing here takes longer, unless something is wrong: machines are busy. */
const PATIENCE = 60_000;

let server, browser, page;

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
  browser = await chromium.launch({
    executablePath: process.env.MIDCALL_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"].concat(
      ["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ),
    timeout: PATIENCE,
  });
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
});

after(async () => {
  await browser?.close();
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
    const { problems } = await import("/crates/web/js/check.js");
    let turns = 0; // that others had meanwhile: none if the page stands still
    const ticking = setInterval(() => turns++, 1);
    const tried = [];
    for (const [pattern, it] of [
      ["^(a+)+$", "a".repeat(30_000) + "b"],
      ["^((a{0,90}){0,90})$", "a".repeat(30_000) + "b"],
      ["^x", "y"],
    ]) {
      const form = read({ properties: { it: { type: "string", pattern } } });
      const before = turns;
      const found = (await problems(form, { it })).length;
      tried.push({ found, othersHadTurns: turns > before });
    }
    clearInterval(ticking);
    return tried;
  });
  // The second takes too long and is not enforced; the worker that comes after it runs the third.
  assert.deepEqual(tried.map(({ found }) => found), [1, 0, 1]);
  assert.ok(tried[1].othersHadTurns, "the page stood still as long as it was tried");
});
