// `midcall doctor` on servers of other SDKs.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AT_ONCE, BINARY, Process, SERVERS, plain, times } from "./world.mjs";

/** What it tells about a server, and how it exits. */
async function doctor(server, flags = [], env = {}) {
  const running = new Process([BINARY, "doctor", "--timeout", "280s", ...flags, "--", ...server], { env });
  const code = await running.end();
  assert.equal(running.errors, "");
  return { code, told: running.lines.join("\n") + "\n" };
}

const readme = await readFile(join(import.meta.dirname, "../../README.md"), "utf8");

describe("doctor", { concurrency: AT_ONCE }, () => {
  test("server-everything, as the README shows it", async () => {
    const { code, told } = await doctor(SERVERS.everything);
    assert.equal(code, 0);
    assert.ok(readme.includes(told), `the README should show this:\n${told}`);
  });

  // The Python SDK knows both eras, the TypeScript one of 1.x only the older one.
  for (const [sdk, revisions, eras] of [
    ["python", ["2025-11-25", "2026-07-28"], { legacy: true, modern: true }],
    ["sdk-1", ["2025-11-25"], { legacy: true, modern: false }],
    ["sdk-1.20", ["2025-06-18"], { legacy: true, modern: false }],
  ]) {
    test(sdk, async () => {
      const { code, told } = await doctor(SERVERS[sdk], ["--json", "--client-profile", "goose"]);
      const report = JSON.parse(told);
      assert.equal(code, 0);
      assert.deepEqual([report.revisions, report.eras, report.asks], [revisions, eras, "not_seen"]);
      const names = report.tools.map(({ name }) => name);
      for (const name of ["confirm", "form", "wizard", "steps"]) assert.ok(names.includes(name), name);
      const form = report.who.find(({ question }) => question === "form");
      const unless = ["choices", "tags", "titled-choice"];
      assert.deepEqual(form, { question: "form", client: "goose", route: "client", unless, otherwise: "page" });
      const links = report.who.filter(({ question }) => question.startsWith("link")).map(({ route }) => route);
      assert.deepEqual(links, sdk === "sdk-1.20" ? [] : ["page", "page"]);
    });
  }

  test("a server that prints what is no message", async () => {
    const { code, told } = await doctor(plain("noise"), ["--json"], times({ doctor_probe: "0ms" }));
    const { noise, eras } = JSON.parse(told);
    assert.equal(code, 0);
    assert.equal(noise.first, "starting up…");
    assert.deepEqual(eras, { legacy: true, modern: null }); // it answers nothing that it does not know
  });
});
