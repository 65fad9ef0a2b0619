// A server with bad intentions: messages out of order or out of shape, and what of them reaches the client, the person and the terminal.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { before, describe, test } from "node:test";
import { Person } from "./person.mjs";
import { ASKS, Between, OUTCOME, Puppet, WORD, elicit, form, link, nested, shared, text, word } from "./raw.mjs";
import { Guest } from "./visitor.mjs";
import { Wire, listen, until, wrap } from "./world.mjs";

describe("batches of a server", () => {
  const Q = elicit(WORD);
  const many = (count, message = (id) => elicit(WORD, id)) => JSON.stringify(Array.from({ length: count }, (_, n) => message(1_000 + n)));
  const cases = [
    ["a batch in a batch", nested(Q, 2), /can't contain another batch/],
    ["two thousand levels in 136 KB", nested(Q, 2_000), /can't contain another batch/],
    ["a hundred thousand levels of nothing", "[".repeat(100_000) + "]".repeat(100_000), /can't contain another batch/],
    ["101 questions", many(101), /at most 100 messages/],
    ["10,000 notifications", many(10_000, () => ({ method: "n" })), /at most 100 messages/],
    ["no message at all", "[]", /must contain a message/],
    ["a batch after 99 honest questions", `[${Array(99).fill(JSON.stringify(Q))},[${JSON.stringify(Q)}]]`, /can't contain another batch/],
    ["a batch of answers in a batch", nested({ jsonrpc: "2.0", id: 1, result: {} }, 2), /can't contain another batch/],
  ];
  const legacy = shared();
  for (const [name, bytes, why] of cases) test(name, () => legacy.peers.refuses(bytes, { why }));

  const modern = shared({ era: "modern" });
  for (const [name, bytes] of cases) {
    test(`${name}, from a modern server, which has no requests and so gets no answer`, async () => {
      const { peers } = modern;
      const call = await peers.call();
      const counts = peers.counts;
      peers.server.write(bytes);
      await peers.settles();
      const { client, server } = peers.since(counts);
      assert.deepEqual([client.length, server.length], [2, 2], "only the marks");
      assert.deepEqual((await call.ends()).result, text("done"));
    });
  }
});

describe("messages of a server that can be read in two ways", () => {
  const suite = shared();
  const params = JSON.stringify(WORD);
  const within = (more) => `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":${params.slice(0, -1)},${more}}}`;
  for (const [name, bytes, expected = {}] of [
    ["a second method", `{"jsonrpc":"2.0","id":7,"method":"notifications/message","method":"elicitation/create","params":${params}}`],
    ["Method", `{"jsonrpc":"2.0","id":7,"method":"roots/list","Method":"elicitation/create","params":${params}}`],
    ["METHOD alone", `{"jsonrpc":"2.0","id":7,"METHOD":"elicitation/create","params":${params}}`],
    ["an escaped method", `{"jsonrpc":"2.0","id":7,"method":"roots/list","m\\u0065thod":"elicitation/create","params":${params}}`],
    ["a second id", `{"jsonrpc":"2.0","id":6,"id":7,"method":"elicitation/create","params":${params}}`],
    ["Id", `{"jsonrpc":"2.0","id":7,"Id":8,"method":"elicitation/create","params":${params}}`],
    ["second params", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{},"params":${params}}`],
    ["params with a long s", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":${params},"paramſ":{}}`],
    ["jsonRPC", `{"jsonrpc":"2.0","jsonRPC":"1.0","id":7,"method":"elicitation/create","params":${params}}`],
    ["a result in a request", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","Result":{},"result":{},"params":${params}}`],
    ["a second message to the person", within('"message":"Another"')],
    ["Message", within('"Message":"Another"')],
    ["a second mode", within('"mode":"form","mode":"url"')],
    ["Mode", within('"Mode":"url"')],
    ["URL", within('"URL":"javascript:alert(1)"')],
    ["a second schema", within('"requestedSchema":{"type":"object","properties":{}}')],
    ["a schema with a long s", within('"requeſtedSchema":{"type":"object"}')],
    ["second _meta", within('"_meta":{},"_meta":{"dev.midcall/timeoutMs":1}')],
    ["properties twice", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"pin":{"type":"string"}},"properties":{}}}}`, { code: -32602 }],
    ["a field twice", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"},"a":{"type":"number"}}}}}`, { code: -32602 }],
    ["a title twice", `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":"Name","title":"Password"}}}}}`, { code: -32602 }],
  ]) test(name, () => suite.peers.refuses(bytes, { id: 7, ...expected }));

  for (const [name, id] of Object.entries({ "null": "null", "an object": "{}", "a list": "[7]", "true": "true", "5,000 characters": `"${"x".repeat(5_000)}"` })) {
    const bytes = `{"jsonrpc":"2.0","id":${id},"method":"elicitation/create","params":${JSON.stringify(link("javascript:alert(1)"))}}`;
    test(`an id that is ${name}`, () => suite.peers.refuses(bytes, { why: /needs an id/ }));
  }

  test("an id beyond any double is kept as it is written", () => {
    const bytes = `{"jsonrpc":"2.0","id":1e999,"method":"elicitation/create","params":${JSON.stringify(link("javascript:alert(1)"))}}`;
    return suite.peers.refuses(bytes, { id: Infinity, why: /link is refused/ });
  });

  test("an answer with a second result is an error for the client, and the only answer of the call", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const counts = peers.counts;
    peers.server.write(`{"jsonrpc":"2.0","id":${call.known},"result":{"content":[]},"Result":{"content":[1]}}`);
    const { error } = await call.response;
    assert.equal(error.code, -32603, error.message);
    await call.ends(text("once more"));
    await peers.settles();
    const { client, server } = peers.since(counts);
    assert.deepEqual([client.length, server.length], [3, 2], "the error, and the marks");
  });
});

describe("questions and answers out of order", () => {
  const suite = shared();

  test("the same id twice: the second is refused, the first is answered", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const { id, response } = peers.asks(WORD);
    await peers.question();
    peers.server.send(elicit({ ...WORD, message: "Another" }, id));
    const { error } = await response;
    assert.equal(error.code, -32600);
    peers.answer(id, word("first"));
    const { result } = await peers.server.hears((message) => message.id === id);
    assert.deepEqual(result.content, { word: "first" });
    await call.ends();
    await peers.serves();
  });

  test("a question by the id of a passed request", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const { id, response } = peers.asks({}, "r1", "roots/list");
    await peers.question("roots/list");
    peers.server.send(elicit(WORD, id));
    assert.equal((await response).error.code, -32600);
    peers.answer(id, { roots: [] });
    assert.deepEqual((await peers.server.hears((message) => message.id === id)).result, { roots: [] });
    await call.ends();
  });

  test("cancelled before it is asked", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const counts = peers.counts;
    peers.server.send({ method: "notifications/cancelled", params: { requestId: "early" } });
    const { response } = peers.asks(WORD, "early");
    const { result } = await response;
    assert.deepEqual([result.action, result._meta[OUTCOME].state], ["cancel", "withdrawn"]);
    await peers.settles();
    assert.ok(peers.since(counts).client.every((line) => !line.includes("elicitation/create")));
    await call.ends();
  });

  test("a question whose call has ended", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const { id, response } = peers.asks(WORD);
    await peers.question();
    const ended = call.ends();
    const { result } = await response;
    assert.deepEqual([result.action, result._meta[OUTCOME]], ["cancel", { state: "withdrawn", reason: "by_server" }]);
    await peers.takenBack(id);
    await ended;
    peers.answer(id, word("too late"));
    await peers.settles();
    assert.ok(!peers.server.lines.some((line) => line.includes("too late")));
  });

  test("an answer twice, and answers that nobody asked for", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const counts = peers.counts;
    for (const id of [call.known, call.known, 999_999, "q1", null]) peers.server.send({ id, result: text(`for ${id}`) });
    assert.deepEqual((await call.response).result, text(`for ${call.known}`));
    await peers.settles();
    const { client } = peers.since(counts);
    assert.equal(client.filter((line) => JSON.parse(line).id !== null).length, 3, client.join("\n"));
    await peers.serves();
  });

  test("both a result and an error", async () => {
    const { peers } = suite;
    const call = await peers.call();
    peers.server.send({ id: call.known, result: text("yes"), error: { code: -32042, message: "m", data: { elicitations: [link("javascript:alert(1)")] } } });
    assert.doesNotMatch(JSON.stringify(await call.response), /alert/);
  });

  test("a thousand questions that nobody answers make room when their call is cancelled", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const questions = Array.from({ length: 1_000 }, () => peers.asks(WORD));
    assert.equal((await peers.asks(WORD).response).error.code, -32600);
    peers.client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: call.id } });
    for (const { response } of questions) assert.equal((await response).result.action, "cancel");
    for (const { id } of questions) assert.equal((await peers.question()).id, id);
    await peers.serves();
  });

  test("progress for tokens that nobody gave", async () => {
    const { peers } = suite;
    const call = await peers.call();
    for (const progressToken of ["unknown", 1e300, null, {}, []]) peers.server.send({ method: "notifications/progress", params: { progressToken, progress: 1e308, total: -1 } });
    peers.server.write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1e999,"progress":1e999}}');
    await call.ends();
    await peers.serves();
  });

  test("a flood of notifications neither loses nor delays an answer", async () => {
    const { peers } = suite;
    const call = await peers.call();
    const before = peers.client.lines.length;
    peers.server.write(Array.from({ length: 20_000 }, (_, n) => `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${n}}}`).join("\n"));
    await call.ends();
    assert.equal(peers.client.lines.length, before + 20_001);
    await peers.serves();
  });
});

describe("deadlines at the client", () => {
  for (const [name, options, params] of [
    ["--timeout", { flags: ["--timeout", "100ms"] }, WORD],
    ["patience", { policy: 'patience = "100ms"' }, WORD],
    ["the server's own", {}, { ...WORD, _meta: { "dev.midcall/timeoutMs": 100 } }],
    ["patience, which a server can't stretch", { policy: 'patience = "100ms"' }, { ...WORD, _meta: { "dev.midcall/timeoutMs": 86_400_000 } }],
  ]) {
    test(name, async () => {
      const peers = await Between.open(options);
      const call = await peers.call();
      const { id, response } = peers.asks(params);
      await peers.question();
      const { result } = await response;
      assert.deepEqual([result.action, result._meta[OUTCOME]], ["cancel", { state: "timed_out" }]);
      await peers.takenBack(id);
      peers.answer(id, word("too late"));
      await peers.settles();
      assert.ok(!peers.server.lines.some((line) => line.includes("too late")));
      await call.ends();
    });
  }
});

describe("lines that aren't messages", () => {
  const suite = shared();
  const ESC = "\u001b";
  const deep = (open, close) => open.repeat(100_000) + close.repeat(100_000);
  for (const [name, line, told] of [
    ["a cleared screen", `${ESC}[2J${ESC}[H$ `, /<U\+001B>\[2J/],
    ["a clipboard", `${ESC}]52;c;cm0gLXJmIC8=\u0007`, /<U\+001B>\]52;c;.*<U\+0007>/],
    ["a title", `${ESC}]0;root@host${ESC}\\`, /<U\+001B>\]0;/],
    ["C1 controls", "\u009b31mred", /<U\+009B>31mred/],
    ["a line drawn over", "harmless\rrm -rf /", /harmless/],
    ["text that runs backwards", "\u202egnp.exe", /<U\+202E>gnp\.exe/],
    ["NUL, bell and backspace", "a\u0000\u0007\bb", /a<U\+0000><U\+0007><U\+0008>b/],
    ["bytes that aren't UTF-8", Buffer.from([0x78, 0xff, 0xfe, 0x1b, 0x5b, 0x41]), /x\ufffd.*<U\+001B>\[A/],
    ["a megabyte on one line", "x".repeat(1_000_000), /more bytes/],
    ["arrays to no end", `{"a":${deep("[", "]")}}`, /more bytes/],
    ["objects to no end", deep('{"a":', "}"), /more bytes/],
    ["half a message", '{"jsonrpc":"2.0","id":1,"result":', /"result":/],
    ["two messages on one line", '{"jsonrpc":"2.0","method":"a"} {"jsonrpc":"2.0","method":"b"}', /"method":"b"/],
    ["a mark of byte order", '\ufeff{"jsonrpc":"2.0","method":"marked"}', /<U\+FEFF>.*marked/],
  ]) {
    test(name, async () => {
      const { peers } = suite;
      const counts = peers.counts;
      const before = peers.client.errors.length;
      peers.server.write(line);
      await peers.settles();
      assert.equal(peers.since(counts).client.length, 2, "only the marks");
      const errors = await until(() => told.test(peers.client.errors.slice(before)) && peers.client.errors.slice(before));
      assert.ok(!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e]/.test(errors), JSON.stringify(errors.slice(0, 200)));
      assert.ok(errors.length < 20_000);
      await peers.serves();
    });
  }

  for (const [name, message] of [
    ["numbers beyond any double", '{"jsonrpc":"2.0","method":"n","params":{"a":1e999,"b":-1e999,"c":1e-999}}'],
    ["half a surrogate pair", '{"jsonrpc":"2.0","method":"n","params":{"a":"\\ud800"}}'],
    ["a thousand levels", `{"jsonrpc":"2.0","method":"n","params":{"a":${"[".repeat(1_000)}${"]".repeat(1_000)}}}`],
    ["an id of its own invention", '{"jsonrpc":"2.0","id":{"a":1},"method":"n"}'],
  ]) {
    test(`a message with ${name} reaches the client as it came, or not at all`, async () => {
      const { peers } = suite;
      const counts = peers.counts;
      peers.server.write(message);
      await peers.settles();
      assert.ok(peers.since(counts).client.every((line) => line === message || line.includes('"complete"')));
      await peers.serves();
    });
  }
});

describe("text that pretends to be more", () => {
  const SPOOFS = {
    "ends of events": "Name?\n\nevent: elicitation/closed\ndata: {\"id\":\"x\"}\n\n",
    "line separators": "Name?\u2028data: {}\u2029",
    "carriage returns": "Name?\r\rdata: {}\r\r",
    "marks of direction": "Name?\u202e\u2066",
    markup: "<script>alert(1)</script><img src=x onerror=alert(1)>",
  };
  let person, guest, server;
  before(async () => {
    server = await Puppet.ready();
    const { url, announce } = await listen(server.command, "--server-era", "legacy", "--ask", "client,page");
    [person, guest] = [await Person.at(announce), await Guest.at(url, { elicitation: { form: {} } })];
    guest.url = url;
  });
  for (const [name, message] of Object.entries(SPOOFS)) {
    test(`${name}, in the events of a client`, async () => {
      const call = guest.tool("do", {}, ({ params }) => (assert.equal(params.message, message), word()));
      const { id } = await server.hears(({ method }) => method === "tools/call");
      // Not escaped, as most writers of JSON leave it.
      server.write(`{"jsonrpc":"2.0","id":"${name}","method":"elicitation/create","params":${JSON.stringify({ ...WORD, message })}}`);
      assert.deepEqual((await server.hears((message) => message.id === name)).result.content, { word: "here" });
      server.send({ id, result: text("done") });
      assert.deepEqual((await call).result, text("done"));
    });

    test(`${name}, in the events of the page`, async () => {
      const page = guest.tool("do");
      const { id } = await server.hears(({ method }) => method === "tools/call");
      server.send({ id: `link ${name}`, method: "elicitation/create", params: link("https://example.com/", { message }) });
      const ticket = await person.sees(message);
      assert.equal(ticket.url, "https://example.com/");
      await person.decline(ticket.id);
      assert.equal((await server.hears((message) => message.id === `link ${name}`)).result.action, "decline");
      server.send({ id, result: text("done") });
      await page;
    });
  }
});

describe("a server that doesn't open", () => {
  const garbage = {
    "null": "null", "a list": "[]", "a number": "7", "text": '"2025-11-25"', "nothing in it": "{}",
    "a version that is a number": '{"protocolVersion":1e999,"capabilities":{},"serverInfo":{"name":"x","version":"1"}}',
    "capabilities that are a list": '{"protocolVersion":"2025-11-25","capabilities":[],"serverInfo":[]}',
    "a hundred levels": `{"protocolVersion":"2025-11-25","capabilities":{"a":${"[".repeat(100)}${"]".repeat(100)}},"serverInfo":{"name":{},"version":[]}}`,
  };
  for (const [name, result] of Object.entries(garbage)) {
    test(`answers initialize with ${name}`, async () => {
      const server = await Puppet.ready({ initialize: undefined });
      const { command } = await wrap(server.command, "--server-era", "legacy");
      const client = new Wire(command);
      const opened = client.call("initialize", { protocolVersion: "2025-11-25", capabilities: ASKS, clientInfo: { name: "wire", version: "1" } });
      const { id } = await server.hears(({ method }) => method === "initialize");
      server.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`);
      const { result: told, error } = await opened;
      assert.ok(told !== undefined || error, "the client hears of it");
      assert.ok((await client.call("test/mark")).result, "and the gateway is still there");
    });
  }

  test("asks before it is opened, and exits in the middle of a question", async () => {
    const server = await Puppet.ready({ initialize: undefined });
    const { command, announce } = await wrap(server.command, "--server-era", "legacy", "--ask", "page");
    const client = new Wire(command);
    const person = await Person.at(announce);
    const opened = client.call("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "wire", version: "1" } });
    await server.hears(({ method }) => method === "initialize");
    server.send(elicit(WORD));
    const ticket = await person.sees(WORD.message);
    server.leaves();
    assert.match((await opened).error.message, /the server ended/);
    assert.equal((await person.closed(ticket.id)).reason, "server_gone");
    await client.end();
  });

  test("asks with its last breath", async () => {
    const peers = await Between.open({ flags: ["--ask", "page"] });
    const call = await peers.call();
    const before = peers.client.lines.length;
    peers.server.send(elicit(WORD));
    peers.server.leaves();
    assert.match((await call.response).error.message, /the server ended/);
    await peers.client.end();
    assert.equal(peers.client.lines.length, before + 1);
  });
});

describe("a server elsewhere", () => {
  const MANY_FIELDS = form(Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, { type: "string" }])));
  const suite = {};
  let events = [];
  before(async () => {
    suite.heard = [];
    const http = createServer(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      if (request.method !== "POST") return response.writeHead(405).end();
      const message = JSON.parse(body);
      suite.heard.push(message);
      const json = (result) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
      if (message.method === "initialize") return json({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "elsewhere", version: "1" } });
      if (message.method !== "tools/call") return response.writeHead(202).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      const last = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: text("done") });
      response.end([...events, last].map((data) => `data: ${data}\n\n`).join(""));
    }).listen(0, "127.0.0.1");
    await once(http, "listening");
    http.unref();
    const { command } = await wrap({ url: `http://127.0.0.1:${http.address().port}/mcp` }, "--server-era", "legacy");
    suite.client = new Wire(command);
    await suite.client.open(ASKS);
  });
  for (const [name, event, id = null] of [
    ["a batch in a batch", nested(elicit(WORD), 2)],
    ["two thousand levels", nested(elicit(WORD), 2_000)],
    ["101 questions", JSON.stringify(Array.from({ length: 101 }, (_, n) => elicit(WORD, n)))],
    ["Method", '{"jsonrpc":"2.0","id":7,"method":"roots/list","Method":"elicitation/create","params":{}}', 7],
    ["a link that nobody should open", JSON.stringify(elicit(link("javascript:alert(1)"))), 7],
    ["201 fields", JSON.stringify(elicit(MANY_FIELDS)), 7],
  ]) {
    test(name, async () => {
      events = [event];
      const before = suite.client.lines.length;
      assert.deepEqual((await suite.client.call("tools/call", { name: "do" })).result, text("done"));
      const found = await until(() => suite.heard.find((message) => message.error && message.id === id));
      suite.heard.splice(0);
      assert.ok([-32600, -32602].includes(found.error.code), found.error.message);
      assert.equal(suite.client.lines.length, before + 1, "the result is all that the client gets");
    });
  }
});
