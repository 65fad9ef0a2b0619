// A client that can be asked sees and says the same through midcall as without it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKED, LARGE, STEPS } from "./jobs.mjs";
import { CLIENTS, Client, SERVERS, wrap } from "./world.mjs";

/** Everything a client told, by name. */
async function run(sdk, command, steps) {
  const told = {};
  for (const line of await new Client(sdk, { command, declare: "form+url", steps }).done()) {
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

const brought = (result) => JSON.parse(result.content[0].text);

describe("a client that can be asked", { concurrency: 2 }, () => {
  for (const client of Object.keys(CLIENTS)) {
    for (const server of Object.keys(SERVERS).filter((name) => name !== "everything")) {
      test(`${client} and ${server}`, async () => {
        const { invalid, link, ...rest } = STEPS;
        // Where one side has no words for links, midcall does better than nothing: modes.test.mjs.
        const links = client !== "sdk-1.20" && server !== "sdk-1.20";
        const steps = [...Object.values(rest), ...(links ? [link] : []), invalid];
        const [direct, through] = await Promise.all([
          run(client, SERVERS[server], steps),
          wrap(SERVERS[server]).then(({ command }) => run(client, command, steps)),
        ]);
        const [unchecked, checked] = [direct.result.pop(), through.result.pop()].map(brought);
        assert.deepEqual(through, client === "sdk-1.20" ? inOldWords(direct) : direct);

        // So that the two are not the same in their faults.
        const results = direct.result.map(brought);
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
  }
});
