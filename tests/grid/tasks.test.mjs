// A server of 2026-07-28 that makes a task of every call, for clients that know nothing of tasks.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Model, brought } from "../peers/model.mjs";
import { Person } from "../peers/person.mjs";
import { AT_ONCE, wrap } from "../peers/world.mjs";

const SERVER = [join(import.meta.dirname, "../../target/debug/rmcp-tasks")];

describe("a server that makes tasks", { concurrency: AT_ONCE }, () => {
  // A client of 2025 is taken for one that a server of both eras could serve by itself, unless somebody says otherwise.
  for (const [client, ...flags] of [["sdk-2"], ["python-modern"], ["sdk-1", "--server-era", "modern"], ["python", "--server-era", "modern"]]) {
    test(`rmcp and ${client}: the question reaches a person, and the result the call`, async () => {
      const { announce, command } = await wrap(SERVER, ...flags);
      const model = new Model(client, command, "nothing");
      assert.ok((await model.tells("tools")).includes("book"));
      const person = await Person.at(announce);
      const call = model.call("book");
      const ticket = await person.sees("For which day?");
      await person.accept(ticket.id, { day: "2026-12-24" });
      assert.deepEqual(brought(await call).content, { day: "2026-12-24" });

      const taken = model.call("book");
      const second = await person.sees("For which day?");
      await person.decline(second.id);
      assert.equal(brought(await taken).action, "decline");
    });
  }
});
