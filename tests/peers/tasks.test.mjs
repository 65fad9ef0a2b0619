// A tool that its server runs only as a task, with a question in the middle, for clients that make calls.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Model, words } from "./model.mjs";
import { Person } from "./person.mjs";
import { ALL, SERVERS, wrap } from "./world.mjs";

const TOOL = "simulate-research-query";

describe("tasks for clients that know nothing of tasks", { concurrency: true }, () => { // the server takes its time
  for (const client of ["sdk-1", "sdk-2", ...(ALL ? ["sdk-1.20", "python"] : [])]) {
    test(`server-everything and ${client}: the question reaches a person, and the report the client`, async () => {
      const { announce, command } = await wrap(SERVERS.everything);
      const model = new Model(client, command);
      assert.ok((await model.tells("tools")).includes(TOOL));
      const person = await Person.at(announce); // one client starts it twice, and the second stays
      const call = model.call(TOOL, { topic: "python", ambiguous: true });
      const ticket = await person.sees('The research query "python" could have multiple interpretations. Please clarify what you\'re looking for:');
      assert.equal(ticket.tool, TOOL);
      await person.accept(ticket.id, { interpretation: "snake" });
      assert.match(words(await call), /Research Report: python \(snake\)/);
    });
  }
});
