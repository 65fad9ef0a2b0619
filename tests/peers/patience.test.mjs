// Clients that give up before people answer: nothing is lost, and nothing happens twice.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKED, TABLE } from "./jobs.mjs";
import { Model, brought, next, words } from "./model.mjs";
import { Person } from "./person.mjs";
import { AT_ONCE, MODERN_SERVERS, SERVERS, times, wrap } from "./world.mjs";

const WAITING = "dev.midcall/waiting";
/** A client that hears of no progress: it would give up in the middle of a call, and not between two. */
const IMPATIENT = { quiet: true };
/** A client that gives up on a call after that many milliseconds. Calls are held for much less, so a busy machine is no reason to give up. */
const GIVES_UP = { ...IMPATIENT, timeout: 20_000 };

async function meet(client, server, ...flags) {
  const { announce, command } = await wrap(SERVERS[server], ...(flags.length ? flags : ["--hold", "300ms"]));
  const model = new Model(client, command);
  const person = await Person.at(announce);
  await model.tells("tools");
  return [model, person];
}

/** Calls what asks nothing. On a busy machine that may take longer than calls are held. */
async function finishes(model, tool, given) {
  assert.deepEqual(brought(await model.collects(await model.call(tool, given, IMPATIENT), IMPATIENT)), []);
}

/** What was told of calls, by how it was meant. */
const told = (lines) => ({
  results: lines.filter(({ result }) => result && !result._meta?.[WAITING]).length,
  errors: lines.filter(({ error }) => error).length,
});

describe("people who take longer than clients", { concurrency: AT_ONCE }, () => {
  for (const [client, server] of [["sdk-1", "sdk-1"], ["sdk-1.20", "python"], ["python", "sdk-1.20"]]) {
    test(`${client} and ${server}: the person takes longer than the client waits, and the result arrives, once`, async () => {
      const [model, person] = await meet(client, server, "--hold", "1s");
      let waiting = await model.call("form", {}, GIVES_UP);
      const { claim, deadline, page } = waiting.result._meta[WAITING];
      assert.equal(next(waiting).claim, claim);
      assert.ok(Date.parse(deadline) > Date.now());
      assert.equal(page, person.page.replace(/\/$/, ""));
      assert.ok(words(waiting).includes(page));

      // The same client, without Midcall: the person thinks until it has given up, and then a little longer.
      const alone = new Model(client, SERVERS[server]);
      const givenUp = alone.call("after", { name: "never" }, GIVES_UP);
      let isOver = false;
      givenUp.then(() => (isOver = true));
      while (!isOver) {
        waiting = await model.call(next(waiting).tool, { claim }, GIVES_UP);
        assert.equal(next(waiting).claim, claim, "it is told to wait again");
      }
      assert.ok((await givenUp).error, "nobody waits for that long without Midcall");
      assert.equal((await person.accept((await person.sees(TABLE)).id, BOOKED)).status, 200);
      const result = await model.collects(waiting, GIVES_UP);
      assert.deepEqual(brought(result)[0].content, BOOKED);
      assert.equal((await model.ran()).form, 1);
      const { results, errors } = told(await model.leaves());
      assert.deepEqual({ results, errors }, { results: 2, errors: 0 }); // the form's, and how often it ran
    });
  }

  for (const [client, server] of [["sdk-1", "sdk-1"], ["sdk-1.20", "sdk-2"]]) {
    test(`${client} and ${server}: a client doesn't give up on its own call while its user types in its own dialog`, async () => {
      const { command } = await wrap({ ...SERVERS, ...MODERN_SERVERS }[server], "--ask", "client");
      const model = new Model(client, command, "{}", times({ sign_of_life: "500ms" }));
      const call = model.call("form", {}, { timeout: GIVES_UP.timeout, resetTimeoutOnProgress: true });
      await model.tells("asked");

      // The user types until the same client, without Midcall, has given up, and then a little longer.
      const alone = new Model(client, SERVERS["sdk-1"]);
      assert.ok((await alone.call("after", { name: "never" }, GIVES_UP)).error);
      const { progress } = await model.tells("progress");
      await model.told.next((line) => line.progress?.progress > progress);
      model.gives({ action: "accept", content: BOOKED });
      assert.deepEqual(brought(await call)[0].content, BOOKED);
      await model.leaves();
    });
  }

  test("a client that holds results against schemas takes word that a person is asked for one", async () => {
    const [model, person] = await meet("sdk-1", "sdk-1");
    const waiting = await model.call("priced", {}, IMPATIENT);
    assert.deepEqual(waiting.result.structuredContent, { [WAITING]: waiting.result._meta[WAITING] });
    assert.equal((await person.accept((await person.sees("How many?")).id, { count: 4 })).status, 200);
    assert.deepEqual((await model.collects(waiting, IMPATIENT)).result.structuredContent, { price: 10 });
    await model.leaves();
  });

  test("each call that is let go has its own claim, and others finish meanwhile", async () => {
    const [model, person] = await meet("sdk-1", "sdk-1");
    const [form, both] = [model.call("form", {}, IMPATIENT), model.call("both", {}, IMPATIENT)];
    const tickets = await Promise.all([TABLE, "Which town?", "Which day?"].map((message) => person.sees(message)));
    await finishes(model, "enough", { name: "one" }); // while people think
    const waiting = await Promise.all([form, both]);
    assert.notEqual(next(waiting[0]).claim, next(waiting[1]).claim);
    // And after they were let go.
    await finishes(model, "enough", { name: "other" });

    // The second finishes first, before anybody collects it.
    await person.accept(tickets[1].id, { town: "Olinda" });
    await person.accept(tickets[2].id, { day: "Monday" });
    const collected = brought(await model.collects(waiting[1], IMPATIENT));
    assert.deepEqual(collected.map(({ content }) => content), [{ town: "Olinda" }, { day: "Monday" }]);
    const first = model.collects(waiting[0], IMPATIENT);
    await person.accept(tickets[0].id, BOOKED);
    assert.deepEqual(brought(await first)[0].content, BOOKED);

    // Whoever collects again gets the same.
    assert.deepEqual(brought(await model.collects(waiting[1], IMPATIENT)), collected);
    const { form: forms, both: boths } = await model.ran();
    assert.deepEqual({ forms, boths }, { forms: 1, boths: 1 });
    await model.leaves();
  });

  test("a call that finishes while another's question is open is let go and collected like it", async () => {
    const [model, person] = await meet("sdk-1", "sdk-1");
    const form = model.call("form", {}, IMPATIENT);
    const ticket = await person.sees(TABLE);
    const waiting = await form;
    const { claim } = next(waiting);
    // A second call, which knows nothing of that question and takes its time.
    const second = await model.call("after", { name: "gate" }, IMPATIENT);
    assert.notEqual(next(second).claim, claim);
    assert.ok(next(second).claim, "it is older than the hold, and a person thinks");
    await finishes(model, "enough", { name: "gate" });
    assert.deepEqual(brought(await model.collects(second, IMPATIENT)), []);
    await person.accept(ticket.id, BOOKED);
    assert.deepEqual(brought(await model.collects(waiting, IMPATIENT))[0].content, BOOKED);
    const { form: forms, after } = await model.ran();
    assert.deepEqual({ forms, after }, { forms: 1, after: 1 });
    await model.leaves();
  });

  test("a call given up before it is let go takes its question with it", async () => {
    const [model, person] = await meet("sdk-1", "sdk-1", "--hold", "never");
    const call = model.call("form");
    const { id } = await person.sees(TABLE);
    model.takesBack();
    assert.match((await call).error.message, /taken back/);
    const { state, reason } = await person.closed(id);
    assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_client" });
    await model.leaves();
  });

  test("a claim of another session is worth nothing there", async () => {
    const [[one, person], [other]] = await Promise.all([meet("sdk-1", "sdk-1"), meet("sdk-1", "sdk-1")]);
    const call = one.call("form", {}, IMPATIENT);
    const { id } = await person.sees(TABLE);
    const waiting = await call;
    const { tool, claim } = next(waiting);
    const foreign = await other.call(tool, { claim });
    assert.equal(foreign.result.isError, true);
    await person.accept(id, BOOKED);
    assert.deepEqual(brought(await one.collects(waiting, IMPATIENT))[0].content, BOOKED);
    await Promise.all([one.leaves(), other.leaves()]);
  });
});
