// A server that passes the runner's scenarios about questions by itself still passes them behind `midcall serve`,
// which speaks to it by stdio and to the runner by HTTP.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { ALL, AT_ONCE, BINARY, Process, folder } from "../peers/world.mjs";

const { MIDCALL_CONFORMANCE: RUNNER, MIDCALL_NODE: NODE } = process.env;
const runner = join(RUNNER, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const ASKER = [NODE, join(import.meta.dirname, "asker.mjs")];

const NOVEMBER = "2025-11-25";
const JULY = "2026-07-28";
const round = (name) => [`input-required-result-${name}`, JULY];

const QUESTIONS = [
  ["tools-call-elicitation", NOVEMBER],
  ["elicitation-sep1034-defaults", NOVEMBER],
  ["elicitation-sep1330-enums", NOVEMBER],
  ...[
    "basic-elicitation", "basic-sampling", "basic-list-roots", "request-state", "multiple-input-requests", "multi-round", "missing-input-response",
    "non-tool-request", "result-type", "unsupported-methods", "tampered-state", "capability-check", "ignore-extra-params", "validate-input",
  ].map(round),
];

/** What a server has to see to that is reached by HTTP. */
const FRONT = [
  ["server-initialize", NOVEMBER],
  ["server-session-lifecycle", NOVEMBER],
  ["ping", NOVEMBER],
  ["tools-list", NOVEMBER],
  ["tools-list", JULY],
  ["server-sse-multiple-streams", NOVEMBER],
  ["server-sse-multiple-streams", JULY],
  ["dns-rebinding-protection", NOVEMBER],
  ["dns-rebinding-protection", JULY],
  ["http-header-validation", JULY],
  ["http-custom-header-server-validation", JULY],
];

/** Plays a scenario at an address: all its checks succeed, and there is one at least. */
async function passes(url, [scenario, version]) {
  const run = new Process([NODE, runner, "server", "--url", url, "--scenario", scenario, "--spec-version", version]);
  await run.end();
  const said = run.lines.join("\n") + run.errors;
  const [, passed, all, warnings] = said.match(/Passed: (\d+)\/(\d+), 0 failed, (\d+) warnings/) ?? [];
  assert.ok(all > 0 && passed === all && warnings === "0", said);
}

let direct, behind;
before(async () => {
  const asker = new Process([...ASKER, "http"]);
  direct = (await asker.told.next(({ unreadable }) => unreadable)).unreadable;
  const config = join(folder(), "midcall.toml");
  await writeFile(config, `[upstream.asker]\ncommand = ${JSON.stringify([...ASKER, "stdio"])}\n`);
  const gateway = new Process([BINARY, "serve", "--no-open", "--config", config]);
  behind = (await gateway.told.next(({ unreadable }) => unreadable)).unreadable.split(" ")[1];
});

describe("by itself", { concurrency: AT_ONCE }, () => {
  for (const scenario of ALL ? QUESTIONS : QUESTIONS.slice(0, 1)) test(scenario.join(" "), () => passes(direct, scenario));
});

describe("behind midcall serve", { concurrency: AT_ONCE }, () => {
  for (const scenario of [...QUESTIONS, ...FRONT]) test(scenario.join(" "), () => passes(behind, scenario));
});
