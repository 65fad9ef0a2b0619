// Clients that can ask nobody: their model is told to ask the person, and to hand in what was said.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKED, STEPS, TABLE } from "./jobs.mjs";
import { Model, brought, isError, next, words } from "./model.mjs";
import { ALL, AT_ONCE, CLIENTS, Client, SERVERS, wrap } from "./world.mjs";

const BY = { route: "model", human: false };
const SEND = "sendElicitationResult";
const OWN = ["sdk-1", "sdk-1.20", "python", "fastmcp"];
/** Every server and every client. */
const PAIRS = ALL
  ? [...OWN.map((server) => ["sdk-1", server]), ...OWN.slice(1).map((sdk) => [sdk, sdk])]
  : [["sdk-1", "sdk-1"], ["python", "sdk-1.20"], ["sdk-1.20", "python"], ["fastmcp", "fastmcp"]];

/** A model behind a client that declares nothing, before a wrapped server. */
async function meet(server = "sdk-1", client = "sdk-1", ...flags) {
  const { command } = await wrap(SERVERS[server], "--ask", "client,model", ...flags);
  return new Model(client, command);
}

/** The outcome that a TypeScript server tells. */
const outcome = ([{ _meta }]) => _meta["dev.midcall/outcome"];

describe("the model", { concurrency: AT_ONCE }, () => {
  const able = [
    ...Object.keys(CLIENTS).map((client) => [client, "form+url", "client,model"]),
    ["sdk-1", "form", "client,model"], ["sdk-1", "{}", "client,model"], ["sdk-1.20", "{}", "client,api,model"], ["sdk-1", "form", "client,page,model"],
  ];
  for (const [client, declare, ask] of able) {
    test(`tools/list hides it: ${client} declares ${declare}, with --ask ${ask}`, async () => {
      const { command } = await wrap(SERVERS["sdk-1"], "--ask", ask);
      const model = new Model(client, command, declare);
      assert.ok(!(await model.tells("tools")).includes(SEND), "no model is ever asked for it");
      await model.leaves();
    });
  }

  test("the call returns instructions", async () => {
    const model = await meet();
    const pending = await model.call("form");
    const { elicitId, message, schema, instructions } = pending.result._meta.elicitationPending;
    const { elicitId: told, tool } = next(pending);
    assert.deepEqual([told, tool, message], [elicitId, SEND, TABLE]);
    assert.match(elicitId, /^mc1\.[\w-]{22,}$/);
    for (const part of ["sdk-1 needs", instructions, TABLE, JSON.stringify(schema)]) assert.ok(words(pending).includes(part), part);
    assert.deepEqual(schema.required, ["name", "guests"]);
    assert.deepEqual(schema.properties.guests, { type: "integer", minimum: 1, maximum: 12 });
    assert.notEqual(pending.result.isError, true);
    await model.leaves();
  });

  for (const [client, server] of PAIRS) {
    test(`${client} and ${server}`, async (t) => {
      const tells = server.startsWith("sdk"); // only these tell what stood in `_meta`
      const model = await meet(server, client);

      await t.test("sendElicitationResult is listed for a client that can ask nobody", async () => {
        assert.deepEqual((await model.tells("tools")).slice(-2), ["awaitElicitation", SEND]);
      });

      await t.test("the flow completes", async () => {
        const [answer] = brought(await model.answers(await model.call("form"), "accept", BOOKED));
        assert.equal(answer.action, "accept");
        assert.deepEqual(answer.content, BOOKED);
        if (tells) assert.deepEqual(outcome([answer]), { state: "answered", by: BY });
      });

      for (const action of ["cancel", "decline"]) {
        await t.test(action, async () => {
          const result = brought(await model.answers(await model.call("form"), action));
          assert.equal(result[0].action, action);
          if (tells) assert.deepEqual(outcome(result), { state: "answered", by: BY });
        });
      }

      await t.test("all steps of a wizard", async () => {
        let step = await model.call("wizard");
        for (const value of ["red", "blue", "green", "white", "black"]) step = await model.answers(step, "accept", { value });
        assert.deepEqual(brought(step).map(({ content }) => content.value), ["red", "blue", "green", "white", "black"]);
      });

      for (const [at, action] of [[1, "cancel"], [2, "cancel"], [2, "decline"]]) {
        await t.test(`${action} at step ${at}`, async () => {
          let step = await model.call("wizard");
          for (let n = 1; n < at; n++) step = await model.answers(step, "accept", { value: `${n}` });
          const result = brought(await model.answers(step, action));
          assert.equal(result.length, at);
          assert.equal(result.at(-1).action, action);
        });
      }

      await t.test("yes or no for a tool that only reads", async () => {
        const [answer] = brought(await model.answers(await model.call("look"), "accept", { closer: false }));
        assert.deepEqual(answer.content, { closer: false });
      });

      // The server is told that nobody could be asked.
      for (const [tool, what] of [["confirm", "yes or no for a tool that says nothing of itself"], ["erase", "what may destroy"], ["secret", "a secret"]]) {
        await t.test(`a model is not asked: ${what}`, async () => {
          const result = brought(await model.call(tool));
          assert.equal(result[0].action, "cancel");
          if (tells) assert.deepEqual(outcome(result), { state: "unavailable", reason: "no_route" });
        });
      }

      await t.test("each call ran once", async () => {
        assert.deepEqual(await model.ran(), { form: 3, wizard: 4, look: 1, confirm: 1, erase: 1, secret: 1, ...(tells ? { ran: 1 } : {}) });
      });
      await model.leaves();
    });
  }

  test("empty input", async () => {
    const model = await meet();
    for (const content of [{}, { note: "" }, undefined]) {
      const [answer] = brought(await model.answers(await model.call("empty"), "accept", content));
      assert.equal(answer.action, "accept");
      assert.deepEqual(answer.content, content ?? {});
    }
    const asked = await model.call("form");
    isError(await model.answers(asked, "accept", {}), /\/name: .*\n\/guests: /);
    isError(await model.answers(asked, "accept", { ...BOOKED, name: "" }), /\/name: /);
    await model.leaves();
  });

  test("after prior requests it is asked all the same, and again and again", async () => {
    const model = await meet();
    await model.plays({ tool: "steps", arguments: { steps: 1, name: "steps" } });
    await model.call("nonsense");
    const names = new Set();
    for (const guests of [1, 2, 3]) {
      const asked = await model.call("form");
      names.add(next(asked).elicitId);
      const [answer] = brought(await model.answers(asked, "accept", { name: "Ana", guests }));
      assert.equal(answer.content.guests, guests);
    }
    assert.equal(names.size, 3);
    assert.equal((await model.ran()).form, 3);
    await model.leaves();
  });

  test("a client that comes back and cannot ask any more is told to, one that can asks by itself", async () => {
    const { command } = await wrap(SERVERS["sdk-1"], "--ask", "client,model");
    const first = new Client("sdk-1", { command, declare: "form", steps: [STEPS.accept] });
    assert.deepEqual((await first.brought())[0].content, BOOKED);
    await first.done();
    const model = new Model("sdk-1", command);
    const asked = await model.call("form");
    assert.ok(next(asked).elicitId);
    await model.leaves();
    const third = new Client("sdk-1", { command, declare: "form", steps: [STEPS.accept] });
    assert.deepEqual((await third.brought())[0].content, BOOKED);
    await third.done();
  });
});
