// Servers by HTTP that answer with something else than a JSON-RPC answer: the client gets one error that says what came.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { Model } from "./model.mjs";
import { MODERN, modern } from "./visitor.mjs";
import { AT_ONCE, Client, Wire, wrap } from "./world.mjs";

/** Typed by a person, and repeated by a server. */
const TYPED = "hunter2";

/** How to answer with these bytes. */
const body = (status, type, body = "") => (response) => response.writeHead(status, type && { "content-type": type }).end(body);
const json = (status, said) => body(status, "application/json", JSON.stringify(said));
const events = (...data) => body(200, "text/event-stream", data.map((data) => `data: ${data}\n\n`).join(""));
const result = (id) => ({ jsonrpc: "2.0", id, result: {} });

/** What a server answers, and what the client is told of it. */
const CASES = {
  "404, another API's error": [json(404, { error: "not_found" }), /^the server answered HTTP 404 Not Found with application\/json: \{"error":"not_found"\}\. Check the address: an MCP endpoint often ends in \/mcp$/],
  "500, an error without a code": [json(500, { error: { message: "x" } }), /HTTP 500 .*application\/json: \{"error":\{"message":"x"\}\}\. Try again/],
  "400, no error": [json(400, { error: null }), /HTTP 400 .*\{"error":null\}/],
  "502, an empty batch": [json(502, []), /HTTP 502 .*: \[\]\./],
  "500, a text": [json(500, "x"), /HTTP 500 .*: "x"\./],
  "404, FastAPI's error": [json(404, { detail: "Not Found" }), /HTTP 404 .*\{"detail":"Not Found"\}/],
  "403, another API's error": [json(403, { error: "forbidden" }), /wants a login \(HTTP 403 Forbidden\): \{"error":"forbidden"\}\. Give it one with --header/],
  "500, a result": [(response, id) => json(500, result(id))(response), /HTTP 500 .*"result":\{\}/],
  "500, an error whose code is a text": [(response, id) => json(500, { jsonrpc: "2.0", id, error: { code: "E1", message: "x" } })(response), /HTTP 500 .*"code":"E1"/],
  "503, a page": [body(503, "text/html", "<h1>Down\u001b[2J</h1>"), /HTTP 503 .*text\/html: <h1>Down<U\+001B>\[2J<\/h1>/],
  "405, nothing": [body(405), /HTTP 405 .*the body is empty\. It may only support the HTTP with SSE of 2024-11-05/],
  "200, a page": [body(200, "text/html; charset=utf-8", "<html>Welcome"), /HTTP 200 OK with text\/html, not with a JSON-RPC answer to this request: <html>Welcome\. Check the address/],
  "200, nothing": [body(200), /HTTP 200 OK without a content type, .*the body is empty/],
  "200, JSON of nothing": [body(200, "application/json"), /HTTP 200 OK with application\/json, .*the body is empty/],
  "202 for a request": [body(202), /HTTP 202 Accepted .*the body is empty/],
  "200, plain text": [body(200, "text/plain", "pong"), /text\/plain, .*: pong/],
  "200, an answer without a content type": [(response, id) => body(200, undefined, JSON.stringify(result(id)))(response), /without a content type/],
  "200, not JSON": [body(200, "application/json", "pong"), /application\/json, .*: pong/],
  "200, half a JSON": [(response, id) => body(200, "application/json", `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{`)(response), /application\/json, .*"result":\{\./],
  "200, not a message": [json(200, { ok: true }), /: \{"ok":true\}\./],
  "200, an error that is a text": [(response, id) => json(200, { jsonrpc: "2.0", id, error: "boom" })(response), /"error":"boom"/],
  "200, the answer to another request": [json(200, result(99)), /"id":99/],
  "200, a batch without the answer": [json(200, [result(99)]), /"id":99/],
  "events, none": [events(), /^the server answered HTTP 200 OK with text\/event-stream and did not finish its answer: the connection was closed\. Whether it did what was asked is not known/],
  "events, not JSON": [events("pong"), /did not finish its answer: the connection was closed; it sent: pong\./],
  "events, the answer to another request": [events(JSON.stringify(result(99))), /did not finish .*"id":99/],
  "events that can't be resumed": [body(200, "text/event-stream", "id: 1\nretry: 20\ndata:\n\n"), /did not finish its answer/],
  "events, an unreadable answer, and no end": [
    (response, id) => response.writeHead(200, { "content-type": "text/event-stream" }).write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, error: "boom" })}\n\n`),
    /text\/event-stream, not with a JSON-RPC answer to this request: .*boom/,
  ],
  "500, what the client said": [(response, _, said) => json(500, { error: said })(response), /HTTP 500/],
};

const [FIRST] = Object.keys(CASES);

const OPENINGS = {
  2025: { initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "hostile", version: "1" } } },
  2026: { "server/discover": { supportedVersions: [MODERN], capabilities: { tools: {} }, serverInfo: { name: "hostile", version: "1" }, resultType: "complete", ttlMs: 0, cacheScope: "private" } },
};
const LIST = { tools: [{ name: "book", inputSchema: { type: "object" } }], resultType: "complete", ttlMs: 0, cacheScope: "private" };

/** At `/open`, nothing is answered but by the case in `?case=`. At `/2025` and `/2026`, only calls of tools are: by the case that the tool is called, else by the first one. */
const http = createServer(async (request, response) => {
  const said = await text(request);
  if (request.method === "GET") return response.writeHead(405).end();
  const { id, method, params } = said ? JSON.parse(said) : {};
  if (id === undefined || !method) return response.writeHead(202).end();
  const { pathname, searchParams } = new URL(request.url, "http://server");
  const answerBy = (name) => CASES[CASES[name] ? name : FIRST][0](response, id, said);
  if (pathname === "/open") return answerBy(searchParams.get("case"));
  if (method === "tools/call") return answerBy(params.name);
  const answer = { ...OPENINGS[pathname.slice(1)], "tools/list": LIST, ping: {} }[method];
  const error = { code: -32601, message: "no such method" };
  json(200, { jsonrpc: "2.0", id, ...(answer ? { result: answer } : { error }) })(response);
});
after(() => (http.closeAllConnections(), http.close()));
await new Promise((listens) => http.listen(0, "127.0.0.1", listens));
const origin = `http://127.0.0.1:${http.address().port}`;

/** A client of an era without an SDK. `sends` gives the answer to a request, and `ends` checks that each request had one. */
async function connect(path, era) {
  const wire = new Wire((await wrap({ url: `${origin}${path}` })).command);
  const sends = (method, params) => wire.call(method, era === "2026" ? modern(0, method, params).message.params : params);
  const ends = async () => {
    wire.process.stdin.end();
    assert.equal(await wire.end(), 0);
    const answered = wire.lines.map((line) => JSON.parse(line)).filter(({ method }) => !method).map(({ id }) => id);
    assert.deepEqual(answered, Array.from({ length: wire.id }, (_, n) => n + 1));
    assert.doesNotMatch(wire.errors, new RegExp(TYPED));
    return wire.errors.split("\n").filter((line) => /WARN.*a request failed/.test(line));
  };
  return { wire, sends, ends };
}

function isError({ jsonrpc, error }, said) {
  assert.equal(jsonrpc, "2.0");
  assert.equal(error.code, -32603);
  assert.match(error.message, said);
}

describe("a server by HTTP that answers a call with garbage", { concurrency: AT_ONCE }, () => {
  for (const era of ["2025", "2026"]) {
    test(`of a client of ${era}`, async () => {
      const { wire, sends, ends } = await connect(`/${era}`, era);
      if (era === "2025") await wire.open();
      for (const [name, [, said]] of Object.entries(CASES)) isError(await sends("tools/call", { name, arguments: { word: TYPED } }), said);
      const logged = await ends();
      assert.equal(logged.length, Object.keys(CASES).length, logged.join("\n"));
      assert.match(logged[0], /the server answered HTTP 404 Not Found with application\/json\. Check the address/);
    });
  }
});

describe("a server by HTTP that answers the opening with garbage", { concurrency: AT_ONCE }, () => {
  for (const name of [FIRST, "200, a page", "202 for a request", "200, half a JSON", "events, the answer to another request"]) {
    for (const era of ["2025", "2026"]) {
      test(`${name}, to a client of ${era}`, async () => {
        const { sends, ends } = await connect(`/open?case=${encodeURIComponent(name)}`, era);
        const answer = era === "2025"
          ? await sends("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "wire", version: "1" } })
          : await sends("server/discover", {});
        isError(answer, CASES[name][1]);
        await ends();
      });
    }
  }
});

describe("clients of SDKs before a server that answers 404 with another API's error", { concurrency: AT_ONCE }, () => {
  for (const [sdk, era] of [["sdk-1", "2025"], ["sdk-2", "2026"]]) {
    test(`${sdk} gets an error for its call`, async () => {
      const model = new Model(sdk, (await wrap({ url: `${origin}/${era}` })).command);
      const { error } = await model.call("book");
      assert.match(error.message, /HTTP 404 .*not_found/);
      await model.leaves();
    });
  }

  for (const sdk of ["sdk-1", "sdk-2-auto"]) {
    test(`${sdk} gets an error when it connects`, async () => {
      const { command } = await wrap({ url: `${origin}/open` });
      const client = new Client(sdk, { command, declare: "nothing", steps: [] });
      assert.equal(await client.end(), 1);
      assert.match(client.errors, /HTTP 404 .*not_found/);
    });
  }
});
