// What the page knows, out of events alone: in Node, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isIn, Queue } from "../../crates/web/js/page/queue.js";
import { events, lines } from "../../crates/web/js/page/stream.js";

const ticket = (id, asked = "2027-01-01T00:00:00Z", more = {}) => ({
  gateway: { origin: "http://127.0.0.1:1" }, id, asked, deadline: "2027-01-01T00:05:00Z", mode: "form", description: `${id}?`, params: {}, server: { name: "crm" }, ...more,
});
const AT = { at: "2027-01-01T00:01:00Z" };

test("the oldest comes first, whenever it is heard of", () => {
  const queue = new Queue();
  for (const second of ["03", "01", "02"]) queue.add(ticket(second, `2027-01-01T00:00:${second}Z`));
  assert.deepEqual(queue.all.map(({ id }) => id), ["01", "02", "03"]);
});

test("questions of several gateways are in one order; what one asks at once stays in its own", () => {
  const queue = new Queue();
  const from = (port) => ({ gateway: { origin: `http://127.0.0.1:${port}` } });
  const at = (ms) => `2027-01-01T00:00:00.${ms}Z`;
  for (const [id, ms, port] of [["d", "002", 2], ["c", "002", 1], ["b", "002", 1], ["a", "003", 2], ["e", "001", 2]]) queue.add(ticket(id, at(ms), from(port)));
  assert.deepEqual(queue.all.map(({ id }) => id), ["e", "c", "b", "d", "a"]);
});

test("what is told twice is heard once, and what is closed stays closed", () => {
  const queue = new Queue();
  assert.equal(queue.add(ticket("a")), true);
  assert.equal(queue.add(ticket("a")), false);
  assert.ok(queue.settle("a", { state: "withdrawn" }, AT));
  assert.equal(queue.settle("a", { state: "timed_out" }, AT), undefined);
  assert.equal(queue.settle("never heard of", { state: "timed_out" }, AT), undefined);
  assert.equal(queue.add(ticket("a")), false);
  assert.deepEqual(queue.past.map(({ closing }) => closing.state), ["withdrawn"]);
});

test("two equal questions are two while both are asked, and one that is asked again later is not", () => {
  const queue = new Queue();
  const same = { description: "Delete 3 files?", tool: "delete_old" };
  const at = (second, more) => ticket(second, `2027-01-01T00:00:${second}Z`, { ...same, ...more });
  for (const one of [at("01"), at("02"), at("03", { tool: "other" }), at("04", { description: "Delete 4 files?" }), at("05", { server: { name: "mail" } })]) queue.add(one);
  const again = () => queue.all.map((one) => queue.isAgain(one));
  assert.deepEqual(again(), [false, true, false, false, false]);
  queue.settle("01", { state: "answered", action: "accept" }, { at: "2027-01-01T00:00:30.5Z" });
  assert.deepEqual(again(), [true, false, false, false], "the first was answered while the second waited");
  queue.add(at("31"));
  queue.settle("02", { state: "answered", action: "accept" }, { at: "2027-01-01T00:00:30Z" });
  assert.equal(queue.isAgain(queue.get("31")), false, "it came after both");
});

test("what was before is remembered by names, the latest first, and not without end", () => {
  const queue = new Queue();
  for (let at = 0; at < 100; at++) {
    queue.add(ticket(`t${at}`, undefined, { params: { secret: "xyzzy" } }));
    queue.settle(`t${at}`, { state: "answered", action: "accept" }, { ...AT, fields: ["name"], ours: true });
  }
  assert.equal(queue.past.length, 30);
  assert.equal(queue.past[0].id, "t99");
  assert.deepEqual(queue.past[0].fields, ["name"]);
  assert.ok(!JSON.stringify(queue.past).includes("xyzzy"));
});

test("what may have ended unheard is asked about, and stays open until the desk says so", () => {
  const queue = new Queue();
  queue.add(ticket("a"));
  queue.add(ticket("link", undefined, { deadline: "2027-01-01T01:00:00Z" }));
  const deadline = Date.parse("2027-01-01T00:05:00Z");
  assert.deepEqual(queue.doubtful(deadline - 1_000), []);
  queue.markOpened("link");
  assert.deepEqual(queue.doubtful(deadline + 1_000).map(({ id }) => id).sort(), ["a", "link"]);
  assert.equal(queue.all.length, 2);
});

test("an opened link leads where the desk said last", () => {
  const queue = new Queue();
  queue.add(ticket("link", undefined, { url: "https://server.example/1" }));
  queue.markOpened("link");
  assert.equal(queue.get("link").url, "https://server.example/1");
  queue.markOpened("link", "https://server.example/2");
  queue.markOpened("link");
  assert.equal(queue.get("link").url, "https://server.example/2");
  queue.markOpened("closed", "https://server.example/3");
  assert.equal(queue.get("closed"), undefined);
});

test("where the end is not known, a later word corrects it", () => {
  const queue = new Queue();
  queue.add(ticket("a"));
  queue.settle("a", { state: "gone" }, AT);
  assert.ok(queue.settle("a", { state: "answered", action: "decline" }, AT));
  assert.deepEqual(queue.past.map(({ closing }) => closing.action), ["decline"]);

  queue.add(ticket("b"));
  queue.settle("b", { state: "gone" }, AT);
  assert.equal(queue.add(ticket("b")), true, "it was there all the time");
  assert.equal(queue.past.length, 1);

  queue.settle("b", { state: "timed_out" }, AT);
  assert.ok(queue.settle("b", { state: "answered", action: "accept" }, { ...AT, fields: ["name"], ours: true }), "what this tab knows to be taken");
  assert.equal(queue.past[0].closing.state, "answered");
});

test("what became of an answer is learned once, whoever gave it, and is never taken back", () => {
  for (const ours of [true, false]) {
    const queue = new Queue();
    queue.add(ticket("a"));
    const closing = { state: "answered", action: "accept", by: { route: "page", human: true } };
    const told = (delivery, more) => queue.settle("a", { ...closing, delivery, ...more }, AT);
    queue.settle("a", closing, { ...AT, ours });
    assert.deepEqual(queue.underway("http://127.0.0.1:1").map(({ id }) => id), ["a"]);
    assert.deepEqual(queue.underway("http://127.0.0.1:2"), []);
    assert.ok(told("pending") && told("sent"));
    assert.equal(told("pending"), undefined, "it came late");
    assert.equal(queue.settle("a", { state: "timed_out", delivery: "lost" }, AT), undefined);
    assert.ok(told("lost", { reason: "server_gone" }));
    assert.equal(told("delivered"), undefined);
    assert.deepEqual(queue.past[0].closing, { ...closing, delivery: "lost", reason: "server_gone" });
    assert.deepEqual(queue.underway("http://127.0.0.1:1"), []);
    assert.equal(queue.lost.length, ours ? 1 : 0, "the window that answered says so");
    queue.see("a");
    assert.deepEqual(queue.lost, []);
  }
});

test("a place narrows, and an empty one does not", () => {
  const table = [
    [{}, { workspace: "", conversation: "" }, true],
    [{ workspace: "acme" }, { workspace: "", conversation: "" }, true],
    [{ workspace: "acme" }, { workspace: "acme", conversation: "" }, true],
    [{ workspace: "acme" }, { workspace: "globex", conversation: "" }, false],
    [{}, { workspace: "acme", conversation: "" }, false],
    [{ workspace: "acme", conversation: "7" }, { workspace: "acme", conversation: "7" }, true],
    [{ workspace: "acme" }, { workspace: "acme", conversation: "7" }, false],
  ];
  for (const [what, place, is] of table) assert.equal(isIn(what, place), is, JSON.stringify([what, place]));
});

/** A body that comes in pieces of so many bytes. */
const body = (text, size) => new ReadableStream({
  start(controller) {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
    controller.close();
  },
});

test("events are read whole, however they are cut", async () => {
  const text = ':\n\nevent: elicitation/request\nid: 1-2\ndata: {"a": "é: 😀"}\n\n:\n\nevent: x\nid: 3\ndata: {}\n\nevent: half';
  for (let size = 1; size < 60; size++) {
    let heard = 0;
    const found = [];
    for await (const event of events(body(text, size), () => heard++)) found.push(event);
    assert.deepEqual(found, [{ name: "elicitation/request", id: "1-2", data: '{"a": "é: 😀"}' }, { name: "x", id: "3", data: "{}" }]);
    assert.ok(heard > 0);
  }
});

test("an event that comes in many pieces is looked at once", async () => {
  const text = `data: ${"x".repeat(30_000_000)}\n\n`; // again with every piece, it would be 450,000 MB
  const found = [];
  for await (const { data } of events(body(text, 1_000), () => {})) found.push(data.length);
  assert.deepEqual(found, [30_000_000]);
});

test("lines are read whole, however they are cut", async () => {
  for (let size = 1; size < 20; size++) {
    const found = [];
    for await (const line of lines(body('{"a":"é"}\n{"b":2}\n{"half', size))) found.push(line);
    assert.deepEqual(found, [{ a: "é" }, { b: 2 }]);
  }
});
