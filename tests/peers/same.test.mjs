// A client that can be asked sees and says the same through midcall as without it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKED, LARGE, STEPS } from "./jobs.mjs";
import { Model, brought } from "./model.mjs";
import { ALL, AT_ONCE, CLIENTS, SERVERS, wrap } from "./world.mjs";

const OWN = Object.keys(SERVERS).filter((name) => name !== "everything");
/** Each client and each server at least once; with MIDCALL_TEST_ALL=1, each client with each server. */
const PAIRS = ALL
  ? Object.keys(CLIENTS).flatMap((client) => OWN.map((server) => [client, server]))
  : [["sdk-1", "sdk-1"], ["sdk-1", "fastmcp"], ["sdk-1.20", "python"], ["python", "sdk-1.20"], ["fastmcp", "sdk-1"]];

/** Everything a client told, by name. */
async function run(sdk, command, steps) {
  const model = new Model(sdk, command, "form+url");
  const told = { result: [] };
  for (const step of steps) told.result.push((await model.plays(step)).result);
  for (const { call, result, ...line } of await model.leaves()) {
    for (const [name, value] of Object.entries(line)) (told[name] ??= []).push(value);
  }
  return told;
}

/** A client of 2025-06-18 hears of choices without defaults, and can collect what links held up. */
function inOldWords({ asked, tools: [tools], ...told }) {
  for (const { params } of asked) {
    const table = params.requestedSchema?.properties.table;
    if (!table?.default) continue;
    table.description = `If left empty: ${table.default}`;
    delete table.default;
  }
  return { asked, tools: [[...tools, "awaitElicitation"]], ...told };
}

describe("a client that can be asked", { concurrency: AT_ONCE }, () => {
  for (const [client, server] of PAIRS) {
    test(`${client} and ${server}`, async () => {
      const { invalid, link, ...rest } = STEPS;
      // Where one side has no words for links, midcall does better than nothing: modes.test.mjs.
      const links = client !== "sdk-1.20" && server !== "sdk-1.20";
      const steps = [...Object.values(rest), ...(links ? [link] : []), invalid];
      const [direct, through] = await Promise.all([
        run(client, SERVERS[server], steps),
        wrap(SERVERS[server]).then(({ command }) => run(client, command, steps)),
      ]);
      const [unchecked, checked] = [direct.result.pop(), through.result.pop()].map((result) => brought({ result }));
      assert.deepEqual(through, client === "sdk-1.20" ? inOldWords(direct) : direct);

      // So that the two are not the same in their faults.
      const results = direct.result.map((result) => brought({ result }));
      assert.deepEqual(results[0][0].content, BOOKED);
      assert.deepEqual([results[1][0].action, results[2][0].action], ["decline", "cancel"]);
      assert.deepEqual(results[3][0].content, LARGE);
      assert.deepEqual(results[4].map(({ content }) => content.value), [1, 2, 3, 4, 5].map((step) => `value ${step}`));
      assert.deepEqual(results[5].map(({ content }) => content), [{ town: "Olinda" }, { day: "Monday" }]);
      assert.ok(results[6][0].error);
      assert.equal(direct.withdrawn.length, 1);
      assert.deepEqual(direct.progress.map(({ progress }) => progress), [1, 2]);
      if (links) assert.equal(results[8][0].action, "accept");

      // What does not fit stays with midcall, and the second answer is taken.
      assert.deepEqual(checked[1], unchecked[1]);
      assert.deepEqual(checked[1].content, BOOKED);
      const { code, message } = checked[0].error;
      assert.equal(code, -32603);
      assert.match(message, /\/guests/);
      assert.doesNotMatch(message, /secret/);
    });
  }
});
