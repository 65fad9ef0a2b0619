// Links: a person follows them once, and calls that need them go on.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SIGN_IN } from "./jobs.mjs";
import { Model, brought, words } from "./model.mjs";
import { Person } from "./person.mjs";
import { AT_ONCE, SERVERS, signIn, times, wrap } from "./world.mjs";

/** Instead of -32042, for clients that know nothing of links. */
const NOT_OPENED = -32603;
/** Nobody but the person and the server says in time that a link is done. */
const LATER = times({ link_again: "5m" });
const OUTCOME = "dev.midcall/outcome";
const BY = { route: "page", human: true };

/** A client with a person beside it, before a wrapped server. */
async function meet(server, { client = "sdk-1", declare = "nothing", flags = [], env = LATER } = {}) {
  const { announce, command } = await wrap(SERVERS[server] ?? server, ...flags);
  const model = new Model(client, command, declare, env);
  if (model.isModern) await model.tells("tools"); // it tries a first process, whose page nobody should go to
  return [model, await Person.at(announce)];
}

/** Opens a link, and says that it is done. */
async function follows(person, { id }) {
  assert.equal((await person.opens(id)).status, 200);
  assert.equal((await person.accept(id)).status, 200);
}

const howClosed = async (person, { id }) => {
  const { state, reason } = await person.closed(id);
  return { state, reason };
};

/** Pairs of a client and what it declares; Python's know links if they know anything. */
const CLIENTS = [["sdk-1", "form"], ["sdk-1", "nothing"], ["sdk-1.20", "{}"], ["python", "nothing"]];

describe("links for clients that know nothing of them", { concurrency: AT_ONCE }, () => {
  const tool = "trigger-url-elicitation";
  const url = "https://example.com/everything";
  const given = { url, message: SIGN_IN, elicitationId: "once" };
  const FIRST = "Open this link to satisfy the prerequisite, then retry the request.";

  /** What the server says it was told. */
  const told = (response) => JSON.parse(words(response).split("Raw result: ")[1]);

  for (const [client, declare] of CLIENTS) {
    test(`server-everything and ${client} with ${declare}: a question that is a link, and a call that needs one`, async () => {
      const [model, person] = await meet("everything", { client, declare });
      assert.ok((await model.tells("tools")).includes(tool));
      const call = model.call(tool, given);
      const ticket = await person.sees(SIGN_IN);
      assert.deepEqual([ticket.mode, ticket.url, ticket.tool], ["url", url, tool]);
      // Opening it is all the server asked for.
      await person.opens(ticket.id);
      const result = told(await call);
      assert.equal(result.action, "accept");
      assert.deepEqual(result._meta[OUTCOME], { state: "answered", by: BY });
      assert.equal((await person.status(ticket.id)).state, "open", "the person may still want to open it again");
      await person.accept(ticket.id);
      assert.equal((await howClosed(person, ticket)).state, "answered");

      const declined = model.call(tool, given);
      await person.decline((await person.sees(SIGN_IN)).id, "Not today");
      const { action, _meta } = told(await declined);
      assert.deepEqual([action, _meta[OUTCOME].reason], ["decline", "Not today"]);

      const needing = model.call(tool, { ...given, errorPath: true });
      const first = await person.sees(FIRST);
      assert.equal(first.url, "https://modelcontextprotocol.io");
      assert.equal(first.tool, tool);
      await follows(person, first);
      // Made again, it asks for what it was called for.
      const second = await person.sees(SIGN_IN);
      assert.equal(second.url, url);
      await person.opens(second.id);
      const response = await needing;
      assert.match(words(response), /completed the URL elicitation flow/);
      assert.equal(told(response).action, "accept");

      const refused = model.call(tool, { ...given, errorPath: true });
      await person.decline((await person.sees(FIRST)).id);
      const { error } = await refused;
      assert.equal(error.code, NOT_OPENED);
      assert.match(error.message, /This request requires browser-based authorization\..*said no/);
      const lines = await model.leaves();
      assert.equal(lines.filter((line) => "result" in line || "error" in line).length, 4);
    });
  }

  test("server-everything: without midcall there is no such tool for a client that knows forms only", async () => {
    const model = new Model("sdk-1", SERVERS.everything, "form");
    assert.ok(!(await model.tells("tools")).includes(tool));
    await model.leaves();
  });

  for (const server of ["sdk-1", "python"]) {
    test(`calls of ${server} that need links`, async (t) => {
      const [model, person] = await meet(server, { declare: "form" });
      let ran = 0;
      const hasRun = async (times) => assert.equal((await model.ran()).linked ?? 0, (ran += times));

      await t.test("three at once, done in three ways, and the call is made again once", async () => {
        const call = model.call("linked", { links: ["a", "b", "c"] });
        const [a, b, c] = [await person.sees("Open a"), await person.sees("Open b"), await person.sees("Open c")];
        assert.deepEqual([a, b, c].map(({ url }) => url), ["a", "b", "c"].map((name) => `https://example.com/${name}`));
        await follows(person, c); // by the person's word
        await person.opens(b.id); // by the server's
        await model.call("finish", { id: "b" });
        assert.deepEqual(await howClosed(person, b), { state: "answered", reason: undefined });
        await hasRun(0); // one is left
        await model.call("finish", { id: "a" }); // done elsewhere: nobody opened it here
        assert.deepEqual(await howClosed(person, a), { state: "withdrawn", reason: "by_server" });
        assert.deepEqual(brought(await call), []);
        await hasRun(1);
      });

      await t.test("a link that is asked for again is the same question, until the person gives up", async () => {
        const call = model.call("linked", { links: ["a"], stubborn: true });
        const { id } = await person.sees("Open a");
        await person.opens(id);
        await person.decline(id);
        const { error } = await call;
        assert.equal(error.code, NOT_OPENED);
        assert.match(error.message, /Sign in first.*said no/);
        // Another call asks anew.
        const again = model.call("linked", { links: ["a"], stubborn: true });
        await person.decline((await person.sees("Open a")).id);
        assert.equal((await again).error.code, NOT_OPENED);
        await hasRun(0);
      });

      await t.test("a no to one of three is a no to the call", async () => {
        const call = model.call("linked", { links: ["a", "b", "c"] });
        const [a, b, c] = [await person.sees("Open a"), await person.sees("Open b"), await person.sees("Open c")];
        await follows(person, a);
        await person.decline(b.id, "Not there");
        const { error } = await call;
        assert.equal(error.code, NOT_OPENED);
        assert.match(error.message, /Sign in first.*said no/);
        assert.deepEqual(await howClosed(person, c), { state: "withdrawn", reason: "by_client" });
        await hasRun(0);
      });

      const lines = await model.leaves();
      const answered = lines.filter((line) => "result" in line || "error" in line).map(({ call }) => call);
      assert.equal(new Set(answered).size, answered.length, "each call is answered once");
    });
  }

  test("calls that need links at the same time do not get in each other's way", async () => {
    const [model, person] = await meet("sdk-1");
    const calls = ["a", "b", "c"].map((name) => model.call("linked", { links: [name] }));
    const tickets = await Promise.all(["a", "b", "c"].map((name) => person.sees(`Open ${name}`)));
    await follows(person, tickets[2]);
    assert.deepEqual(brought(await calls[2]), []);
    assert.equal((await model.ran()).linked, 1);
    await person.decline(tickets[1].id);
    assert.equal((await calls[1]).error.code, NOT_OPENED);
    await follows(person, tickets[0]);
    assert.deepEqual(brought(await calls[0]), []);
    assert.equal((await model.ran()).linked, 2);
    await model.leaves();
  });

  test("nobody follows them in time", async () => {
    const [model, person] = await meet("sdk-1", { flags: ["--timeout", "100ms"] });
    const call = model.call("linked", { links: ["a"] });
    const ticket = await person.sees("Open a");
    assert.equal((await howClosed(person, ticket)).state, "timed_out");
    const { error } = await call;
    assert.match(error.message, /did not in time/);
    assert.equal((await model.ran()).linked, undefined);
    await model.leaves();
  });

  test("a client that gives up takes them back, and the call is not made again", async () => {
    const [model, person] = await meet("sdk-1");
    const call = model.call("linked", { links: ["a"] });
    const ticket = await person.sees("Open a");
    await person.opens(ticket.id);
    model.takesBack();
    assert.match((await call).error.message, /taken back/);
    assert.deepEqual(await howClosed(person, ticket), { state: "withdrawn", reason: "by_client" });
    assert.equal((await person.accept(ticket.id)).status, 409);
    assert.equal((await model.ran()).linked, undefined);
    await model.leaves();
  });

  test("a client that follows links by itself gets the error as without midcall", async () => {
    const { command } = await wrap(SERVERS["sdk-1"]);
    const [through, direct] = await Promise.all([command, SERVERS["sdk-1"]].map(async (command) => {
      const model = new Model("sdk-1", command, "form+url");
      const needed = await model.call("linked", { links: ["a", "b"] });
      const again = await model.call("linked", { links: ["a", "b"] });
      const told = [needed, again, await model.ran()];
      await model.leaves();
      return told;
    }));
    assert.deepEqual(through, direct);
    assert.equal(direct[0].error.data.elicitations.length, 2);
    assert.equal(direct[2].linked, 1);
  });
});

/** A sign-in that the tool has been called five times for when it is done, each time with a new link. */
const FIVE = "tries=5";
const SOON = times({ link_again: "20ms" });
const ASKS = "Sign in to pay";

/** Notes every question that comes to a person. */
function notes(person) {
  const asked = [];
  const push = person.news.push.bind(person.news);
  person.news.push = (told) => {
    if (told.type === "elicitation/request") asked.push(told);
    push(told);
  };
  return asked;
}

const paid = (response) => assert.equal(brought(response), "paid");
const calls = async (model) => brought(await model.call("calls")).length;
const opened = (person, id) => person.news.next((told) => told.type === "elicitation/opened" && told.id === id && told.url);

describe("a sign-in that takes a while, with a new link on every try", { concurrency: AT_ONCE }, () => {
  // Clients that open links themselves, before servers that ask by -32042 or by rounds.
  for (const [client, era] of [["sdk-2", "legacy"], ["python-modern", "legacy"], ["sdk-1", "modern"], ["python", "modern"]]) {
    test(`${client} with links is asked once by a ${era} server`, async () => {
      const { command } = await wrap(signIn(era, FIVE));
      const model = new Model(client, command, "form+url", SOON);
      paid(await model.call("pay", {}, { answers: [{ message: ASKS, action: "accept" }] }));
      assert.equal(await calls(model), 6);
      const lines = await model.leaves();
      assert.equal(lines.filter((line) => "asked" in line).length, 1);
      assert.equal(lines.filter((line) => "result" in line && line.call === 1).length, 1);
    });
  }

  for (const [client, era] of [["sdk-1", "legacy"], ["python", "legacy"], ["sdk-2", "legacy"], ["sdk-1", "modern"], ["sdk-2", "modern"]]) {
    test(`${client} without links before a ${era} server: the page asks once, and its ticket closes by itself`, async () => {
      const [model, person] = await meet(signIn(era, FIVE), { client, env: SOON });
      const asked = notes(person);
      const call = model.call("pay");
      const { id, url } = await person.sees(ASKS);
      await person.opens(id);
      const renewed = await opened(person, id);
      assert.equal(new URL(renewed.url).origin, new URL(url).origin);
      assert.notEqual(renewed.url, url);
      paid(await call);
      assert.deepEqual(await howClosed(person, { id }), { state: "answered", reason: undefined });
      assert.equal(await calls(model), 6);
      assert.equal(asked.length, 1);
      await model.leaves();
    });
  }

  test("finished, but too early: there is no second ticket", async () => {
    const [model, person] = await meet(signIn("legacy", FIVE), { env: SOON });
    const asked = notes(person);
    const call = model.call("pay");
    await follows(person, await person.sees(ASKS));
    paid(await call);
    assert.equal(await calls(model), 6);
    assert.equal(asked.length, 1);
    await model.leaves();
  });

  test("the server says that its newest link is done, and gets the call at once", async () => {
    const [model, person] = await meet(signIn("legacy"));
    const call = model.call("pay");
    const { id } = await person.sees(ASKS);
    await person.opens(id);
    assert.equal(await calls(model), 1, "opening is not finishing");
    await model.call("done");
    paid(await call);
    assert.deepEqual(await howClosed(person, { id }), { state: "answered", reason: undefined });
    assert.equal(await calls(model), 2);
    await model.leaves();
  });
});
