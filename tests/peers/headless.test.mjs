// Machines without a person: nothing hangs, and no consent is invented.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { BOOKED, DELETE, SIGN_IN, TABLE } from "./jobs.mjs";
import { Model, brought } from "./model.mjs";
import { Person } from "./person.mjs";
import { Guest, callModern, messages, modern } from "./visitor.mjs";
import { AT_ONCE, BINARY, Client, Process, SERVERS, openings, plain, times, until, wrap } from "./world.mjs";

const OUTCOME = "dev.midcall/outcome";
const outcome = ([{ _meta }]) => _meta[OUTCOME];
const BY = { route: "api", human: false };

/** Flags after `wrap`, and a browser that leaves a mark. */
async function start(flags, { server = "sdk-1", client = "sdk-1", declare = "nothing", env = {} } = {}) {
  const { announce, command } = await wrap(SERVERS[server], ...flags);
  const { env: browser, opened } = await openings();
  const opening = command.filter((flag) => flag !== "--no-open");
  const model = new Model(client, opening, declare, { ...browser, DISPLAY: ":0", ...env });
  return { model, announce, opened };
}

/** A server without an SDK behind a gateway that clients reach by HTTP, and what that server hears. */
async function listens(flags, env) {
  const { announce, command } = await wrap(plain(), "--listen", "127.0.0.1:0", ...flags);
  const file = join(dirname(announce), "heard");
  const gateway = new Process(command, { env: { MIDCALL_HEARD: file, ...env } });
  const { unreadable: url } = await gateway.told.next(({ unreadable }) => unreadable);
  const hears = (word) => until(async () => (await readFile(file, "utf8").catch(() => "")).includes(word), word);
  return { url, hears };
}

describe("without a person", { concurrency: AT_ONCE }, () => {
  test("--ask api is nothing without --announce, and says so", async () => {
    const process = new Process([BINARY, "wrap", "--ask", "api", "--", ...SERVERS["sdk-1"]]);
    assert.equal(await process.end(), 2);
    assert.match(process.errors, /--ask api needs --announce FILE/);
    assert.deepEqual(process.lines, []);
  });

  for (const [client, server] of [["sdk-1", "sdk-1"], ["python", "sdk-1"], ["sdk-1", "fastmcp"]]) {
    test(`a script answers, and is not taken for a human: ${client} and ${server}`, async () => {
      const { model, announce, opened } = await start(["--ask", "api"], { client, server });
      const script = await Person.script(announce);

      let call = model.call("form");
      let ticket = await script.sees(TABLE);
      assert.equal((await script.accept(ticket.id, { name: "Ana", guests: "many" })).status, 422);
      assert.equal((await script.accept(ticket.id, BOOKED)).status, 200);
      let result = brought(await call);
      assert.deepEqual(result[0].content, BOOKED);
      if (server === "sdk-1") assert.deepEqual(outcome(result), { state: "answered", by: BY });
      assert.deepEqual((await script.closed(ticket.id)).by, BY);

      call = model.call("confirm");
      ticket = await script.sees(DELETE);
      await script.decline(ticket.id, "On a Monday?");
      result = brought(await call);
      assert.equal(result[0].action, "decline");
      if (server === "sdk-1") assert.deepEqual(outcome(result), { state: "answered", by: BY, reason: "On a Monday?" });

      call = model.call("link");
      ticket = await script.sees(SIGN_IN);
      await script.opens(ticket.id);
      result = brought(await call);
      assert.equal(result[0].action, "accept");
      if (server === "sdk-1") assert.deepEqual(outcome(result).by, BY);
      assert.deepEqual(await opened(), [], "no browser is opened");
      const { form, confirm, link } = await model.ran();
      assert.deepEqual({ form, confirm, link }, { form: 1, confirm: 1, link: 1 });
      await model.leaves();
    });
  }

  test("the same browser is opened for the page, so that the mark means something", async () => {
    const { model, opened } = await start([]);
    const call = model.call("form");
    assert.match(await until(async () => (await opened())[0], "the browser is opened"), /^http:\/\/127\.0\.0\.1:\d+\/#/);
    model.takesBack();
    assert.ok((await call).error);
    await model.leaves();
  });

  test("a script that does not answer: the question ends, and the tool goes on", async () => {
    const { model, announce } = await start(["--ask", "api", "--timeout", "100ms"]);
    const script = await Person.script(announce);
    const call = model.call("form");
    const ticket = await script.sees(TABLE);
    assert.equal((await script.closed(ticket.id)).state, "timed_out");
    const result = brought(await call);
    assert.equal(result[0].action, "cancel");
    assert.deepEqual(outcome(result), { state: "timed_out" });
    await model.leaves();
  });

  for (const client of ["sdk-1", "python"]) {
    test(`nobody can be asked: ${client}`, async () => {
      // As without midcall: the server is not told that somebody could be.
      const { command } = await wrap(SERVERS["sdk-1"], "--ask", "client");
      const [through, direct] = await Promise.all([command, SERVERS["sdk-1"]].map(async (command) => {
        const steps = [{ tool: "form" }, { tool: "ran" }];
        return new Client(client, { command, declare: "nothing", steps }).done();
      }));
      assert.deepEqual(through, direct);
      assert.match(JSON.stringify(direct), /does not support/);
    });
  }

  const NOBODY = { state: "unavailable", reason: "no_route" };
  const prefer = {
    cancel: ({ action, _meta }) => assert.deepEqual([action, _meta[OUTCOME]], ["cancel", NOBODY]),
    error({ error: { code, message } }) {
      assert.equal(code, -32603);
      assert.match(message, /nobody could be asked/);
    },
  };
  for (const [how, check] of Object.entries(prefer)) {
    test(`nobody can be asked, and the server prefers: ${how}`, async () => {
      // A model is not asked for secrets.
      const { model, opened } = await start(["--ask", "client,model", "--on-unavailable", how]);
      check(brought(await model.call("secret"))[0]);
      assert.equal((await model.ran()).secret, 1);
      assert.deepEqual(await opened(), []);
      await model.leaves();

      // A server that asks although it was told not to: the protocol has an error for that, whatever it prefers.
      const { command } = await wrap(plain(), "--ask", "client", "--on-unavailable", how);
      const careless = new Model("sdk-1", command);
      const [{ error }] = brought(await careless.call("ask"));
      assert.equal(error.code, -32602);
      await careless.leaves();
    });
  }

  test("a modern client hears what it would have to declare, by the status too if nothing was sent before", async () => {
    const required = { elicitation: { form: {} } };
    const asking = modern(1, "tools/call", { name: "ask", arguments: {} });
    for (const [accept, status] of [["application/json, text/event-stream", 400], ["text/event-stream", 200]]) {
      const { url, hears } = await listens(["--ask", "client", "--server-era", "legacy"], times({ json_modern: "5m" }));
      const guest = Object.assign(new Guest(), { url, headers: {} });
      const response = await guest.post(asking.message, { headers: { ...asking.headers, accept } });
      assert.equal(response.status, status);
      const [{ id, error }] = await Array.fromAsync(messages(response));
      assert.deepEqual([id, error.code, error.data], [1, -32021, { requiredCapabilities: required }]);
      await hears("-32602");
      await hears("notifications/cancelled");
      const answer = ({ params }) => ({ action: "accept", content: { word: params.message } });
      const again = await callModern(url, 2, "tools/call", { name: "ask", arguments: {} }, { capabilities: required, answer });
      assert.match(again.result.content[0].text, /Question q0/);
    }
  });

  const answering = (answer) => ({ answers: [answer] });
  const YES = answering({ action: "accept", content: { sure: true } });
  /** How answers are told the server where nobody else can be asked, by how long they took. */
  const FAST = { state: "answered", by: { route: "client", human: false } };
  const answers = {
    "before anybody can read the question": [times({ fastest_answer: "5m" }), { ...FAST, reason: "unattended" }, { _meta: { [OUTCOME]: FAST } }],
    "after that": [{}, undefined, {}],
  };
  for (const [when, [env, told, yes]] of Object.entries(answers)) {
    test(`a client that says no or yes ${when}, and what the server hears`, async () => {
      const { model } = await start(["--ask", "client"], { declare: "form", env });
      for (const action of ["decline", "cancel"]) {
        const [answer] = brought(await model.call("confirm", {}, answering({ action })));
        assert.equal(answer.action, action);
        assert.deepEqual(answer._meta?.[OUTCOME], told);
      }
      assert.deepEqual(brought(await model.call("confirm", {}, YES)), [{ action: "accept", content: { sure: true }, ...yes }]);
      const lines = await model.leaves();
      const count = (name) => lines.filter((line) => name in line).length;
      assert.equal(count("asked"), count("result"), "nobody is asked twice");
    });
  }
});
