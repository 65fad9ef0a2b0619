// Whoever comes to the front with bad intentions, by raw sockets and in a real browser.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { browse, tab } from "./browser.mjs";
import { hangUp, raw as sendRaw, socket, statuses } from "./sockets.mjs";
import { Guest } from "./visitor.mjs";
import { Process, plain, until, within, wrap } from "./world.mjs";

const PING = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}';
let front;

before(async () => {
  const { announce, command } = await wrap(plain(), "--listen", "127.0.0.1:0");
  const file = join(dirname(announce), "heard");
  const gateway = new Process(command, { env: { MIDCALL_HEARD: file } });
  const url = (await gateway.told.next(({ unreadable }) => unreadable)).unreadable;
  const servers = async () => (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line.startsWith("pid ")).length;
  front = { url, port: Number(new URL(url).port), servers, heard: () => readFile(file, "utf8").catch(() => "") };
});

const raw = (bytes) => sendRaw(front.port, bytes);

/** A request by hand: its headers may be anything. */
function post(headers, { body = PING, target = "/mcp", host = `Host: 127.0.0.1:${front.port}` } = {}) {
  const all = [host, "Content-Type: application/json", "Accept: application/json, text/event-stream", `Content-Length: ${body.length}`, "Connection: close", ...headers];
  return `POST ${target} HTTP/1.1\r\n${all.filter(Boolean).join("\r\n")}\r\n\r\n${body}`;
}

describe("hostile clients of the front", () => {
  test("pages of other origins, and names that were made to point here", async () => {
    const own = `127.0.0.1:${front.port}`;
    for (const [request, status] of [
      [post(["Origin: http://evil.example"]), 403],
      [post(["Origin: null"]), 403],
      [post([`Origin: http://${own}`, "Origin: http://evil.example"]), 403],
      [post([`Origin: http://${own}.evil.example`]), 403],
      [post([`Origin: https://${own}`]), 403],
      [post([`Origin: http://127.0.0.1:${front.port + 1}`]), 403],
      [post([], { host: "Host: evil.example" }), 403],
      [post([], { host: `Host: evil.example:${front.port}` }), 403],
      [post([], { host: "Host: 127.0.0.1" }), 403],
      [post([], { host: "" }), 403],
      [post([`Host: ${own}`]), 403],
      [post([], { target: "http://evil.example/mcp" }), 403],
    ]) {
      assert.deepEqual(statuses(await raw(request)), [status], request);
    }
    assert.equal(await front.servers(), 0, "no server is started for them");
  });

  test("requests inside of requests", async () => {
    const inner = post([], { host: `Host: 127.0.0.1:${front.port}` });
    const chunked = `0\r\n\r\n${inner}`;
    for (const request of [
      post(["Transfer-Encoding: chunked"], { body: chunked }),
      post(["Content-Length: 4"]),
      post(["Transfer-Encoding: xchunked"]),
      post(["Transfer-Encoding : chunked"], { body: chunked }),
      post(["X: y\n\nGET /mcp HTTP/1.1"]),
      post([" folded: header"]),
      post(["Bad\u0000Name: x"]),
      post(["Mcp-Session-Id: a\rMcp-Session-Id: b"]),
    ]) {
      const said = statuses(await raw(request));
      assert.ok(said.length <= 1, `${JSON.stringify(request)} gets ${said}`);
      assert.ok(said.every((status) => status >= 400), `${JSON.stringify(request)} gets ${said}`);
    }
    assert.equal(await front.servers(), 0, "no server is started for them");
  });

  test("a body with a second message in it", async () => {
    const guest = await Guest.at(front.url);
    const before = await front.heard();
    const second = '{"jsonrpc":"2.0","id":66,"method":"smuggled"}';
    for (const body of [`{"jsonrpc":"2.0","id":5,"method":"ping"}\n${second}`, `{"jsonrpc":"2.0","id":5,"method":"a\n${second}\n"}`]) {
      const response = await guest.post(body);
      await response.body?.cancel();
      if (response.status === 200) continue; // taken for one message, on one line
      assert.equal(response.status, 400);
    }
    const heard = (await front.heard()).slice(before.length).split("\n");
    assert.ok(!heard.some((line) => line.startsWith(second)));
    await guest.leave();
  });

  test("headers that never end", async () => {
    assert.deepEqual(statuses(await raw(post([`X: ${"x".repeat(64 * 1024)}`]))), [431]);
    assert.deepEqual(statuses(await raw(post(Array.from({ length: 200 }, (_, n) => `X-${n}: x`)))), [431]);
    assert.ok(statuses(await raw(`POST /mcp?${"x".repeat(70_000)} HTTP/1.1\r\n\r\n`)).every((status) => status === 414 || status === 431));
  });

  test("a session of another client cannot be guessed, nor named twice", async () => {
    const [one, other] = [await Guest.at(front.url), await Guest.at(front.url)];
    const [mine, theirs] = [one, other].map(({ headers }) => headers["mcp-session-id"]);
    const ping = { body: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}' };
    const status = async (...ids) => statuses(await raw(post(ids.map((id) => `Mcp-Session-Id: ${id}`), ping)))[0];
    assert.equal(await status(mine, theirs), 400);
    assert.equal(await status(`${mine}, ${theirs}`), 404);
    for (const guess of ["", "0", "null", "*", mine.slice(0, -1), `${mine}x`, mine.toUpperCase(), mine.split("").reverse().join("")]) {
      assert.equal(await status(guess), 404, guess);
    }
    assert.equal(await status(mine), 200);
    await Promise.all([one.leave(), other.leave()]);
  });

  test("a thousand half-open requests and bodies that never come keep nobody else waiting", async () => {
    const asks = await Guest.at(front.url, { elicitation: { form: {} } });
    const flooded = Promise.withResolvers();
    const asked = Promise.withResolvers();
    const open = asks.tool("ask", {}, async () => (asked.resolve(), await flooded.promise, { action: "accept", content: { word: "here" } }));
    await within(Promise.race([asked.promise, open]), "a question in an open stream");
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${front.port}\r\nContent-Type: application/json\r\n`;
    for (let n = 0; n < 1_000; n++) {
      const one = await socket(front.port);
      one.write(n % 2 ? head : `${head}Content-Length: 1000\r\n\r\n{"jsonrpc"`);
    }
    const guest = await Guest.at(front.url);
    assert.ok((await guest.call("tools/list")).result.tools.length);
    flooded.resolve();
    assert.equal(JSON.parse((await open).result.content[0].text)[0].result.content.word, "here", "a stream that was open stays");
    await Promise.all([guest.leave(), asks.leave()]);
    hangUp();
  });

  test("a thousand streams of one client are bounded, and others are served", async () => {
    const guest = await Guest.at(front.url, { elicitation: { form: {} } });
    const leaving = new AbortController();
    const answers = await Promise.all(Array.from({ length: 1_000 }, async (_, n) => {
      const headers = { accept: "text/event-stream" };
      const response = await guest.post({ id: 1_000 + n, method: "tools/call", params: { name: "ask" } }, { signal: leaving.signal, headers });
      return response.status;
    }));
    const count = (status) => answers.filter((one) => one === status).length;
    assert.ok(count(200) > 0 && count(503) > 0 && count(200) + count(503) === 1_000, `${count(200)} and ${count(503)}`);
    const other = await Guest.at(front.url);
    assert.ok((await other.call("tools/list")).result.tools.length);
    leaving.abort();
    await Promise.all([guest.leave(), other.leave()]);
  });

  test("a page of another origin in a real browser", async () => {
    const browser = await browse();
    const evil = createServer((_, to) => to.writeHead(200, { "content-type": "text/html" }).end("<title>evil</title>"));
    try {
      await once(evil.listen(0, "127.0.0.1"), "listening");
      const before = await front.servers();
      const page = await tab(browser, `http://127.0.0.1:${evil.address().port}/`);
      const tried = await page.evaluate(async ([url, body]) => {
        const tries = [
          { method: "POST", body, headers: { "content-type": "application/json" } },
          { method: "POST", body, mode: "no-cors", headers: { "content-type": "text/plain" } },
          { method: "POST", body: new Blob([body], { type: "application/json" }), mode: "no-cors" },
          { method: "GET", headers: { accept: "text/event-stream", "mcp-session-id": "x" } },
          { method: "DELETE" },
        ];
        return Promise.all(tries.map((one) => fetch(url, one).then(({ type, status }) => `${type} ${status}`, () => "refused")));
      }, [front.url, PING]);
      assert.deepEqual(tried, Array(5).fill("refused"));
      assert.equal(await front.servers(), before, "no server is started for it");
    } finally {
      await browser.close();
      evil.close();
    }
    await until(async () => (await Guest.at(front.url)).leave());
  });
});
