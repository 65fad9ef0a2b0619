// Models that get it wrong: names, sessions, content, time.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { BOOKED } from "./jobs.mjs";
import { Model, brought, isError, next, words } from "./model.mjs";
import { AT_ONCE, SERVERS, until, wrap } from "./world.mjs";

const SEND = "sendElicitationResult";

/** A model behind a client that declares nothing, and what its server heard. */
async function meet(...flags) {
  const { announce, command } = await wrap(SERVERS["sdk-1"], "--ask", "client,model", ...flags);
  const file = join(dirname(announce), "heard");
  const model = new Model("sdk-1", command, "nothing", { MIDCALL_HEARD: file });
  model.heard = (what) => until(async () => (await readFile(file, "utf8").catch(() => "")).includes(what), `the server hears ${what}`);
  return model;
}

describe("a model that gets it wrong", { concurrency: AT_ONCE }, () => {
  test("a name that nobody gave, and the question is still there", async () => {
    const model = await meet();
    const asked = await model.call("form");
    const { elicitId } = next(asked);
    for (const wrong of ["", "elicit-1", elicitId.slice(1), `${elicitId}x`, 7, null, {}, undefined]) {
      isError(await model.call(SEND, { elicitId: wrong, action: "accept", content: BOOKED }), /There is no such question/);
    }
    for (const wrong of [undefined, "", "yes", "ACCEPT", 1]) isError(await model.call(SEND, { elicitId, action: wrong, content: BOOKED }), /action/);
    for (const wrong of ["Ana", 7, [BOOKED]]) isError(await model.call(SEND, { elicitId, action: "accept", content: wrong }), /content/);
    isError(await model.call(SEND), /There is no such question/);
    assert.deepEqual(brought(await model.answers(asked, "accept", BOOKED))[0].content, BOOKED);
    assert.deepEqual(await model.ran(), { form: 1, ran: 1 });
    await model.leaves();
  });

  test("a name of another session", async () => {
    const [own, other] = [await meet(), await meet()];
    const [asked, askedOther] = [await own.call("form"), await other.call("form")];
    const { elicitId } = next(asked);
    isError(await other.call(SEND, { elicitId, action: "accept", content: BOOKED }), /There is no such question/);
    isError(await other.call(SEND, { elicitId, action: "cancel" }), /There is no such question/);
    assert.deepEqual(brought(await own.answers(asked, "accept", BOOKED))[0].content, BOOKED);
    const [answer] = brought(await other.answers(askedOther, "accept", { name: "Rui", guests: 2 }));
    assert.equal(answer.content.name, "Rui", "the other's own question was not touched");
    await Promise.all([own.leaves(), other.leaves()]);
  });

  test("content that does not fit, then mended", async () => {
    const model = await meet();
    const asked = await model.call("form");
    const wrong = await model.answers(asked, "accept", { name: "", email: "not-an-address", guests: 4.5, table: "on-the-roof" });
    isError(wrong, /\n\/name: .*\n\/email: .*\n\/guests: .*\n\/table: /);
    assert.doesNotMatch(JSON.stringify(wrong), /not-an-address|4\.5|on-the-roof/);
    const problems = wrong.result._meta["dev.midcall/problems"];
    assert.deepEqual(problems.map(({ path }) => path), ["/name", "/email", "/guests", "/table"]);
    assert.ok(problems.every(({ key }) => key.startsWith("mcp.elicitation.problem.")));
    assert.deepEqual(brought(await model.answers(asked, "accept", BOOKED))[0].content, BOOKED);
    assert.equal((await model.ran()).form, 1);
    await model.leaves();
  });

  test("twice: the same again brings the same, another one does not count", async () => {
    const model = await meet();
    const asked = await model.call("form");
    const first = brought(await model.answers(asked, "accept", BOOKED));
    assert.deepEqual(brought(await model.answers(asked, "accept", BOOKED)), first);
    isError(await model.answers(asked, "accept", { name: "Rui", guests: 2 }), /answered already, and the first answer counts/);
    isError(await model.answers(asked, "decline"), /answered already/);
    assert.equal((await model.ran()).form, 1);

    // The same at the same time.
    const again = await model.call("form");
    const both = await Promise.all([model.answers(again, "accept", BOOKED), model.answers(again, "accept", BOOKED)]);
    for (const result of both) assert.deepEqual(brought(result)[0].content, BOOKED);
    assert.equal((await model.ran()).form, 2);
    await model.leaves();
  });

  test("late: it is told so, and how to get the result", async () => {
    const model = await meet("--timeout", "300ms");
    const asked = await model.call("form");
    await model.heard("cancel");
    const told = await model.answers(asked, "accept", BOOKED);
    isError(told, /nobody answered in time/);
    const [answer] = brought(await model.collects(told));
    assert.equal(answer.action, "cancel");
    assert.deepEqual(answer._meta["dev.midcall/outcome"], { state: "timed_out" });
    assert.equal((await model.ran()).form, 1);
    await model.leaves();
  });

  test("late, and the next question has come up meanwhile", async () => {
    const model = await meet();
    const asked = await model.call("insist", { hurry: true }); // asks until it is answered, for a moment only at first
    await model.heard("cancel");
    const told = await model.answers(asked, "accept", BOOKED);
    isError(told, /nobody answered in time/);
    const second = await model.collects(told);
    const answers = brought(await model.answers(second, "accept", BOOKED));
    assert.deepEqual(answers.map(({ action }) => action), ["cancel", "accept"]);
    assert.equal((await model.ran()).insist, 1);
    await model.leaves();
  });

  test("a question that the server has taken back", async () => {
    const model = await meet();
    const asked = await model.call("impatient", { name: "question", table: true });
    await model.call("enough", { name: "question" });
    await model.heard("error");
    const told = await model.answers(asked, "accept", BOOKED);
    isError(told, /sdk-1 has taken this question back/);
    assert.match(brought(await model.collects(told))[0].error.message, /enough/);
    await model.leaves();
  });

  test("two questions at once", async () => {
    const model = await meet();
    const town = await model.call("both");
    assert.match(words(town), /Which town\?/);
    const day = await model.answers(town, "accept", { town: "Olinda" });
    assert.match(words(day), /Which day\?/);
    isError(await model.answers(day, "accept", { town: "Olinda" }), /\/day/);
    const answers = brought(await model.answers(day, "accept", { day: "Monday" }));
    assert.deepEqual(answers.map(({ content }) => content), [{ town: "Olinda" }, { day: "Monday" }]);
    assert.equal((await model.ran()).both, 1);
    await model.leaves();
  });

  test("two calls at once, each with a question: each gets its own result", async () => {
    const model = await meet();
    const calls = [model.call("form"), model.call("empty")];
    const asked = await Promise.all(calls);
    const results = [];
    for (const told of asked) {
      const content = words(told).includes("Which table?") ? BOOKED : { note: "none" };
      results.push(await model.collects(await model.answers(told, "accept", content)));
    }
    const contents = results.map((result) => brought(result)[0].content);
    assert.deepEqual(contents, [BOOKED, { note: "none" }]);
    const { form, empty } = await model.ran();
    assert.deepEqual({ form, empty }, { form: 1, empty: 1 });
    await model.leaves();
  });

  test("a client that holds results against schemas takes a question for one", async () => {
    const model = await meet();
    const asked = await model.call("priced");
    const { elicitationPending } = asked.result._meta;
    assert.deepEqual(asked.result.structuredContent, { elicitationPending });
    const priced = await model.answers(asked, "accept", { count: 4 });
    assert.deepEqual(priced.result.structuredContent, { price: 10 });
    await model.leaves();
  });
});
