// Clients that come over HTTP to `midcall wrap --listen`: what the SDKs' own clients never do on purpose.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { BOOKED, TABLE } from "./jobs.mjs";
import { Person } from "./person.mjs";
import { Guest, callModern, events, messages, modern } from "./visitor.mjs";
import { ALL, AT_ONCE, Client, Process, SERVERS, alive, listen, plain, times, until, wrap } from "./world.mjs";

const FORM = { elicitation: { form: {} } };
const text = ({ result }) => JSON.parse(result.content[0].text);
const word = (said) => ({ action: "accept", content: { word: said } });

/** A plain server behind a gateway that listens, and what it hears. */
async function start(flags = [], env = {}) {
  const { announce, command } = await wrap(plain(), "--listen", "127.0.0.1:0", "--server-era", "legacy", ...flags);
  const file = join(dirname(announce), "heard");
  const gateway = new Process(command, { env: { MIDCALL_HEARD: file, ...env } });
  const url = (await gateway.told.next(({ unreadable }) => unreadable)).unreadable;
  const heard = async () => (await readFile(file, "utf8").catch(() => "")).split("\n").slice(0, -1);
  const servers = async () => (await heard()).filter((line) => line.startsWith("pid ")).map((line) => Number(line.slice(4)));
  return { announce, gateway, url, heard, servers, hears: (line) => until(async () => (await heard()).find((one) => one.includes(line)), line) };
}

describe("http front", { concurrency: AT_ONCE }, () => {
  for (const sdk of ["sdk-1.20", "sdk-1", "sdk-2", "python", "python-modern"]) {
    test(`a form, asked by ${sdk} itself`, async () => {
      const { url } = await listen(SERVERS["sdk-1"]);
      const client = new Client(sdk, { url, declare: sdk === "sdk-1.20" ? "{}" : "form+url", steps: [{ tool: "form", answers: [{ message: TABLE, action: "accept", content: BOOKED }] }] });
      assert.deepEqual((await client.brought())[0].content, BOOKED);
      await client.done();
    });

    if (!ALL && !["sdk-1", "python-modern"].includes(sdk)) continue;
    test(`a form, asked on the page beside ${sdk}`, async () => {
      const { url, announce } = await listen(SERVERS["sdk-1"]);
      const client = new Client(sdk, { url, declare: "nothing", steps: [{ tool: "form" }] });
      const person = await Person.at(announce);
      const { id } = await person.sees(TABLE);
      assert.equal((await person.accept(id, BOOKED)).status, 200);
      assert.deepEqual((await client.brought())[0].content, BOOKED);
      await client.done();
    });
  }

  test("a session is a server of its own, and ends with it", async () => {
    const { url, servers } = await start();
    const [one, other] = [await Guest.at(url), await Guest.at(url)];
    const [id, another] = [one, other].map(({ headers }) => headers["mcp-session-id"]);
    assert.match(id, /^[\w-]{43}$/);
    assert.notEqual(id, another);
    const [first, second] = await servers();
    assert.equal((await one.leave()).status, 204);
    await until(async () => !(await alive(first)));
    assert.equal(await alive(second), true);
    assert.equal((await one.post({ id: 9, method: "ping" })).status, 404);
    assert.equal((await one.get()).status, 404);
    assert.equal((await one.leave()).status, 404);
    assert.ok((await other.call("tools/list")).result.tools.length);
  });

  test("what is missing or unknown is told by the status", async () => {
    const { url } = await start(["--max-message", "1"], times({ json: "0ms" }));
    const guest = await Guest.at(url);
    const post = async (message, headers) => (await guest.post(message, { headers })).status;
    const ping = { id: 1, method: "ping" };
    const without = Object.assign(new Guest(), { url, headers: {} });
    assert.equal((await without.post(ping)).status, 400);
    assert.equal((await without.get()).status, 400);
    assert.equal(await post(ping, { "mcp-session-id": guest.headers["mcp-session-id"].slice(1) + "x" }), 404);
    assert.equal(await post(ping, { "mcp-protocol-version": "2099-01-01" }), 400);
    assert.equal(await post(ping, { accept: "text/html" }), 406);
    assert.equal(await post(ping, { "content-type": "text/plain" }), 415);
    assert.equal(await post("{"), 400);
    assert.equal(await post("[]"), 400);
    assert.equal(await post({ id: 1, method: "ping", params: { x: "x".repeat(2 << 20) } }), 413);
    assert.equal((await guest.get({ headers: { accept: "application/json" } })).status, 406);
    assert.equal((await guest.get({ headers: { "last-event-id": "nonsense" } })).status, 400);
    assert.equal((await guest.get({ headers: { "last-event-id": "7-1" } })).status, 400);
    assert.equal((await guest.get({ headers: { "mcp-protocol-version": "2026-07-28" } })).status, 405);
    assert.equal((await fetch(url, { method: "PUT" })).status, 405);
    assert.equal(await post(ping), 200);
  });

  test("a message may be written on several lines, and is still one", async () => {
    const { url, heard } = await start();
    const guest = await Guest.at(url);
    const pretty = JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "length", arguments: { text: "four" } } }, null, 2);
    const [answer] = await Array.fromAsync(messages(await guest.post(pretty)));
    assert.equal(text(answer), 4);
    assert.ok((await heard()).some((line) => line.includes('"four"') && line.startsWith("{") && line.endsWith("}")));
  });

  test("one event stream at a time, and whoever comes back replaces it", async () => {
    const { url } = await start();
    const guest = await Guest.at(url);
    const first = await guest.get();
    const opened = await events(first).next();
    assert.deepEqual(opened.value, { id: "0-0", data: "" }); // where to come back to
    assert.equal((await guest.get()).status, 409);
    const again = await guest.get({ headers: { "last-event-id": "0-0" } });
    assert.equal(again.status, 200);
    await again.body.cancel();
    await until(async () => {
      const next = await guest.get();
      await next.body.cancel();
      return next.status === 200;
    });
  });

  test("an answer comes as JSON, and with news as events; a client that takes no events is asked elsewhere", async () => {
    const { url } = await start();
    const guest = await Guest.at(url, FORM);
    const kind = (response) => response.headers.get("content-type");
    const plainly = await guest.post({ id: 10, method: "tools/call", params: { name: "length", arguments: { text: "x" } } });
    assert.equal(kind(plainly), "application/json");
    assert.equal(kind(await guest.post({ id: 11, method: "ping" }, { headers: { accept: "text/event-stream" } })), "text/event-stream");
    const asked = await guest.post({ id: 12, method: "tools/call", params: { name: "ask" } });
    assert.equal(kind(asked), "text/event-stream");
    await asked.body.cancel();

    const by = events(await guest.get());
    await by.next();
    const call = guest.post({ id: 13, method: "tools/call", params: { name: "ask" } }, { headers: { accept: "application/json" } });
    const { data: question } = (await by.next()).value;
    assert.equal(question.method, "elicitation/create");
    await guest.post({ id: question.id, result: word("by GET") });
    const answered = await call;
    assert.equal(kind(answered), "application/json");
    assert.equal(text(await answered.json())[0].result.content.word, "by GET");
  });

  test("a stream that is cut at any event goes on without loss or repeat", async () => {
    const { url } = await listen(SERVERS["sdk-1"]);
    for (let cut = 0; cut <= 5; cut++) {
      const guest = await Guest.at(url, FORM);
      const leaving = new AbortController();
      const params = { name: "wizard", arguments: {}, _meta: { progressToken: "p" } };
      const seen = [];
      let last;
      /** Reads until so many messages are seen, answering what is asked. */
      async function read(response, most) {
        for await (const { id, data } of events(response)) {
          last = id;
          if (data) seen.push(data);
          if (data && "id" in data && !data.method) return true;
          if (data?.method === "elicitation/create") await guest.post({ id: data.id, result: { action: "accept", content: { value: data.params.message } } });
          if (seen.length >= most) return false;
        }
        throw new Error("the stream ended before its answer");
      }
      const whole = await read(await guest.post({ id: 77, method: "tools/call", params }, { signal: leaving.signal }), cut).catch(() => false);
      leaving.abort();
      if (!whole && last) assert.equal(await read(await guest.get({ headers: { "last-event-id": last } }), Infinity), true);
      const asked = seen.filter(({ method }) => method === "elicitation/create").map(({ params }) => params.message);
      assert.deepEqual(asked, [1, 2, 3, 4, 5].map((step) => `Step ${step}`), `cut after ${cut}`);
      assert.equal(text(seen.at(-1)).length, 5);
      await guest.leave();
    }
  });

  test("a client with a session that disconnects has not cancelled", async () => {
    const { url, announce, hears, heard } = await start([], times({ json: "0ms" })); // events at once
    const person = await Person.at(announce);
    const guest = await Guest.at(url);
    const leaving = new AbortController();
    const response = guest.post({ id: 20, method: "tools/call", params: { name: "ask" } }, { signal: leaving.signal });
    const { id } = await person.sees("Question q0");
    const stream = events(await response);
    const { id: last } = (await stream.next()).value;
    leaving.abort();
    await person.accept(id, { word: "later" });
    await hears('"later"');
    assert.ok(!(await heard()).some((line) => line.includes("cancelled")));
    const rest = await Array.fromAsync(events(await guest.get({ headers: { "last-event-id": last } })));
    assert.equal(text(rest.at(-1).data)[0].result.content.word, "later");
  });

  test("a modern client that closes its stream has cancelled", async () => {
    const { url, announce, hears } = await start();
    const person = await Person.at(announce);
    const leaving = new AbortController();
    const gone = callModern(url, 1, "tools/call", { name: "ask" }, { signal: leaving.signal }).catch(() => "gone");
    const { id } = await person.sees("Question q0");
    leaving.abort();
    assert.equal(await gone, "gone");
    await hears('"notifications/cancelled"');
    const { state, reason } = await person.closed(id);
    assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_client" });
  });

  test("modern clients with equal ids and tokens get their own answers", async () => {
    const { url, servers, announce } = await start(["--hold", "never"]);
    const call = (text) => callModern(url, 1, "tools/call", { name: "length", arguments: { text }, _meta: { progressToken: 1 } }, { capabilities: FORM });
    const lengths = await Promise.all(Array.from({ length: 20 }, (_, n) => call("x".repeat(n))));
    assert.deepEqual(lengths.map((one) => [one.id, text(one)]), Array.from({ length: 20 }, (_, n) => [1, n]));
    // Where several have calls open, which of them a question is for isn't known: it is asked on the page. The first
    // may come while there is no other.
    const answer = ({ params }) => word(params.message);
    const asking = () => callModern(url, 1, "tools/call", { name: "ask" }, { capabilities: FORM, answer });
    const all = Promise.all(Array.from({ length: 5 }, asking));
    const person = await Person.at(announce);
    for (const message of [0, 1, 2, 3, 4].map((n) => `Question q${n}`)) {
      const seen = person.sees(message).then(({ id }) => person.accept(id, { word: message }));
      seen.catch(() => {}); // its client was asked
    }
    const asked = await all;
    assert.deepEqual(asked.map((one) => text(one)[0].result.content.word), [0, 1, 2, 3, 4].map((n) => `Question q${n}`));
    assert.equal((await servers()).length, 1);
    await callModern(url, 1, "tools/call", { name: "length", arguments: { text: "" } }, { capabilities: {} });
    assert.equal((await servers()).length, 2); // other capabilities, another server
    const clientInfo = { name: "another", version: "1" };
    await callModern(url, 1, "tools/call", { name: "length", arguments: { text: "" }, _meta: { "io.modelcontextprotocol/clientInfo": clientInfo } }, { capabilities: FORM });
    assert.equal((await servers()).length, 3); // nobody else is asked what this client asks
  });

  test("a server is opened once, whatever its client sends", async () => {
    const { url, heard } = await start();
    const guest = await Guest.at(url, FORM);
    const opening = (id, capabilities) => ({ jsonrpc: "2.0", id, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "guest", version: "1" } } });
    const again = async (...openings) => {
      const response = await guest.post(JSON.stringify(openings));
      return (await Array.fromAsync(messages(response))).map(({ id, result, error }) => [id, result ?? error.code]);
    };
    assert.deepEqual(await again(opening("a", {}), opening("b", { sampling: {} })), [["a", guest.opened.result], ["b", -32600]]);
    assert.equal(text(await guest.tool("length", { text: "xx" })), 2, "the session goes on");
    assert.equal((await heard()).filter((line) => line.includes('"initialize"')).length, 1);
    // By itself, it opens another session, with a server of its own.
    const other = await guest.post(opening("c", FORM));
    assert.notEqual(other.headers.get("mcp-session-id"), guest.headers["mcp-session-id"]);
    await Array.fromAsync(messages(other));
    assert.equal((await heard()).filter((line) => line.startsWith("pid ")).length, 2);
  });

  test("what a modern request says twice must be the same", async () => {
    const { url } = await listen(SERVERS["sdk-1"]);
    const guest = Object.assign(new Guest(), { url, headers: {} });
    const { message, headers } = modern(7, "tools/call", { name: "ran", arguments: {} });
    const said = async (change) => {
      const response = await guest.post(change.message ?? message, { headers: { ...headers, ...change } });
      const [{ id, error }] = await Array.fromAsync(messages(response)); // events, if the server takes its time to start
      return [response.status, id, error?.code];
    };
    assert.deepEqual(await said({}), [200, 7, undefined]);
    assert.deepEqual(await said({ "mcp-method": "tools/list" }), [400, 7, -32020]);
    assert.deepEqual(await said({ "mcp-name": "form" }), [400, 7, -32020]);
    assert.deepEqual(await said({ "mcp-protocol-version": "2025-11-25" }), [400, 7, -32020]);
    const unknown = modern("u", "x/unknown");
    const response = await guest.post(unknown.message, { headers: unknown.headers });
    assert.equal(response.status, 404);
    assert.equal((await response.json()).error.code, -32601);
    const future = modern(8, "tools/list");
    future.message.params._meta["io.modelcontextprotocol/protocolVersion"] = "2099-01-01";
    const refused = await guest.post(future.message, { headers: { ...future.headers, "mcp-protocol-version": "2099-01-01" } });
    assert.equal(refused.status, 400);
    assert.equal((await refused.json()).error.code, -32022);
  });

  test("a modern client hears what it listens for until it goes", async () => {
    const { url } = await listen(SERVERS.everything);
    const leaving = new AbortController();
    const guest = Object.assign(new Guest(), { url, headers: {} });
    const { message, headers } = modern("sub", "subscriptions/listen", { notifications: { toolsListChanged: true } });
    const response = await guest.post(message, { headers, signal: leaving.signal });
    const { value } = await events(response).next();
    assert.equal(value.data.method, "notifications/subscriptions/acknowledged");
    assert.equal(value.data.params._meta["io.modelcontextprotocol/subscriptionId"], "sub");
    leaving.abort();
  });

  test("a server that goes in mid-question is told of, and started again for the next", async () => {
    const { url, announce, servers } = await start();
    const person = await Person.at(announce);
    const guest = await Guest.at(url);
    const call = guest.tool("ask");
    await person.sees("Question q0");
    const [pid] = await servers();
    process.kill(pid, "SIGKILL");
    const { error } = await call;
    assert.match(error.message, /the server was ended by signal 9/);
    await until(async () => (await guest.post({ id: 99, method: "tools/list" })).status === 404);
    assert.equal(text(await (await Guest.at(url)).tool("length", { text: "ok" })), 2);

    const params = { name: "ask", arguments: {} };
    const modernly = callModern(url, 1, "tools/call", params);
    await person.sees("Question q0");
    process.kill((await servers()).at(-1), "SIGKILL");
    assert.match((await modernly).error.message, /the server was ended by signal 9/);
    const again = await callModern(url, 1, "tools/call", { name: "length", arguments: { text: "again" } });
    assert.equal(text(again), 5);
  });

  test("a server that cannot be started is told of", async () => {
    const { url } = await listen(["no-such-program-anywhere"]);
    await assert.rejects(Guest.at(url), /there is no program "no-such-program-anywhere"/);
    const { error } = await callModern(url, 1, "tools/list");
    assert.match(error.message, /there is no program/);
  });

  test("whoever is told to end lets open calls be answered, and takes nothing new", async () => {
    const { url, announce, gateway, servers } = await start();
    const person = await Person.at(announce);
    const guest = await Guest.at(url);
    const call = guest.tool("ask");
    const { id } = await person.sees("Question q0");
    const origin = new URL(url).origin;
    assert.equal((await fetch(`${origin}/readyz`)).status, 200);
    gateway.process.kill("SIGTERM");
    await until(async () => (await fetch(`${origin}/readyz`)).status === 503);
    assert.equal((await guest.post({ id: 50, method: "ping" })).status, 503);
    await person.accept(id, { word: "in time" });
    assert.equal(text(await call)[0].result.content.word, "in time");
    assert.equal(await gateway.end(), 0);
    assert.equal(await alive((await servers())[0]), false);
  });

  for (const [era, asks] of Object.entries({
    legacy: async (url, answer) => (await Guest.at(url, FORM)).tool("ask", {}, answer),
    modern: (url, answer) => callModern(url, 1, "tools/call", { name: "ask", arguments: {} }, { capabilities: FORM, answer }),
  })) {
    test(`whoever is told to end still takes the answers of a ${era} client`, async () => {
      const { url, gateway } = await start();
      const called = asks(url, async () => {
        gateway.process.kill("SIGTERM");
        await until(async () => (await fetch(`${new URL(url).origin}/readyz`)).status === 503);
        return word("late");
      });
      assert.equal(text(await called)[0].result.content.word, "late");
      assert.equal(await gateway.end(), 0);
    });
  }

  test("whoever is told to end twice does not wait", async () => {
    const { url, announce, gateway } = await start();
    const person = await Person.at(announce);
    const guest = await Guest.at(url);
    const call = guest.tool("ask");
    await person.sees("Question q0");
    gateway.process.kill("SIGTERM");
    await until(async () => (await fetch(`${new URL(url).origin}/readyz`)).status === 503);
    gateway.process.kill("SIGTERM");
    assert.match((await call).error.message, /the gateway is ending/);
    assert.equal(await gateway.end(), 0);
  });
});
