// Calls that a person agrees to before the server gets them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Model, brought, isError } from "./model.mjs";
import { Person } from "./person.mjs";
import { AT_ONCE, SERVERS, times, wrap } from "./world.mjs";

const GIVEN = { path: "/home/ana/letters", apiKey: "sk-live-12345" };
const SECRET = /sk-live/;

/** Behind a client, before a wrapped server that needs people to agree. */
async function start(which, server = "sdk-1", { client = "sdk-1", declare = "nothing", flags = [], env = {} } = {}) {
  const { announce, command } = await wrap(SERVERS[server], "--confirm", which, ...flags);
  return [new Model(client, command, declare, env), announce];
}

/** The next question of any kind. */
const asked = (person) => person.news.next(({ type }) => type === "elicitation/request");

/** What a person must be able to read of a call. */
function shows(message, server) {
  for (const part of ["erase", server, `path: ${GIVEN.path}`, "apiKey: (hidden, 13 characters)"]) assert.ok(message.includes(part), `${part} in ${message}`);
  assert.doesNotMatch(message, SECRET);
}

describe("calls that a person agrees to", { concurrency: AT_ONCE }, () => {
  for (const [client, server] of [["sdk-1", "sdk-1"], ["sdk-1", "sdk-1.20"], ["python", "python"], ["fastmcp", "fastmcp"]]) {
    test(`on the page: ${client} and ${server}`, async () => {
      const [model, announce] = await start("destructive", server, { client });
      const person = await Person.at(announce);
      await model.tells("tools");

      let call = model.call("erase", GIVEN);
      let ticket = await asked(person);
      shows(ticket.params.message, server);
      assert.doesNotMatch(JSON.stringify(ticket), SECRET);
      assert.deepEqual([ticket.tool, ticket.server.name], ["erase", server]);
      assert.equal((await model.ran()).erase, undefined, "the server has not got it, and what only reads passes");
      await person.accept(ticket.id);
      assert.deepEqual(brought(await call), []);
      assert.equal((await model.ran()).erase, 1);

      call = model.call("erase", GIVEN);
      ticket = await asked(person);
      await person.decline(ticket.id, "Those are mine");
      isError(await call, new RegExp(`said no. ${server} never got it: Those are mine`));
      call = model.call("erase", GIVEN);
      await person.cancel((await asked(person)).id);
      isError(await call, /never got it/);
      assert.equal((await model.ran()).erase, 1);

      // Having agreed to a call, the person is asked what the server wants to know.
      call = model.call("erase");
      await person.accept((await asked(person)).id);
      await person.accept((await person.sees("Which file?")).id, { path: "/tmp/a" });
      assert.deepEqual(brought(await call)[0].content, { path: "/tmp/a" });
      assert.equal((await model.ran()).erase, 2);
      await model.leaves();
    });
  }

  for (const [client, declare] of [["sdk-1", "form"], ["sdk-1.20", "{}"], ["python", "form+url"], ["fastmcp", "form+url"]]) {
    test(`through ${client}, which asks by itself`, async () => {
      const [model] = await start("destructive", "sdk-1", { client, declare });
      await model.tells("tools");
      const answering = (answer) => ({ answers: [answer] });
      const call = model.call("erase", GIVEN, answering({ action: "accept", content: {} }));
      const { params } = await model.tells("asked");
      shows(params.message, "sdk-1");
      assert.deepEqual(params.requestedSchema.properties, {});
      assert.deepEqual(brought(await call), []);
      assert.equal((await model.ran()).erase, 1);
      isError(await model.call("erase", GIVEN, answering({ action: "decline" })), /said no. sdk-1 never got it/);
      assert.equal((await model.ran()).erase, 1);
      await model.leaves();
    });
  }

  for (const answer of [{ action: "accept", content: {} }, { action: "decline" }]) {
    test(`a client that says ${answer.action} before anybody can read the question has asked nobody: a person is asked on the page`, async () => {
      const [model, announce] = await start("destructive", "sdk-1", { declare: "form", env: times({ fastest_answer: "5m" }) });
      const person = await Person.at(announce);
      const call = model.call("erase", GIVEN, { answers: [answer] });
      const { id } = await asked(person);
      assert.equal((await model.ran()).erase, undefined);
      await person.accept(id);
      assert.deepEqual(brought(await call), []);
      assert.equal((await model.ran()).erase, 1);
      await model.leaves();
    });
  }

  test("destructive: what says nothing of itself may destroy", async () => {
    const [model, announce] = await start("destructive");
    const person = await Person.at(announce);
    await model.tells("tools");
    const call = model.call("form");
    await person.accept((await asked(person)).id);
    await person.accept((await person.sees("Which table?")).id, { name: "Ana", guests: 2 });
    assert.equal(brought(await call)[0].action, "accept");
    await model.leaves();
  });

  test("all: what only reads is asked for too, each call once", async () => {
    const [model, announce] = await start("all");
    const person = await Person.at(announce);
    for (const times of [1, 2, 3]) {
      const call = model.ran();
      const ticket = await asked(person);
      assert.match(ticket.params.message, /Allow a call of ran\?/);
      await person.accept(ticket.id);
      assert.deepEqual(await call, { ran: times });
    }
    await model.leaves();
  });

  test("nobody answers, or nobody can be asked: that is no yes", async () => {
    const [late] = await start("destructive", "sdk-1", { flags: ["--timeout", "100ms"] });
    isError(await late.call("erase", GIVEN), /did not answer in time. sdk-1 never got it/);
    assert.equal((await late.ran()).erase, undefined);
    await late.leaves();

    // A model cannot agree for a person.
    const [alone] = await start("destructive", "sdk-1", { flags: ["--ask", "client,model"] });
    isError(await alone.call("erase", GIVEN), /nobody could be asked. sdk-1 never got it/);
    assert.equal((await alone.ran()).erase, undefined);
    await alone.leaves();
  });

  test("a call taken back takes the question with it", async () => {
    const [model, announce] = await start("destructive");
    const person = await Person.at(announce);
    const call = model.call("erase", GIVEN);
    const ticket = await asked(person);
    model.takesBack();
    assert.match((await call).error.message, /taken back/);
    const { state, reason } = await person.closed(ticket.id);
    assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_client" });
    assert.equal((await person.accept(ticket.id)).status, 409);
    assert.equal((await model.ran()).erase, undefined);
    await model.leaves();
  });

  test("a call taken back takes the question of a client with it that asks by itself", async () => {
    const [model] = await start("destructive", "sdk-1", { declare: "form" });
    const call = model.call("erase", GIVEN);
    const { id } = await model.tells("asked");
    model.takesBack();
    assert.match((await call).error.message, /taken back/);
    assert.equal(await model.tells("withdrawn"), id);
    assert.equal((await model.ran()).erase, undefined);
    await model.leaves();
  });

  test("an impatient client collects what was agreed to late", async () => {
    const [model, announce] = await start("destructive", "sdk-1", { flags: ["--hold", "100ms"] });
    const person = await Person.at(announce);
    await model.tells("tools");
    const waiting = await model.call("erase", GIVEN);
    assert.ok(waiting.result._meta["dev.midcall/waiting"].claim);
    const result = model.collects(waiting);
    await person.accept((await asked(person)).id);
    assert.deepEqual(brought(await result), []);
    assert.equal((await model.ran()).erase, 1);
    await model.leaves();
  });
});
