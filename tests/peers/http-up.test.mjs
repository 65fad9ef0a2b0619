// Servers of every SDK by HTTP, and clients on stdio: the same stories as with servers on stdio.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { BOOKED, DELETE, STEPS, TABLE } from "./jobs.mjs";
import { Model, brought as read } from "./model.mjs";
import { Person } from "./person.mjs";
import { Guest, messages } from "./visitor.mjs";
import { ALL, AT_ONCE, Client, HTTP_SERVERS, Process, Told, Wire, folder, serve, wrap } from "./world.mjs";

const MODERN = ["sdk-2", "sdk-2-dual", "python-rounds", "fastmcp-rounds"];

/** Each server meets a client, so that all are met; and if all are wanted, one of the other era. */
const PAIRS = {
  "sdk-1": ["sdk-1", "sdk-2"],
  "sdk-1.20": ["sdk-1.20", "python-modern"],
  python: ["python", "sdk-2"],
  fastmcp: ["fastmcp-modern", "sdk-1"],
  "sdk-2": ["sdk-2", "sdk-1"],
  "sdk-2-dual": ["sdk-2-auto", "sdk-1"],
  "python-rounds": ["python-modern", "sdk-1"],
  "fastmcp-rounds": ["fastmcp", "sdk-2"],
};

/** The steps that client and server have words for. */
function steps(client, server) {
  const { accept, decline, cancel, wizard, both, serverCancel, link, progress } = STEPS;
  const links = client !== "sdk-1.20" && server !== "sdk-1.20";
  return {
    accept, decline, cancel, wizard, both,
    ...(MODERN.includes(server) ? {} : { serverCancel }),
    ...(links ? { link } : {}),
    sample: { tool: "sample" },
    roots: { tool: "roots" },
    progress,
  };
}

describe("a client on stdio and a server by HTTP", { concurrency: AT_ONCE }, () => {
  for (const server of Object.keys(HTTP_SERVERS)) {
    for (const sdk of PAIRS[server].slice(0, ALL ? 2 : 1)) {
      test(`${sdk} and ${server}`, async () => {
        const { command } = await wrap(await serve(server));
        const wanted = steps(sdk, server);
        const model = new Model(sdk, command, sdk === "sdk-1.20" ? "{}" : "form+url", {}, ["sampling", "roots"]);
        const brought = {};
        for (const [step, its] of Object.entries(wanted)) brought[step] = read(await model.plays(its));
        const told = await model.leaves();

        assert.deepEqual(brought.accept[0].content, BOOKED);
        assert.deepEqual([brought.decline[0].action, brought.cancel[0].action], ["decline", "cancel"]);
        assert.deepEqual(brought.wizard.map(({ content }) => content.value), [1, 2, 3, 4, 5].map((step) => `value ${step}`));
        assert.deepEqual(brought.both.map(({ content }) => content), [{ town: "Olinda" }, { day: "Monday" }]);
        if (wanted.serverCancel) assert.ok(brought.serverCancel[0].error);
        if (wanted.link) assert.equal(brought.link[0].action, "accept");
        assert.equal(brought.sample[0].model, "parrot");
        assert.equal(brought.roots[0].roots[0].uri, "file:///home");
        const counts = told.flatMap(({ progress }) => (progress?.total ? [progress.progress] : []));
        assert.deepEqual(counts, [1, 2]);
      });
    }
  }
});

describe("a client that cannot ask, and a server by HTTP", { concurrency: AT_ONCE }, () => {
  for (const server of ["sdk-1", "sdk-2", "fastmcp"]) {
    test(`${server} is answered on the page`, async () => {
      const { announce, command } = await wrap(await serve(server));
      const client = new Client("sdk-1", { command, declare: "nothing", steps: [{ tool: "form" }, { tool: "confirm" }] });
      const person = await Person.at(announce);
      await person.accept((await person.sees(TABLE)).id, BOOKED);
      assert.deepEqual((await client.brought())[0].content, BOOKED);
      await person.decline((await person.sees(DELETE)).id);
      assert.equal((await client.brought())[0].action, "decline");
      await client.done();
    });
  }
});

describe("on the way to a server by HTTP", { concurrency: AT_ONCE }, () => {
  /** A server of Node's own HTTP, and what it is asked. */
  async function listen(answer) {
    const asked = [];
    const http = createServer((request, response) => {
      asked.push(request);
      answer(request, response);
    });
    after(() => (http.closeAllConnections(), http.close()));
    await new Promise((listens) => http.listen(0, "127.0.0.1", listens));
    return { asked, origin: `http://127.0.0.1:${http.address().port}` };
  }

  test("the environment's proxy is used", async () => {
    const proxy = await listen((request, response) => {
      const onward = httpRequest(request.url, { method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers).flushHeaders();
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    const { command } = await wrap(await serve("sdk-1"));
    const env = { http_proxy: proxy.origin };
    const client = new Client("sdk-1", { command, declare: "form+url", steps: [STEPS.accept] }, env);
    assert.deepEqual((await client.brought())[0].content, BOOKED);
    await client.done();
    assert.ok(proxy.asked.length >= 5, "everything goes that way");
  });

  test("headers are sent, and a login that is missing is told", async () => {
    const { asked, origin } = await listen((request, response) => {
      response.writeHead(401, { "www-authenticate": 'Bearer realm="files"' }).end();
    });
    const { command } = await wrap({ url: `${origin}/mcp` }, "--log", "trace", "--header", "X-Team: ${TEAM}");
    const wire = new Wire(command, { env: { TEAM: "not-for-logs" } });
    const { error } = await wire.call("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "wire", version: "1" } });
    assert.match(error.message, /wants a login \(HTTP 401 Unauthorized\); it says: Bearer realm="files"/);
    wire.process.stdin.end();
    assert.equal(await wire.end(), 0);
    assert.ok(asked.every(({ headers }) => headers["x-team"] === "not-for-logs"));
    assert.match(wire.errors, /wants a login/);
    assert.doesNotMatch(wire.errors, /not-for-logs/);
  });
});

describe("two calls of a server by HTTP", { concurrency: AT_ONCE }, () => {
  const QUESTION = { message: "Which word?", requestedSchema: { type: "object", properties: { word: { type: "string" } } } };

  /** A server that asks on the stream of each call of `ask` and `delete`, and the answers it gets. */
  async function asking() {
    const heard = new Told();
    const http = createServer(async (request, response) => {
      const { id, method, params, ...rest } = await request.setEncoding("utf8").toArray().then((text) => JSON.parse(text.join("") || "{}"));
      const json = (result) => response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (request.method !== "POST") return response.writeHead(405).end();
      if (method === "initialize") return json({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "two", version: "1" } });
      if (method !== "tools/call") return heard.push({ id, method, params, ...rest }), response.writeHead(202).end();
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      heard.push({ id, method, name: params.name });
      if (params.name === "wait") return;
      response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: `q${id}`, method: "elicitation/create", params: QUESTION })}\n\n`);
    });
    after(() => (http.closeAllConnections(), http.close()));
    await new Promise((listens) => http.listen(0, "127.0.0.1", listens));
    return { heard, url: `http://127.0.0.1:${http.address().port}/mcp` };
  }

  /** The client's call, once its server has it. */
  async function calls(wire, heard, name) {
    const id = ++wire.id;
    wire.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {} } });
    await heard.next((message) => message.name === name);
    return id;
  }

  test("a question is that of its own call: its tool, its policy, its end", async () => {
    const server = await asking();
    const policy = join(folder(), "policy.toml");
    await writeFile(policy, '[[rule]]\ntool = "delete"\nroutes = "page"\n');
    const { announce, command } = await wrap(server, "--policy", policy);
    const wire = new Wire(command);
    await wire.open({ elicitation: {} });
    const person = await Person.at(announce);
    const waits = await calls(wire, server.heard, "wait");
    const deletes = await calls(wire, server.heard, "delete");
    const ticket = await person.sees(QUESTION.message);
    assert.equal(ticket.tool, "delete");

    const asks = await calls(wire, server.heard, "ask");
    const asked = await wire.told.next(({ method }) => method === "elicitation/create");
    assert.equal(asked.id, `q${asks}`, "the client may be asked what comes up in this one");

    const cancel = (requestId) => wire.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    cancel(waits);
    await server.heard.next(({ method, params }) => method === "notifications/cancelled" && params.requestId === waits);
    assert.equal((await person.status(ticket.id)).state, "open");
    cancel(deletes);
    assert.equal((await person.closed(ticket.id)).state, "withdrawn");
    const told = await server.heard.next(({ id }) => id === `q${deletes}`);
    assert.equal(told.result.action, "cancel");
    wire.send({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: { word: "here" } } });
    assert.equal((await server.heard.next(({ id }) => id === asked.id)).result.content.word, "here");
  });

  test("a client by HTTP is asked on the stream of that call", async () => {
    const server = await asking();
    const { command } = await wrap(server, "--listen", "127.0.0.1:0", "--server-era", "legacy");
    const gateway = new Process(command);
    const { unreadable: url } = await gateway.told.next((line) => "unreadable" in line);
    const guest = await Guest.at(url, { elicitation: {} });
    const leaving = new AbortController();
    const first = guest.post({ id: 3, method: "tools/call", params: { name: "wait" } }, leaving).catch(() => {});
    await server.heard.next(({ name }) => name === "wait");
    const second = messages(await guest.post({ id: 4, method: "tools/call", params: { name: "ask" } }, leaving));
    assert.equal((await second.next()).value.id, "q4");
    leaving.abort();
    await first;
  });
});

describe("a server by HTTP that goes away", { concurrency: AT_ONCE }, () => {
  /** A call, and its answer when it comes. */
  function begin(wire, name) {
    const id = ++wire.id;
    wire.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: {} } });
    return wire.told.next((line) => line.id === id && !line.method);
  }

  for (const sdk of ["sdk-1", "python"]) {
    test(`${sdk} starts again in the middle of a question`, async () => {
      const first = await serve(sdk);
      const { announce, command } = await wrap(first);
      const wire = new Wire(command);
      await wire.open();
      const person = await Person.at(announce);
      const call = begin(wire, "confirm");
      const { id } = await person.sees(DELETE);
      first.process.kill("SIGKILL");
      await first.end();
      await serve(sdk, { MIDCALL_PEER_PORT: new URL(first.url).port });

      const { error } = await call;
      assert.equal(error.code, -32603);
      assert.match(error.message, /started again|not known/);
      assert.equal((await person.closed(id)).state, "withdrawn");

      const again = begin(wire, "confirm");
      await person.accept((await person.sees(DELETE)).id, { sure: true });
      const { result } = await again;
      assert.deepEqual(JSON.parse(result.content[0].text)[0].content, { sure: true });
      wire.process.stdin.end();
      assert.equal(await wire.end(), 0);
    });
  }

  test("nobody is there", async () => {
    const wire = new Wire((await wrap({ url: "http://127.0.0.1:1/mcp" })).command);
    const { error } = await wire.call("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "wire", version: "1" } });
    assert.match(error.message, /was not reached/);
    wire.process.stdin.end();
    assert.equal(await wire.end(), 0);
  });
});
