// Many questions in a row leave memory and file handles as they were.
import assert from "node:assert/strict";
import { readFile, readdir, readlink } from "node:fs/promises";
import { describe, test } from "node:test";
import { Person } from "./person.mjs";
import { ALL, AT_ONCE, Wire, plain, until, wrap } from "./world.mjs";

const MANY = ALL ? 1_000 : 300;

/** What a process holds: connections, other handles, and memory in kB. */
async function holds({ pid }) {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const names = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
  const connections = targets.filter((target) => target.startsWith("socket:")).length;
  return { connections, handles: targets.filter(Boolean).length - connections, memory: Number(status.match(/VmRSS:\s+(\d+)/)[1]) };
}

/** Nothing was kept of so many questions. The person's HTTP client opens and closes idle connections as it likes. */
function flat(before, after, memory) {
  assert.equal(after.handles, before.handles);
  assert.ok(after.connections <= before.connections + 4, `${before.connections} connections, then ${after.connections}`);
  assert.ok(after.memory - before.memory < memory, `${before.memory} kB, then ${after.memory} kB`);
}

async function start(capabilities, ...flags) {
  const { announce, command } = await wrap(plain(), ...flags);
  const wire = new Wire(command);
  await wire.open(capabilities);
  return { wire, announce };
}

const ask = (wire) => wire.call("tools/call", { name: "ask", arguments: {}, _meta: { progressToken: "p" } });
const word = ({ result }) => JSON.parse(result.content[0].text)[0].result?.content?.word;

/** Asks so often, then says what that took. */
async function times(count, wire, once) {
  for (let n = 0; n < count; n++) assert.equal(await once(n), `${n}`);
  return holds(wire);
}

describe("many questions", { concurrency: AT_ONCE }, () => {
  test(`${MANY} that the client answers`, async () => {
    const { wire } = await start({ elicitation: {} });
    const once = async (n) => {
      const call = ask(wire);
      const { id } = await wire.told.next(({ method }) => method === "elicitation/create");
      wire.send({ jsonrpc: "2.0", id, result: { action: "accept", content: { word: `${n}` } } });
      return word(await call);
    };
    const before = await times(100, wire, once);
    const after = await times(MANY, wire, once);
    flat(before, after, 512);
  });

  test(`${MANY} that a person answers`, async () => {
    const { wire, announce } = await start({}, "--asks-per-minute", "1000000");
    const person = await Person.at(announce);
    let asked = 0;
    const once = async (n) => {
      const call = ask(wire);
      const { id } = await person.sees(`Question q${asked++}`);
      await until(async () => (await person.accept(id, { word: `${n}` })).status === 200); // no more than 50 calls a second
      return word(await call);
    };
    const before = await times(100, wire, once);
    const after = await times(MANY, wire, once);
    // Closed tickets are known for ten minutes.
    flat(before, after, 3_072);
  });

  test(`${MANY} that are too many`, async () => {
    const { wire, announce } = await start({});
    const person = await Person.at(announce);
    // What is let in, as the minute goes on, is cancelled.
    const cancels = async () => person.cancel((await person.news.next(({ type }) => type === "elicitation/request")).id).then(cancels);
    cancels().catch(() => {});
    const refused = async (count) => {
      for (let n = 0; n < count; ) {
        const { result } = await ask(wire);
        if (/more than 120 questions a minute/.test(result.content[0].text)) n++;
      }
      return holds(wire);
    };
    const before = await refused(100);
    const after = await refused(MANY);
    flat(before, after, 2_048);
  });
});
