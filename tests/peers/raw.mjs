// Both sides of a gateway, played by the test: each sends bytes as they are and keeps every line it gets.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { before } from "node:test";
import { MODERN, modern } from "./visitor.mjs";
import { Told, Wire, folder, wrap } from "./world.mjs";

/** Capabilities of a client that shows forms and links. */
export const ASKS = { elicitation: { form: {}, url: {} } };

/** A form with one field, which is a word. */
export const WORD = { message: "Which word?", requestedSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] } };

/** An answer to [`WORD`]. */
export const word = (text = "here") => ({ action: "accept", content: { word: text } });

/** Params that ask for a form with these fields. */
export const form = (properties, more = {}) => ({ message: "Please fill in", requestedSchema: { type: "object", properties }, ...more });

/** Params that ask to open a link. */
export const link = (url, more = {}) => ({ mode: "url", message: "Sign in", url, elicitationId: "e", ...more });

/** A server's question. */
export const elicit = (params, id = 7) => ({ jsonrpc: "2.0", id, method: "elicitation/create", params });

/** The name under which a server is told how a question ended. */
export const OUTCOME = "dev.midcall/outcome";

/** `[M,[M,[M,M]]]`: so many batches within each other. */
export const nested = (message, levels) => `${`[${JSON.stringify(message)},`.repeat(levels)}${JSON.stringify(message)}${"]".repeat(levels)}`;

/** The result of a tool. */
export const text = (said) => ({ content: [{ type: "text", text: said }] });

const INITIALIZED = ({ params }) => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "puppet", version: "1" } });
const DISCOVERED = () => ({ resultType: "complete", supportedVersions: [MODERN], capabilities: { tools: {} }, serverInfo: { name: "puppet", version: "1" } });

/** A promise that a test may leave alone: not everything is answered. */
function mayFail(promise) {
  promise.catch(() => {});
  return promise;
}

/** What every server answers by itself, so that a test plays only what it is about. */
const ANSWERS = {
  initialize: INITIALIZED,
  "server/discover": DISCOVERED,
  "tools/list": () => ({ resultType: "complete", tools: [{ name: "do", inputSchema: { type: "object" } }] }),
  "test/mark": () => ({ resultType: "complete" }),
};

/** A server that the test plays. `command` starts it; each process that is started has its own connection. */
export class Puppet {
  lines = [];
  told = new Told();

  /** `answers`: a function per method that it answers by itself, beside `ANSWERS`. */
  static async ready(answers = {}) {
    const puppet = new Puppet();
    puppet.answers = { ...ANSWERS, ...answers };
    const path = join(folder(), "s");
    await once(createServer((socket) => puppet.#starts(socket)).listen(path).unref(), "listening");
    puppet.command = [process.env.MIDCALL_NODE, join(import.meta.dirname, "sdk/plain/puppet.mjs"), path];
    return puppet;
  }

  #starts(socket) {
    this.socket = socket;
    socket.on("error", () => {}); // the process may have ended
    let rest = "";
    socket.setEncoding("utf8").on("data", (piece) => {
      // Python's SDK ends a line at a carriage return, too.
      const lines = (rest + piece).split(/\r\n|\n|\r/);
      rest = lines.pop();
      lines.forEach((line) => this.#hears(line));
    });
  }

  #hears(line) {
    this.lines.push(line);
    const message = JSON.parse(line);
    const answer = this.answers[message.method];
    if (answer && "id" in message) this.send({ id: message.id, result: answer(message) });
    else if (message.method !== "notifications/initialized") this.told.push(message);
  }

  /** Sends a message. */
  send(message) {
    this.write(Array.isArray(message) ? JSON.stringify(message) : JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** Sends bytes as they are, and the end of the line. */
  write(bytes) {
    this.socket.write(bytes);
    this.socket.write("\n");
  }

  /** The next message that it hasn't answered by itself. */
  hears(wants = () => true) {
    return this.told.next(wants);
  }

  /** The process ends. */
  leaves() {
    this.socket.destroy();
  }
}

/** Opens what all tests of a suite share: `peers`. */
export function shared(options) {
  const suite = {};
  before(async () => Object.assign(suite, { peers: await Between.open(options) }));
  return suite;
}

/** A client, the gateway and a server, all on standard streams. */
export class Between {
  /**
   * `flags` and `env` are the gateway's, `capabilities` the client's. `policy` is the text of a policy file. `isModern` says it
   * of the client, `era` of the server.
   */
  static async open({ flags = [], env, capabilities = ASKS, policy, era = "legacy", isModern = false, answers } = {}) {
    const server = await Puppet.ready(answers);
    if (policy !== undefined) {
      const file = join(folder(), "policy.toml");
      writeFileSync(file, policy);
      flags = [...flags, "--policy", file];
    }
    const { announce, command } = await wrap(server.command, "--server-era", era, ...flags);
    const client = new Wire(command, { env });
    const peers = Object.assign(new Between(), { client, server, announce, capabilities, isModern });
    if (!isModern) {
      await client.open(capabilities);
      await peers.settles();
    }
    return peers;
  }

  /** The client sends bytes as they are, and the end of the line. */
  write(bytes) {
    this.client.process.stdin.write(bytes);
    this.client.process.stdin.write("\n");
  }

  /** The client's request, which is in either era. */
  request(method, params = {}) {
    const id = ++this.client.id;
    this.client.send({ jsonrpc: "2.0", ...(this.isModern ? modern(id, method, params, this.capabilities).message : { id, method, params }) });
    return { id, response: mayFail(this.client.told.next((line) => line.id === id && !line.method)) };
  }

  /** The client calls a tool: the response, and how the server answers. */
  async call(name = "do", given = {}) {
    const { id, response } = this.request("tools/call", { name, arguments: given });
    const { id: known } = await this.server.hears(({ method }) => method === "tools/call");
    return { id, known, response, ends: (result = text("done")) => (this.server.send({ id: known, result }), response) };
  }

  /** The server asks: its id, and the response. */
  asks(params, id = `q${++this.asked}`, method = "elicitation/create") {
    this.server.send({ id, method, params });
    return { id, response: mayFail(this.server.hears((message) => message.id === id && !message.method)) };
  }
  asked = 0;

  /** What the client is asked next. */
  question(method = "elicitation/create") {
    return this.client.told.next((message) => message.method === method);
  }

  /** Waits until the client is told that a question is taken back. */
  takenBack(id) {
    return this.client.told.next(({ method, params }) => method === "notifications/cancelled" && params.requestId === id);
  }

  /** The client answers a request. */
  answer(id, result) {
    this.client.send({ jsonrpc: "2.0", id, result });
  }

  /**
   * Waits until everything that was sent has been taken: every line goes one after the other, so this one comes last on each way. The
   * second one also comes after what the gateway told the server about the first.
   */
  async settles() {
    for (let times = 0; times < 2; times++) {
      const { result, error } = await this.request("test/mark").response;
      assert.ok(result, JSON.stringify(error));
    }
  }

  /** An ordinary question in an ordinary call goes all the way: nothing is broken, and nothing is left of what was before. */
  async serves() {
    const call = await this.call();
    const { id, response } = this.asks(WORD);
    const asked = await this.question();
    assert.equal(asked.params.message, WORD.message);
    this.answer(asked.id, word());
    assert.deepEqual((await response).result.content, { word: "here" }, id);
    assert.equal((await call.ends()).result.content[0].text, "done");
  }

  /** What the server sends in a call is refused: it gets one error, and the client gets nothing. */
  async refuses(bytes, { id = null, code = -32600, why = /./ }) {
    const call = await this.call();
    const counts = this.counts;
    this.server.write(bytes);
    const { error } = await this.server.hears((message) => message.id === id && "error" in message);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, why);
    await this.settles();
    const { client, server } = this.since(counts);
    assert.deepEqual([client.length, server.length], [2, 3], "only the marks, and the error once");
    await call.ends();
    return error;
  }

  /** What the client and the server were sent since these numbers of lines. */
  since({ client, server }) {
    return { client: this.client.lines.slice(client), server: this.server.lines.slice(server) };
  }

  get counts() {
    return { client: this.client.lines.length, server: this.server.lines.length };
  }
}
