// A client with bad intentions: answers that nobody gave, ids, claims and states of others, and another window's questions.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Person } from "./person.mjs";
import { ASKS, Between, OUTCOME, Puppet, WORD, elicit, shared, text, word } from "./raw.mjs";
import { serve, upstream } from "./serving.mjs";
import { Guest, callModern, messages, modern } from "./visitor.mjs";
import { times } from "./world.mjs";

describe("answers that don't fit", () => {
  const suite = shared();
  for (const [name, result, problem = /./] of [
    ["the wrong type", '{"action":"accept","content":{"word":7}}', /\/word/],
    ["nothing", '{"action":"accept","content":{}}', /\/word/],
    ["no content", '{"action":"accept"}', /\/word/],
    ["content that is a list", '{"action":"accept","content":["here"]}'],
    ["an action of its own", '{"action":"approve","content":{"word":"here"}}'],
    ["an action that is a number", '{"action":1}'],
    ["null", "null"],
    ["a list", "[]"],
    ["two megabytes", `{"action":"accept","content":{"word":"${"x".repeat(2 * 1024 * 1024)}"}}`],
    ["200 levels", `{"action":"accept","content":{"word":${"[".repeat(200)}${"]".repeat(200)}}}`],
    ["content twice, the right one last", '{"action":"accept","content":{"word":7},"content":{"word":"here"}}', /twice/],
    ["content twice, the right one first", '{"action":"accept","content":{"word":"here"},"content":{"word":7}}', /twice/],
    ["Content", '{"action":"accept","content":{"word":"here"},"Content":{"word":7}}', /twice/],
    ["an action twice", '{"action":"decline","action":"accept","content":{"word":"here"}}', /twice/],
    ["a word twice", '{"action":"accept","content":{"word":7,"word":"here"}}', /twice/],
    ["an escaped word twice", '{"action":"accept","content":{"w\\u006frd":7,"word":"here"}}', /twice/],
  ]) {
    test(name, async () => {
      const { peers } = suite;
      const call = await peers.call();
      const { id, response } = peers.asks(WORD);
      await peers.question();
      peers.write(`{"jsonrpc":"2.0","id":"${id}","result":${result}}`);
      const { error } = await response;
      assert.equal(error.code, -32603);
      assert.match(error.message, problem);
      peers.answer(id, word("again"));
      await peers.settles();
      assert.ok(!peers.server.lines.some((line) => line.includes("again")), "the first answer counts");
      await call.ends();
    });
  }

  test("an answer can't say who gave it", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const { id, response } = peers.asks(WORD);
    await peers.question();
    peers.answer(id, { ...word(), _meta: { [OUTCOME]: { state: "answered", by: { route: "page", human: true } }, own: 1 } });
    assert.deepEqual((await response).result._meta, { own: 1, [OUTCOME]: { state: "answered", by: { route: "client", human: true } } });
    await call.ends();
  });

  test("an answer at once is told not to be a person's", async () => {
    const peers = await Between.open({ env: times({ fastest_answer: "5m" }) });
    const call = await peers.call();
    const { id, response } = peers.asks(WORD);
    await peers.question();
    peers.answer(id, word());
    assert.deepEqual((await response).result._meta[OUTCOME].by, { route: "client", human: false });
    await call.ends();
  });

  test("answers that nobody asked for, and answers twice", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const { id, response } = peers.asks(WORD);
    await peers.question();
    const counts = peers.counts;
    for (const guess of ["q999", 7, call.id, `${id}x`]) peers.answer(guess, word("guessed"));
    for (const said of ["first", "second"]) peers.answer(id, word(said));
    assert.deepEqual((await response).result.content, { word: "first" });
    await peers.settles();
    assert.equal(peers.since(counts).server.length, 3, "one answer, and the marks");
    await call.ends();
  });
});

describe("ids of a client", () => {
  const busy = { jsonrpc: "2.0", id: 500, method: "tools/call", params: { name: "do" } };
  const suite = shared();
  for (const again of ["500", "500.0", "5e2"]) {
    test(`500 is in use: ${again} is refused, and its owner is answered`, async () => {
      const { peers } = suite;
      peers.write(JSON.stringify(busy));
      await peers.server.hears(({ id }) => id === 500);
      const counts = peers.counts;
      peers.write(JSON.stringify(busy).replace("500", again));
      assert.equal((await peers.client.told.next(({ error }) => error)).error.code, -32600);
      peers.server.send({ id: 500, result: text("for its owner") });
      assert.deepEqual((await peers.client.told.next(({ id }) => id === 500)).result, text("for its owner"));
      await peers.settles();
      assert.equal(peers.since(counts).server.length, 2, "only the marks");
    });
  }

  for (const id of ["-1", "0.5", "9007199254740993", '"1"', '""', '"\\u0000"', '"\\ud800"', `"${"x".repeat(4_000)}"`]) {
    test(`an odd id comes back as it was: ${id.slice(0, 20)}`, async () => {
      const { peers } = suite;
      const counts = peers.counts;
      peers.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"do"}}`);
      await peers.server.hears(({ method }) => method === "tools/call");
      peers.server.write(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(text("odd"))}}`);
      await peers.settles();
      const told = peers.since(counts).client.filter((line) => line.includes('"odd"'));
      assert.deepEqual(told.map((line) => line.includes(`"id":${id},`)), [true]);
    });
  }
});

describe("claims of a client", () => {
  const suite = shared({ capabilities: {}, flags: ["--hold", "1ms"] });
  let claim, answered;
  before(async () => {
    const { peers } = suite;
    await peers.request("tools/list").response;
    const call = await peers.call();
    answered = peers.asks(WORD).response;
    claim = (await call.response).result._meta["dev.midcall/waiting"].claim;
  });
  for (const [name, forged] of [
    ["a guess", () => "claim-1"], ["nothing", () => ""], ["no claim", () => undefined], ["a number", () => 7], ["null", () => null],
    ["another letter", () => claim.slice(0, -1) + (claim.endsWith("x") ? "y" : "x")], ["capital letters", () => claim.toUpperCase()],
    ["half of it", () => claim.slice(0, 20)], ["a list of it", () => [claim]], ["an object", () => ({ claim })],
  ]) {
    test(`forged: ${name}`, async () => {
      const { result } = await suite.peers.request("tools/call", { name: "awaitElicitation", arguments: { claim: forged() } }).response;
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, /There is no such claim/);
    });
  }

  test("another session's", async () => {
    const other = await Between.open({ capabilities: {}, flags: ["--hold", "1ms"] });
    await other.request("tools/list").response;
    const { result } = await other.request("tools/call", { name: "awaitElicitation", arguments: { claim } }).response;
    assert.match(result.content[0].text, /There is no such claim/);
  });

  test("its own still works", async () => {
    const { peers } = suite;
    const person = await Person.at(peers.announce);
    const { response } = peers.request("tools/call", { name: "awaitElicitation", arguments: { claim, waitSeconds: 600 } });
    await person.accept((await person.sees(WORD.message)).id, { word: "here" });
    assert.deepEqual((await answered).result.content, { word: "here" });
    const { id } = JSON.parse(peers.server.lines.find((line) => line.includes('"name":"do"')));
    peers.server.send({ id, result: text("done") });
    assert.deepEqual((await response).result.content, text("done").content);
  });
});

/** A legacy server that `midcall serve` starts for modern clients, which have no sessions. */
async function serving(rules = "") {
  const server = await Puppet.ready();
  const { urls, announce } = await serve(upstream("one", server.command, `server_era = "legacy"\n${rules}`));
  const calls = () => server.hears(({ method }) => method === "tools/call");
  return { server, url: urls.one, announce, calls };
}

describe("states of a modern client", () => {
  const suite = {};
  let id = 100;
  /** Calls with these params, and gives the response. */
  async function send(params, { capabilities = ASKS, method = "tools/call" } = {}) {
    const { message, headers } = modern(++id, method, { name: "do", arguments: {}, ...params }, capabilities);
    const guest = Object.assign(new Guest(), { url: suite.url, headers: {} });
    let last;
    for await (const told of messages(await guest.post(message, { headers }))) last = told;
    return last;
  }
  /** A call in which a question waits: what its client gets, and its id at the server. */
  async function waiting() {
    const first = send({});
    const { id } = await suite.calls();
    suite.server.send(elicit(WORD, `of ${id}`));
    return { id, ...(await first).result };
  }
  before(async () => Object.assign(suite, await serving()));
  before(async () => Object.assign(suite, { given: await waiting(), process: suite.server.socket }));

  for (const [name, params, options] of [
    ["a guess", () => ({ requestState: "forged" })],
    ["another letter", ({ requestState }) => ({ requestState: requestState.slice(0, -1) + (requestState.endsWith("A") ? "B" : "A") })],
    ["nothing", () => ({ requestState: "" })],
    ["for another tool", ({ requestState }) => ({ requestState, name: "other" })],
    ["for other arguments", ({ requestState }) => ({ requestState, arguments: { path: "/" } })],
    ["by another method", ({ requestState }) => ({ requestState }), { method: "prompts/get" }],
  ]) {
    test(name, async () => {
      const before = suite.server.lines.filter((line) => line.includes("tools/call")).length;
      const { error } = await send({ ...params(suite.given), inputResponses: { q1: word("stolen") } }, options);
      assert.equal(error.code, -32602);
      assert.match(error.message, /requestState is not valid/);
      assert.equal(suite.server.lines.filter((line) => line.includes("tools/call")).length, before);
      assert.ok(!suite.server.lines.some((line) => line.includes("stolen")));
    });
  }

  for (const [name, answer] of Object.entries({
    "content that doesn't fit": { action: "accept", content: { word: 7 } },
    "an action of its own": { action: "maybe" },
    "a number": 7,
    "null": null,
    "no content": { action: "accept" },
  })) {
    test(`an answer that is ${name}: the question is asked again`, async () => {
      const { requestState, inputRequests } = suite.given;
      const [key] = Object.keys(inputRequests);
      const { result } = await send({ requestState, inputResponses: { [key]: answer } });
      assert.equal(result.resultType, "input_required");
      assert.ok(!suite.server.lines.some((line) => line.includes(`"id":"of ${suite.given.id}"`)));
      suite.given = { ...suite.given, ...result };
    });
  }

  test("an answer to what wasn't asked: the question is asked again", async () => {
    const { result } = await send({ requestState: suite.given.requestState, inputResponses: { other: word() } });
    assert.equal(result.resultType, "input_required");
    suite.given = { ...suite.given, ...result };
  });

  test("the same twice brings the same, and the tool runs once", async () => {
    const { requestState, inputRequests, id } = suite.given;
    const [key] = Object.keys(inputRequests);
    const again = (said) => send({ requestState, inputResponses: { [key]: word(said) } });
    const first = again("first");
    assert.deepEqual((await suite.server.hears((message) => message.id === `of ${id}`)).result.content, { word: "first" });
    suite.server.socket = suite.process; // another client has started another one
    suite.server.send({ id, result: text("done") });
    assert.deepEqual((await first).result.content, text("done").content);
    assert.deepEqual((await again("second")).result.content, text("done").content);
    assert.ok(!suite.server.lines.some((line) => line.includes("second")));
  });

  test("a legacy session doesn't become modern in the middle", async () => {
    const guest = await Guest.at(suite.url, ASKS);
    const { message, headers } = modern(5, "tools/call", { name: "do" }, ASKS);
    const before = suite.server.lines.length;
    const switched = await guest.post(message);
    assert.deepEqual([switched.status, (await switched.json()).error.code], [400, -32020]);
    const unsaid = await guest.post({ id: 6, method: "tools/call", params: { name: "do" } }, { headers });
    assert.deepEqual([unsaid.status, (await unsaid.json()).error.code], [400, -32602]);
    assert.ok((await guest.call("test/mark")).result);
    assert.ok(suite.server.lines.slice(before).every((line) => !line.includes("tools/call")));
    await guest.leave();
  });
});

describe("two windows of one app at one server", () => {
  const never = () => assert.fail("a window is asked what isn't its own");
  const call = (url, name, answer = never) => callModern(url, name, "tools/call", { name, arguments: { window: name } }, { capabilities: { ...ASKS, sampling: {}, roots: {} }, answer });

  /** Both windows have a call open, the other one's first. */
  async function both(url, calls) {
    const other = call(url, "B");
    const { id: b } = await calls();
    const own = call(url, "A");
    const { id: a } = await calls();
    return { a, b, own, other };
  }

  test("A's question is asked on the page, and neither window gets it", async () => {
    const { server, url, announce, calls } = await serving();
    const person = await Person.at(announce);
    const { a, b, own, other } = await both(url, calls);
    server.send(elicit({ ...WORD, message: "A's secret?" }));
    const ticket = await person.sees("A's secret?");
    assert.equal((await person.accept(ticket.id, { word: "for A" })).status, 200);
    const { result } = await server.hears(({ id }) => id === 7);
    assert.deepEqual([result.content, result._meta[OUTCOME].by], [{ word: "for A" }, { route: "page", human: true }]);
    for (const [id, said] of [[a, "A"], [b, "B"]]) server.send({ id, result: text(said) });
    assert.deepEqual([(await own).result.content, (await other).result.content], [text("A").content, text("B").content]);
  });

  for (const [method, params] of [
    ["elicitation/create", WORD],
    ["elicitation/create", { mode: "url", message: "Sign in", url: "https://example.com/", elicitationId: "e" }],
    ["sampling/createMessage", { messages: [{ role: "user", content: { type: "text", text: "A's prompt" } }], maxTokens: 1 }],
    ["roots/list", {}],
  ]) {
    test(`${method}${params.mode ? " of a link" : ""} without a page: it is refused with the reason`, async () => {
      const { server, url, calls } = await serving('ask = "client"');
      const { a, b, own, other } = await both(url, calls);
      server.send({ id: 7, method, params });
      const { error } = await server.hears(({ id }) => id === 7);
      assert.equal(error.code, -32600);
      assert.match(error.message, /several clients have calls open here/);
      for (const [id, said] of [[a, "A"], [b, "B"]]) server.send({ id, result: text(said) });
      assert.deepEqual([(await own).result.content, (await other).result.content], [text("A").content, text("B").content]);
    });
  }

  test("a window that is alone is asked itself", async () => {
    const { server, url, calls } = await serving('ask = "client"');
    const own = call(url, "A", () => word("mine"));
    const { id } = await calls();
    server.send(elicit(WORD));
    assert.deepEqual((await server.hears(({ id }) => id === 7)).result.content, { word: "mine" });
    server.send({ id, result: text("done") });
    assert.deepEqual((await own).result.content, text("done").content);
  });

  test("windows with a session each have a server of their own", async () => {
    const server = await Puppet.ready();
    const { urls: { one: url } } = await serve(upstream("one", server.command, 'server_era = "legacy"'));
    const [a, b] = [await Guest.at(url, ASKS), await Guest.at(url, ASKS)];
    const socket = server.socket; // the second one's
    const other = a.tool("do", {}, never);
    await server.hears(({ method }) => method === "tools/call");
    const own = b.tool("do", {}, () => word("mine"));
    const { id } = await server.hears(({ method }) => method === "tools/call");
    assert.equal(server.socket, socket);
    server.send(elicit(WORD));
    assert.deepEqual((await server.hears(({ id }) => id === 7)).result.content, { word: "mine" });
    server.send({ id, result: text("done") });
    assert.deepEqual((await own).result, text("done"));
    await Promise.all([a.leave(), b.leave()]);
    await other.catch(() => undefined);
  });
});
