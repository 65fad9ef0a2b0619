// The runner's scenarios for clients, with a client behind `midcall wrap --url`.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AT_ONCE, BINARY, Process } from "../peers/world.mjs";

const { MIDCALL_NODE: NODE, MIDCALL_CONFORMANCE: RUNNER } = process.env;
const CLIENT = join(import.meta.dirname, "client.mjs");

/** Which client meets which scenario. */
const SCENARIOS = {
  legacy: ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "sep-2322-client-request-state"],
  modern: ["tools_call", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers"],
};

/** A word of a shell's command: there may be blanks in a path. */
const quoted = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Runs a scenario: the checks that count, by their outcome. */
async function run(era, scenario) {
  const runner = join(RUNNER, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const command = [NODE, CLIENT, era].map(quoted).join(" ");
  const args = ["client", "--scenario", scenario, "--verbose", "--timeout", "280000", "--command", command];
  const running = new Process([NODE, runner, ...args], { env: { MIDCALL_BIN: BINARY } });
  await running.end();
  const told = running.lines.join("\n");
  const checks = told.startsWith("[") ? JSON.parse(told) : [];
  const outcome = Map.groupBy(checks, ({ status }) => status);
  return { outcome, told: `${told.slice(0, 4_000)}\n${running.errors}` };
}

describe("the conformance runner's client scenarios", { concurrency: AT_ONCE }, () => {
  for (const [era, scenarios] of Object.entries(SCENARIOS)) {
    for (const scenario of scenarios) {
      test(`${scenario} with a ${era} client`, async () => {
        const { outcome, told } = await run(era, scenario);
        assert.deepEqual([...(outcome.get("FAILURE") ?? []), ...(outcome.get("WARNING") ?? [])], [], told);
        assert.ok(outcome.get("SUCCESS")?.length, told);
      });
    }
  }
});
