// Tools that their server runs only as tasks, for clients that make calls; and questions that a server wants to be tasks.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Model, words } from "./model.mjs";
import { Person } from "./person.mjs";
import { Puppet, WORD, text, word } from "./raw.mjs";
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

describe("questions that are tasks", { concurrency: true }, () => {
  for (const [who, also, content, problem] of [
    ["makes a task of it", ["tasks"], word().content],
    ["makes a task of it and doesn't validate", ["tasks"], { word: 7 }, /does not fit the form: \/word/],
    ["knows no tasks", [], word().content],
  ]) {
    test(`sdk-1 ${who}`, async () => {
      const server = await Puppet.ready();
      const { command } = await wrap(server.command);
      const model = new Model("sdk-1", command, "form+url", {}, also);
      const call = model.call("do");
      const { id } = await server.hears(({ method }) => method === "tools/call");
      const asks = (id, method, params) => (server.send({ id, method, params }), server.hears((message) => message.id === id && !message.method));
      const asked = asks("q", "elicitation/create", { ...WORD, task: { ttl: 60_000 } });
      await model.tells("asked");
      model.gives({ action: "accept", content });
      const { task } = (await asked).result;
      assert.equal(task !== undefined, also.length > 0);
      const { result, error } = task ? await asks("r", "tasks/result", { taskId: task.taskId }) : await asked;
      if (problem) assert.match(error.message, problem);
      else assert.deepEqual(result.content, content);
      server.send({ id, result: text("done") });
      assert.equal(words(await call), "done");
      await model.leaves();
    });
  }
});
