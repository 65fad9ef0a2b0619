// What goes wrong around a question, on the real binary.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { Person } from "./person.mjs";
import { AT_ONCE, BINARY, Wire, alive, plain, times, until, wrap } from "./world.mjs";

/** A wrapped plain server, opened by a client on the wire, and what that server hears. */
async function start(how = [], { flags = [], capabilities = {}, ...options } = {}) {
  const { announce, command } = await wrap(plain(...how), ...flags);
  const file = join(dirname(announce), "heard");
  const env = { ...options.env, MIDCALL_HEARD: file };
  const wire = new Wire(command, { ...options, env });
  await wire.open(capabilities);
  const heard = async () => (await readFile(file, "utf8")).split("\n").slice(0, -1);
  const server = Number((await heard())[0].slice("pid ".length));
  return { wire, announce, heard, server, hears: (line) => until(async () => (await heard()).find((one) => one.includes(line)), line) };
}

/** Calls a tool without waiting for its result. */
function begin(wire, name, given = {}) {
  const id = ++wire.id;
  wire.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: given, _meta: { progressToken: id } } });
  return wire.told.next((line) => line.id === id && !line.method);
}

const text = ({ result }) => JSON.parse(result.content[0].text);
const OUTCOME = "dev.midcall/outcome";

describe("faults", { concurrency: AT_ONCE }, () => {
  test("the server is killed in mid-question", async () => {
    const { wire, announce, server } = await start();
    const person = await Person.at(announce);
    const call = begin(wire, "ask");
    const { id } = await person.sees("Question q0");
    process.kill(server, "SIGKILL");
    const { error } = await call;
    assert.equal(error.code, -32603);
    assert.match(error.message, /the server was ended by signal 9/);
    const { state, reason } = await person.closed(id);
    assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "server_gone" });
    assert.equal(await wire.end(), 137);
  });

  test("the client leaves in mid-question", async () => {
    const { wire, announce, server, heard } = await start();
    const person = await Person.at(announce);
    begin(wire, "ask").catch(() => {});
    const { id } = await person.sees("Question q0");
    wire.process.stdin.end();
    const { state, reason } = await person.closed(id);
    assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_client" });
    assert.equal(await wire.end(), 0);
    const [last, end] = (await heard()).slice(-2);
    const { id: question, result } = JSON.parse(last);
    assert.deepEqual([question, result.action, result._meta[OUTCOME].state], ["q0", "cancel", "withdrawn"]);
    assert.equal(end, "end of input");
    assert.equal(await alive(server), false);
  });

  test("the client closes its end of our output in mid-question, and keeps its other one", async () => {
    const { wire, announce, server, heard } = await start();
    const person = await Person.at(announce);
    begin(wire, "ask").catch(() => {});
    const { id } = await person.sees("Question q0");
    wire.process.stdout.destroy();
    begin(wire, "length", { text: "noticed when this is answered" }).catch(() => {});
    const { state, reason } = await person.closed(id);
    assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_client" });
    assert.equal(await wire.end(), 0);
    assert.ok((await heard()).some((line) => line.includes('"cancel"')), "the server is told");
    assert.equal(await alive(server), false);
  });

  test("the client dies while much is on its way to it", async () => {
    const { wire, server } = await start();
    wire.process.stdout.pause();
    begin(wire, "huge", { bytes: 1_000_000 }).catch(() => {});
    await until(() => wire.process.stdout.readableLength > 0, "the first of it");
    wire.process.stdout.destroy();
    wire.process.stdin.end();
    await wire.end();
    assert.equal(await alive(server), false);
  });

  test("what the client said last reaches a server that reads slowly", async () => {
    const { wire, heard } = await start(["slow"]);
    const long = JSON.stringify({ jsonrpc: "2.0", method: "notifications/long", params: { text: "x".repeat(300_000) } });
    wire.process.stdin.end(`${long}\n${long}\n{"jsonrpc":"2.0","method":"notifications/last"}\n`);
    assert.equal(await wire.end(), 0);
    const told = await heard();
    assert.deepEqual(told.slice(-4).map((line) => line.slice(0, 42)), [
      `${long.length} characters`, `${long.length} characters`, '{"jsonrpc":"2.0","method":"notifications/l', "end of input",
    ]);
  });

  test("no browser opens, and the question waits all the same", async () => {
    const { announce, command } = await wrap(plain());
    const opens = command.filter((flag) => flag !== "--no-open");
    const wire = new Wire(opens, { env: { BROWSER: "false" } });
    await wire.open();
    const call = begin(wire, "ask");
    const person = await Person.at(announce);
    const { id } = await person.sees("Question q0");
    await person.accept(id, { word: "yes" });
    assert.deepEqual(text(await call)[0].result.content, { word: "yes" });
  });

  for (const signal of ["SIGTERM", "SIGINT"]) {
    test(`${signal} is passed on`, async () => {
      const { wire, hears } = await start(["polite"]);
      wire.process.kill(signal);
      assert.equal(await wire.end(), 7);
      await hears(signal);
    });
  }

  test("a signal that ends the server ends us alike", async () => {
    const { wire } = await start();
    wire.process.kill("SIGTERM");
    assert.equal(await wire.end(), 143);
  });

  test("a server that does not end when its input does is told to", async () => {
    const { wire, hears, server } = await start(["stubborn"], { env: times({ server_end: "0ms" }) });
    wire.process.stdin.end();
    await hears("end of input");
    await hears("SIGTERM");
    assert.equal(await alive(server), true, "it is given time");
    process.kill(server, "SIGKILL");
    assert.equal(await wire.end(), 137);
  });

  test("a server that does not end when it is told to is made to", async () => {
    const { wire, server } = await start(["stubborn"], { env: times({ server_end: "0ms", server_kill: "0ms" }) });
    wire.process.stdin.end();
    assert.equal(await wire.end(), 137);
    assert.equal(await alive(server), false);
  });

  test("ten megabytes, both ways", async () => {
    const { wire } = await start();
    const bytes = 10_000_000;
    const [length, huge] = await Promise.all([begin(wire, "length", { text: "ü".repeat(bytes / 2) }), begin(wire, "huge", { bytes })]);
    assert.equal(text(length), bytes / 2);
    assert.equal(text(huge).length, bytes);
  });

  test("a message longer than is taken gets an error, either way, and the session goes on", async () => {
    const { wire } = await start([], { flags: ["--max-message", "1"] });
    const [result, request] = await Promise.all([begin(wire, "huge", { bytes: 2_000_000 }), begin(wire, "length", { text: "x".repeat(2_000_000) })]);
    assert.match(result.error.message, /the server's answer is longer than --max-message/);
    assert.match(request.error.message, /this message is longer than --max-message/);
    assert.equal(text(await begin(wire, "length", { text: "four" })), 4);
  });

  test("what is no message goes to standard error", async () => {
    const { wire } = await start(["noise"]);
    assert.equal(text(await begin(wire, "length", { text: "four" })), 4);
    wire.process.stdin.end();
    await wire.end();
    assert.ok(wire.lines.every((line) => JSON.parse(line).jsonrpc), "only messages reach the client");
    assert.match(wire.errors, /starting up…\n/);
    assert.match(wire.errors, /\{"half": \n/);
  });

  test("a last line without an end is a line", async () => {
    const { wire } = await start();
    const { result } = await begin(wire, "half");
    assert.deepEqual(result, { content: [] });
    assert.equal(await wire.end(), 3);
  });

  test("the server has our environment and folder", async () => {
    const cwd = import.meta.dirname;
    const { wire } = await start([], { cwd, env: { MIDCALL_WORD: "kept" } });
    assert.deepEqual(text(await begin(wire, "env")), { cwd, word: "kept" });
  });

  test("there is no such server", async () => {
    const wire = new Wire([BINARY, "wrap", "--", "no-such-server"]);
    const { error } = await wire.call("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
    assert.match(error.message, /no-such-server/);
    assert.equal(await wire.end(), 127);
    assert.match(wire.errors, /no-such-server/);
  });

  test("the client takes its call back", async () => {
    const { wire, announce, hears } = await start();
    const person = await Person.at(announce);
    begin(wire, "ask").catch(() => {});
    const { id } = await person.sees("Question q0");
    wire.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: wire.id, reason: "enough" } });
    const { state, reason } = await person.closed(id);
    assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_client" });
    await hears("enough");
    await hears('"action":"cancel"');
  });

  test("many questions at once", async () => {
    const { wire, announce } = await start();
    const person = await Person.at(announce);
    const call = begin(wire, "ask", { count: 20 });
    for (let n = 19; n >= 0; n--) {
      const { id } = await person.sees(`Question q${n}`);
      await person.accept(id, { word: `${n}` });
    }
    assert.deepEqual(text(await call).map(({ result }) => result.content.word), Array.from({ length: 20 }, (_, n) => `${n}`));
  });
});

