// Clients that open a session for every request, over HTTP: what they were told to come back with is found from any of them.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { BOOKED, TABLE } from "./jobs.mjs";
import { brought, next } from "./model.mjs";
import { Person } from "./person.mjs";
import { Guest, messages, postModern } from "./visitor.mjs";
import { AT_ONCE, Client, Process, SERVERS, alive, folder, plain, times, until, wrap } from "./world.mjs";

const WAITING = "dev.midcall/waiting";
const QUESTION = "Question q0";
const HERE = { word: "here" };
const text = ({ result }) => JSON.parse(result.content[0].text);

/** A gateway whose clients come back soon, and a person at its page. `pids` are the processes of `plain` servers that it started. */
async function meet(server, { hold = "300ms", flags = [], ...own } = {}) {
  const heard = join(folder(), "heard");
  const { announce, command } = await wrap(server, "--listen", "127.0.0.1:0", "--hold", hold, ...flags);
  const gateway = new Process(command, { env: { MIDCALL_HEARD: heard, ...times(own) } });
  const url = (await gateway.told.next(({ unreadable }) => unreadable)).unreadable;
  const pids = async () => [...(await readFile(heard, "utf8")).matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
  return { url, gateway, pids, person: await Person.at(announce) };
}

/** A client that opens a session and calls one tool without listing any. */
function visitor(sdk, url, tool, given = {}, more = {}) {
  return new Client(sdk, { url, declare: "nothing", lists: false, steps: [{ tool, arguments: given, quiet: true, ...more }] });
}

/** What such a client is answered. It ends its session then. */
async function once(...how) {
  const client = visitor(...how);
  const response = await client.told.next((line) => "result" in line || "error" in line);
  await client.done();
  return response;
}

/** Collects by new sessions, as long as it is told to. */
async function collects(sdk, url, told) {
  for (let { tool, claim } = next(told); claim; { tool, claim } = next(told)) told = await once(sdk, url, tool, { claim });
  return told;
}

/** A call of a client without an SDK, which is told to come back: its session, and the claim. */
async function letGo(url) {
  const guest = await Guest.at(url);
  const { result } = await guest.tool("ask");
  return { guest, claim: result._meta[WAITING].claim };
}

/** Collects by a new session, as long as it is told to. */
async function collected(url, claim) {
  for (;;) {
    const guest = await Guest.at(url);
    const told = await guest.tool("awaitElicitation", { claim });
    assert.equal((await guest.leave()).status, 204);
    if (!told.result?._meta?.[WAITING]) return told;
  }
}

describe("clients that open a session for every request", { concurrency: AT_ONCE }, () => {
  for (const [client, server] of [["sdk-1", "sdk-1"], ["sdk-1.20", "python"], ["python", "sdk-1.20"]]) {
    test(`${client} and ${server}: the call's session is over, and another collects the result that the tool brought`, async () => {
      const { url, person } = await meet(SERVERS[server]);
      const waiting = await once(client, url, "form");
      assert.ok(next(waiting).claim, JSON.stringify(waiting));
      const collected = collects(client, url, waiting);
      assert.equal((await person.accept((await person.sees(TABLE)).id, BOOKED)).status, 200);
      assert.deepEqual(brought(await collected)[0].content, BOOKED);
      // And again, for those who missed it.
      assert.deepEqual(brought(await collects(client, url, waiting))[0].content, BOOKED);
    });
  }

  test("sdk-1: what a model says for its person arrives from another session", async () => {
    const { url } = await meet(SERVERS["sdk-1"], { flags: ["--ask", "client,model"] });
    const { tool, elicitId } = next(await once("sdk-1", url, "form"));
    const answer = { elicitId, action: "accept", content: BOOKED };
    assert.deepEqual(brought(await once("sdk-1", url, tool, answer))[0].content, BOOKED);
    assert.deepEqual(brought(await once("sdk-1", url, tool, answer))[0].content, BOOKED);
    assert.equal((await once("sdk-1", url, tool, { ...answer, elicitId: "mc1.never" })).result.isError, true);
  });

  test("sdk-2: a fresh process repeats the call with the state that another was given", async () => {
    const { url, person } = await meet(SERVERS["sdk-1"], { flags: ["--server-era", "legacy"] });
    const first = await once("sdk-2", url, "form", {}, { back: {} });
    let { requestState } = first.result;
    assert.ok(requestState, JSON.stringify(first));
    assert.equal((await person.accept((await person.sees(TABLE)).id, BOOKED)).status, 200);
    let told;
    for (; requestState; requestState = told.result?.requestState) told = await once("sdk-2", url, "form", {}, { back: { requestState } });
    assert.deepEqual(brought(told)[0].content, BOOKED);
  });

  for (const [how, ends] of [["is killed", (client) => process.kill(client.pid, "SIGKILL")], ["stays", () => {}]]) {
    test(`sdk-1: a client ${how} once it was told to come back, and another process collects`, async () => {
      const { url, person } = await meet(SERVERS["sdk-1"]);
      const client = new Client("sdk-1", { url, declare: "nothing" });
      client.send({ call: 1, tool: "form", quiet: true });
      const waiting = await client.told.next((line) => "result" in line);
      ends(client);
      const collected = collects("sdk-1", url, waiting);
      assert.equal((await person.accept((await person.sees(TABLE)).id, BOOKED)).status, 200);
      assert.deepEqual(brought(await collected)[0].content, BOOKED);
    });
  }

  test("a session that was ended is nobody's, while its server goes on until only the result is left", async () => {
    const { url, person, pids } = await meet(plain());
    const { guest, claim } = await letGo(url);
    const [pid] = await pids();
    assert.equal((await guest.leave()).status, 204);
    assert.equal((await guest.leave()).status, 404);
    assert.equal((await guest.post({ id: 9, method: "ping" })).status, 404);
    assert.ok(await alive(pid));
    assert.equal((await person.accept((await person.sees(QUESTION)).id, HERE)).status, 200);
    await until(async () => !(await alive(pid)), "the server has ended");
    assert.deepEqual(text(await collected(url, claim))[0].result.content, HERE);
    assert.deepEqual(text(await collected(url, claim))[0].result.content, HERE);
  });

  test("a call that nobody was told to come back for ends with its session", async () => {
    const { url, person, pids } = await meet(plain(), { hold: "never" });
    const guest = await Guest.at(url);
    const call = guest.tool("ask").catch(() => undefined);
    const { id } = await person.sees(QUESTION);
    await guest.leave();
    assert.equal((await call)?.error?.message ?? "cut off", "midcall: the session has ended");
    assert.equal((await person.closed(id)).state, "withdrawn");
    const [pid] = await pids();
    await until(async () => !(await alive(pid)), "the server has ended");
  });

  test("a session ends as its person answers, and the answer arrives", async () => {
    const { url, person } = await meet(plain());
    const { guest, claim } = await letGo(url);
    const { id } = await person.sees(QUESTION);
    const [{ status }] = await Promise.all([person.accept(id, HERE), guest.leave()]);
    assert.equal(status, 200);
    assert.deepEqual(text(await collected(url, claim))[0].result.content, HERE);
  });

  for (const how of ["is there", "has left"]) {
    test(`a server that dies while its client ${how} is told to whoever comes for the result`, async () => {
      const { url, pids } = await meet(plain());
      const { guest, claim } = await letGo(url);
      if (how === "has left") await guest.leave();
      const waits = collected(url, claim);
      process.kill((await pids())[0], "SIGKILL");
      for (const told of [await waits, await collected(url, claim)]) assert.match(told.error.message, /the server was ended by .* before it answered/);
    });
  }

  test("a server that dies is told to a modern client that comes back", async () => {
    const { url, pids } = await meet(plain(), { flags: ["--server-era", "legacy"] });
    const call = { name: "ask", arguments: {} };
    const { result } = await postModern(url, 1, "tools/call", call);
    process.kill((await pids())[0], "SIGKILL");
    let told = { result };
    for (let id = 2; told.result; id++) told = await postModern(url, id, "tools/call", { ...call, requestState: told.result.requestState });
    assert.match(told.error.message, /the server was ended by .* before it answered/);
  });

  test("whoever waits hears that the call goes on, and nobody is disturbed who waits beside", async () => {
    const { url, person } = await meet(plain(), { sign_of_life: "200ms" });
    const { claim } = await letGo(url);
    const params = { name: "awaitElicitation", arguments: { claim }, _meta: { progressToken: "mine" } };
    const [gone, stays] = [await Guest.at(url), await Guest.at(url)];
    const going = new AbortController();
    const first = messages(await gone.post({ id: 7, method: "tools/call", params }, { signal: going.signal }));
    const second = messages(await stays.post({ id: 7, method: "tools/call", params }));
    for (const told of [first, second]) assert.equal((await told.next()).value.params.progressToken, "mine");
    going.abort();
    await person.accept((await person.sees(QUESTION)).id, HERE);
    for await (const told of second) if (told.id === 7) assert.deepEqual(text(told)[0].result.content, HERE);
    assert.deepEqual(text(await collected(url, claim))[0].result.content, HERE);
  });

  test("a modern client collects what a legacy one was told to come back for", async () => {
    const { url, person } = await meet(plain());
    const { claim } = await letGo(url);
    const collect = postModern(url, 1, "tools/call", { name: "awaitElicitation", arguments: { claim } });
    await person.accept((await person.sees(QUESTION)).id, HERE);
    const told = await collect;
    assert.equal(told.result.resultType, "complete");
    assert.deepEqual(text(told)[0].result.content, HERE);
  });

  test("a claim that nobody was given is unknown in a session that never listed tools", async () => {
    const { url } = await meet(plain());
    const { claim } = await letGo(url);
    for (const unknown of ["mc1.never", `${claim}x`]) {
      const { result } = await collected(url, unknown);
      assert.match(result.content[0].text, /There is no such claim/);
    }
  });

  test("a gateway that ends takes servers along whose clients have left", async () => {
    const { url, gateway, pids } = await meet(plain(), { drain: "1s" });
    const { guest } = await letGo(url);
    await guest.leave();
    const [pid] = await pids();
    process.kill(gateway.pid, "SIGTERM");
    await gateway.end();
    await until(async () => !(await alive(pid)), "the server has ended");
  });
});
