// The runner's scenarios for clients, with a client behind `midcall wrap --url`.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";

const { MIDCALL_NODE: NODE, MIDCALL_CONFORMANCE: RUNNER, MIDCALL_BIN = join(import.meta.dirname, "../../target/debug/midcall") } = process.env;
const CLIENT = join(import.meta.dirname, "client.mjs");

/** Which client meets which scenario. */
const SCENARIOS = {
  legacy: ["initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "sep-2322-client-request-state"],
  modern: ["tools_call", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers"],
};

/** Runs a scenario: the checks that count, by their outcome. */
async function run(era, scenario) {
  const runner = join(RUNNER, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const args = [runner, "client", "--scenario", scenario, "--verbose", "--timeout", "120000", "--command", `${NODE} ${CLIENT} ${era}`];
  const env = { ...process.env, MIDCALL_BIN };
  const { stdout, stderr } = await promisify(execFile)(NODE, args, { env, maxBuffer: 64 << 20 }).catch((error) => error);
  const checks = stdout.startsWith("[") ? JSON.parse(stdout) : [];
  const outcome = Map.groupBy(checks, ({ status }) => status);
  return { outcome, told: `${stdout.slice(0, 4_000)}\n${stderr}` };
}

describe("the conformance runner's client scenarios", { concurrency: 2 }, () => {
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
