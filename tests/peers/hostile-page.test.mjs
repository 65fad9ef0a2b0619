// Whoever comes to the page's port without being the person: other pages, other programs, and tabs that are too late.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Person } from "./person.mjs";
import { Between, WORD } from "./raw.mjs";
import { hangUp, raw, socket, statuses } from "./sockets.mjs";
import { announced, times, until } from "./world.mjs";

const here = {};
before(async () => {
  const peers = await Between.open({ capabilities: {}, flags: ["--hold", "never"] });
  const other = await Between.open({ capabilities: {} });
  Object.assign(here, { peers, keys: await announced(peers.announce), other: await announced(other.announce) });
  here.person = await Person.at(peers.announce);
  here.port = Number(new URL(here.keys.api).port);
});
after(hangUp);

/** A question that waits on the page. */
async function waits() {
  const call = await here.peers.call();
  const { response } = here.peers.asks(WORD);
  const ticket = await here.person.sees(WORD.message);
  return { id: ticket.id, response, ends: () => call.ends() };
}

/** The question is still open, and the person's own answer is the one that counts. */
async function isOpen({ id, response, ends }) {
  assert.equal((await here.person.status(id)).state, "open");
  assert.equal((await here.person.accept(id, { word: "the person's" })).status, 200);
  assert.deepEqual((await response).result.content, { word: "the person's" });
  await ends();
}

const BODY = '{"content":{"word":"a stranger\'s"}}';

/** A request by hand. Headers that are `undefined` are left out, and lists are sent several times. */
function request(method, path, headers = {}, body = "") {
  const all = { Host: `127.0.0.1:${here.port}`, Origin: here.keys.page, "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body), Connection: "close", ...headers };
  const lines = Object.entries(all).filter(([, value]) => value !== undefined).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`));
  return raw(here.port, `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
}

const accept = (id, headers, body = BODY) => request("POST", `/elicitation/${id}/accept`, headers, body);
const bearer = (token = here.keys.bearer) => ({ Authorization: `Bearer ${token}` });

describe("keys that aren't", () => {
  for (const [name, headers] of Object.entries({
    "none": () => ({}),
    "an empty one": () => bearer(""),
    "a guess": () => bearer("x".repeat(43)),
    "another letter": () => bearer(here.keys.bearer.slice(0, -1) + (here.keys.bearer.endsWith("A") ? "B" : "A")),
    "one more letter": () => bearer(`${here.keys.bearer}A`),
    "half of it": () => bearer(here.keys.bearer.slice(0, 20)),
    "capital letters": () => bearer(here.keys.bearer.toUpperCase()),
    "two of them": () => ({ Authorization: [`Bearer ${here.keys.bearer}`, `Bearer ${here.keys.bearer}`] }),
    "Basic": () => ({ Authorization: `Basic ${here.keys.bearer}` }),
    "no scheme": () => ({ Authorization: here.keys.bearer }),
    "a cookie": () => ({ Cookie: `bearer=${here.keys.bearer}` }),
    "another gateway's bearer": () => bearer(here.other.bearer),
    "a launch token": () => bearer(new URL(here.other.launch).hash.slice(1)),
  })) {
    test(`${name} answers nothing`, async () => {
      const ticket = await waits();
      const said = await accept(ticket.id, headers());
      assert.deepEqual(statuses(said), [401]);
      assert.doesNotMatch(said, /stranger|access-control-allow-origin/i);
      await isOpen(ticket);
    });

    test(`${name} follows no events`, async () => {
      const said = await request("GET", "/elicitation/events", headers());
      assert.deepEqual(statuses(said), [401]);
      assert.doesNotMatch(said, /^data:/m);
    });
  }

  test("a bearer in the query opens nothing", async () => {
    assert.deepEqual(statuses(await request("GET", `/elicitation/events?bearer=${here.keys.bearer}&access_token=${here.keys.bearer}`)), [401]);
  });
});

describe("pages and names of others, with the right key", () => {
  for (const [name, headers] of Object.entries({
    "another page": () => ({ Origin: "http://evil.example" }),
    "a sandboxed page": () => ({ Origin: "null" }),
    "our name as a part of another": () => ({ Origin: `http://127.0.0.1:${here.port}.evil.example` }),
    "another scheme": () => ({ Origin: `https://127.0.0.1:${here.port}` }),
    "another port": () => ({ Origin: `http://127.0.0.1:${here.port + 1}` }),
    "another gateway's page": () => ({ Origin: here.other.page }),
    "two origins": () => ({ Origin: [here.keys.page, "http://evil.example"] }),
    "a name that points here": () => ({ Host: `evil.example:${here.port}` }),
    "a host without a port": () => ({ Host: "127.0.0.1" }),
    "another address": () => ({ Host: `127.0.0.2:${here.port}` }),
    "two hosts": () => ({ Host: [`127.0.0.1:${here.port}`, "evil.example"] }),
    "no host": () => ({ Host: undefined }),
  })) {
    test(name, async () => {
      const ticket = await waits();
      const said = await accept(ticket.id, { ...bearer(), ...headers() });
      assert.ok([400, 403].includes(statuses(said)[0]), said);
      assert.doesNotMatch(said, /access-control-allow-origin/i);
      await isOpen(ticket);
    });
  }

  for (const origin of ["http://evil.example", "null"]) {
    test(`a browser asks first for ${origin}: no`, async () => {
      const said = await request("OPTIONS", "/elicitation/events", { Origin: origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization" });
      assert.deepEqual(statuses(said), [403]);
      assert.doesNotMatch(said, /access-control-allow/i);
    });
  }
});

describe("answers that don't count", () => {
  for (const [name, status, body, headers = {}] of [
    ["the wrong type", 422, '{"content":{"word":7}}'],
    ["nothing", 422, '{"content":{}}'],
    ["no content", 422, "{}"],
    ["content that is a list", 400, '{"content":["a stranger\'s"]}'],
    ["content twice", 400, '{"content":{"word":7},"content":{"word":"a stranger\'s"}}'],
    ["half of it", 400, BODY.slice(0, -1)],
    ["a list", 400, `[${BODY}]`],
    ["two bodies", 400, BODY + BODY],
    ["200 levels", 400, `{"content":${"[".repeat(200)}${"]".repeat(200)}}`],
    ["two megabytes", 413, `{"content":{"word":"${"x".repeat(2 * 1024 * 1024)}"}}`],
    ["text", 415, BODY, { "Content-Type": "text/plain" }],
    ["a form", 415, "content=x", { "Content-Type": "application/x-www-form-urlencoded" }],
    ["no type", 415, BODY, { "Content-Type": undefined }],
    ["JSON of another kind", 415, BODY, { "Content-Type": "application/jsonx" }],
  ]) {
    test(name, async () => {
      const ticket = await waits();
      const said = await accept(ticket.id, { ...bearer(), ...headers }, body);
      assert.deepEqual(statuses(said), [status], said);
      assert.doesNotMatch(said, /stranger/, "nothing is repeated");
      await isOpen(ticket);
      assert.doesNotMatch(here.peers.client.errors, /stranger/);
    });
  }

  for (const [name, path] of Object.entries({
    "a question that never was": "/elicitation/0000/accept",
    "a folder above": "/elicitation/../../etc/passwd",
    "an escaped folder above": "/elicitation/%2e%2e%2f%2e%2e%2fetc%2fpasswd/accept",
    "a NUL": "/elicitation/%00/accept",
    "bytes that aren't text": "/elicitation/%ff%fe/accept",
    "no name": "/elicitation//accept",
    "a name of 60,000 characters": `/elicitation/${"x".repeat(60_000)}/accept`,
    "a file above the page's": "/../../../etc/passwd",
    "a file above, escaped": "/%2e%2e/%2e%2e/etc/passwd",
    "a file above, escaped twice": "/%252e%252e/etc/passwd",
    "a file above, with backslashes": "/..\\..\\etc\\passwd",
    "an absolute path": "//etc/passwd",
    "a file of the page's folder": "/page/../../Cargo.toml",
  })) {
    test(`nothing is at ${name}`, async () => {
      const method = path.endsWith("accept") ? "POST" : "GET";
      const said = await request(method, path, bearer(), method === "POST" ? BODY : "");
      assert.ok([400, 404, 414, 431].includes(statuses(said)[0]), said.slice(0, 300));
      assert.doesNotMatch(said, /root:|\[package\]|stranger/);
    });
  }

  for (const method of ["GET", "PUT", "DELETE", "PATCH", "HEAD"]) {
    test(`${method} answers nothing`, async () => {
      const ticket = await waits();
      assert.deepEqual(statuses(await request(method, `/elicitation/${ticket.id}/accept`, bearer())), [405]);
      await isOpen(ticket);
    });
  }
});

describe("tabs that are too late", () => {
  let script;
  before(async () => (script = await Person.script(here.peers.announce)));
  const ways = { accept: (who, id) => who.accept(id, { word: who === script ? "the script's" : "the person's" }), decline: (who, id) => who.decline(id), cancel: (who, id) => who.cancel(id) };
  for (const [first, second] of [["accept", "accept"], ["accept", "decline"], ["decline", "accept"], ["cancel", "accept"], ["decline", "cancel"]]) {
    test(`${first} and ${second} at the same time: exactly one counts`, async () => {
      const { id, response, ends } = await waits();
      const answers = await Promise.all([ways[first](here.person, id), ways[second](script, id)]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
      const winner = answers[0].status === 200 ? "the person's" : "the script's";
      const { result } = await response;
      assert.equal(result.action, winner === "the person's" ? first : second);
      if (result.action === "accept") assert.deepEqual(result.content, { word: winner });
      assert.equal(result._meta["dev.midcall/outcome"].by.human, winner === "the person's", "and the server hears whose it was");
      await ends();
    });
  }

  for (const [how, closes] of Object.entries({
    answered: async ({ id, response }) => (await here.person.accept(id, { word: "first" }), await response),
    "taken back by its server": async ({ id }) => (here.peers.server.send({ method: "notifications/cancelled", params: { requestId: `q${here.peers.asked}` } }), await here.person.closed(id)),
    "over with its call": async ({ id, response, ends }) => (await ends(), await here.person.closed(id), await response),
  })) {
    test(`a question that is ${how} takes no answer`, async () => {
      const ticket = await waits();
      await closes(ticket);
      const before = here.peers.server.lines.length;
      for (const way of Object.values(ways)) assert.equal((await way(here.person, ticket.id)).status, 409);
      assert.deepEqual(statuses(await accept(ticket.id, bearer())), [409]);
      await here.peers.settles();
      assert.equal(here.peers.server.lines.length, before + 2, "only the marks");
      if (how !== "over with its call") await ticket.ends();
    });
  }
});

describe("launch tokens", () => {
  const launch = (token, headers, body = JSON.stringify({ token })) => request("POST", "/launch", headers, body);
  const token = ({ launch }) => new URL(launch).hash.slice(1);

  test("work once", async () => {
    assert.deepEqual(statuses(await launch(token(here.keys))), [401], "the person has used it");
  });

  for (const [name, forged] of Object.entries({
    "a guess": () => "x".repeat(43), "nothing": () => "", "another gateway's": () => token(here.other), "a bearer": () => here.keys.bearer,
  })) test(`${name} opens nothing`, async () => assert.deepEqual(statuses(await launch(forged())), [401]));

  test("a list of tokens is refused", async () => assert.deepEqual(statuses(await launch([token(here.other)])), [400]));
  test("two kilobytes are refused", async () => assert.deepEqual(statuses(await launch("x".repeat(2_048))), [413]));
  test("another page can't use one, and it stays good", async () => {
    const peers = await Between.open({ capabilities: {} });
    const keys = await announced(peers.announce);
    const port = Number(new URL(keys.api).port);
    const headers = `Host: 127.0.0.1:${port}\r\nOrigin: http://evil.example\r\nContent-Type: application/json\r\nConnection: close\r\n`;
    const body = JSON.stringify({ token: token(keys) });
    assert.deepEqual(statuses(await raw(port, `POST /launch HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`)), [403]);
    assert.ok((await Person.at(peers.announce)).bearer);
  });
});

describe("every response", () => {
  for (const [path, status] of Object.entries({ "/": 200, "/openapi.json": 200, "/healthz": 200, "/elicitation/events": 401, "/nowhere": 404 })) {
    test(`${path} can't be framed, cached, sniffed or read by other origins`, async () => {
      const said = await request("GET", path);
      assert.deepEqual(statuses(said), [status]);
      for (const header of [/^x-frame-options: DENY/im, /^cache-control: no-store/im, /^x-content-type-options: nosniff/im, /^content-security-policy: default-src 'none'/im, /^referrer-policy: no-referrer/im]) assert.match(said, header);
      assert.doesNotMatch(said, /^(access-control-allow-origin|set-cookie|server):/im);
    });
  }
});

describe("connections that say nothing", () => {
  test("600 of them: the person is served at once, and only 256 stay", async () => {
    const peers = await Between.open({ capabilities: {}, flags: ["--hold", "never"], env: times({ fresh: "0ms" }) });
    const { api, bearer } = await announced(peers.announce);
    const port = Number(new URL(api).port);
    let closed = 0;
    for (let n = 0; n < 600; n++) {
      const one = await socket(port);
      one.on("close", () => closed++).resume();
      if (n % 2) one.write("GET / HTTP/1.1\r\nHost: x");
    }
    const status = await fetch(`${api}/elicitation/status/none`, { headers: { authorization: `Bearer ${bearer}` } });
    assert.equal(status.status, 404, "a valid bearer gets an answer, and there is no such question");
    await until(() => closed >= 600 - 256);
    const person = await Person.at(peers.announce);
    const call = await peers.call();
    const { response } = peers.asks(WORD);
    await person.accept((await person.sees(WORD.message)).id, { word: "here" });
    assert.deepEqual((await response).result.content, { word: "here" });
    await call.ends();
    hangUp();
  });

  for (const [name, bytes] of Object.entries({ "nothing": "", "half a line": "GET / HT", "half the headers": "GET / HTTP/1.1\r\nHost: x\r\nX: " })) {
    test(`${name} of a request: the connection ends when its time is up`, async () => {
      suite ??= Between.open({ capabilities: {}, env: times({ headers: "100ms" }) });
      const { api } = await announced((await suite).announce);
      const said = await raw(Number(new URL(api).port), bytes);
      assert.ok(statuses(said).every((status) => status >= 400));
    });
  }
  let suite;
});
