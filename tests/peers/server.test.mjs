// The examples of `midcall-server`, with clients of every SDK: directly, and behind midcall.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Model, isError, next, words } from "./model.mjs";
import { Person } from "./person.mjs";
import { Client, Wire, until, wrap } from "./world.mjs";

const FOLDER = process.env.MIDCALL_EXAMPLES ?? join(import.meta.dirname, "../../target/debug/examples");
const example = (name) => [join(FOLDER, name)];

const accept = (message, content) => ({ message, action: "accept", ...(content && { content }) });
const DELETE = { tool: "delete_files", arguments: { names: ["old.txt"] } };
const DELETING = "Delete 1 files?\n\nold.txt";
const BOOKING = { name: "Ana", guests: 3, day: "2026-12-24" };
const SUMMARY = "Ana on 2026-12-24, 3 guests, table garden";
const booking = (extras) => [
  accept("Whom may we expect?", { ...BOOKING, ...extras }),
  accept("Which table?", { selected: "garden" }),
  accept(`Book it? ${SUMMARY}`, { confirmed: true }),
];
const BOOKED = `Booked: ${SUMMARY}, extras [Dog], notes none`;

/** How each client is told of a choice of several. */
const CLIENTS = {
  "sdk-1": { extras: ["dog"] },
  "sdk-1.20": { "extras.dog": true },
  python: { extras: ["dog"] },
  "sdk-2": { extras: ["dog"] },
  "python-modern": { extras: ["dog"] },
};

/** What the steps of a client brought. */
async function results(sdk, command, steps) {
  const told = await new Client(sdk, { command, declare: "form+url", steps }).done();
  return told.filter(({ result, error }) => result ?? error).map(({ result, error }) => (error ? error.message : result.content[0].text));
}

for (const [how, through] of Object.entries({ directly: (server) => server, "behind midcall": async (server) => (await wrap(server)).command })) {
  describe(`a server that asks, ${how}`, { concurrency: 2 }, () => {
    for (const [sdk, extras] of Object.entries(CLIENTS)) {
      test(`${sdk}: files are deleted once the person agreed`, async () => {
        const command = await through(example("delete_files"));
        const told = await results(sdk, command, [
          { ...DELETE, answers: [{ message: DELETING, action: "decline" }] },
          { ...DELETE, answers: [accept(DELETING, { confirmed: false })] },
          { ...DELETE, answers: [accept(DELETING, { confirmed: true })] },
          { tool: "list_files" },
        ]);
        assert.deepEqual(told, ["the person was asked and said no", "Nothing was deleted: the person said no", "Deleted 1 files", "notes.txt\nphoto.jpg"]);
      });

      test(`${sdk}: a table is booked in three steps, or not`, async () => {
        const command = await through(example("book_table"));
        const told = await results(sdk, command, [
          { tool: "book_table", answers: booking(extras) },
          { tool: "book_table", answers: [accept("Whom may we expect?", { ...BOOKING, ...extras }), { message: "Which table?", action: "cancel" }] },
        ]);
        assert.deepEqual(told, [BOOKED, "No table was booked"]);
      });

      test(`${sdk}: two questions at once`, async () => {
        const command = await through(example("theme_colour"));
        const answers = [accept("Dark at night?", { confirmed: false }), accept("Which colour do you like?", { selected: "moss" })];
        assert.deepEqual(await results(sdk, command, [{ tool: "choose_theme", answers }]), ["The theme is moss, always light"]);
      });

      if (sdk === "sdk-1.20") continue; // Its revision has no words for links.
      test(`${sdk}: a sign-in by a link`, async () => {
        const command = await through(example("sign_in"));
        const steps = [{ tool: "count_mail", answers: [accept("Sign in to your mail")] }];
        const client = new Client(sdk, { command, declare: "form+url", steps });
        const { params } = await client.tells("asked");
        assert.match(await (await fetch(params.url)).text(), /You are signed in/);
        const { content } = await client.tells("result");
        assert.equal(content[0].text, "You have 3 new letters");
        await client.done();
      });
    }
  });
}

describe("a client that cannot be asked", { concurrency: 2 }, () => {
  for (const sdk of ["sdk-1", "python", "sdk-2", "python-modern"]) {
    test(`${sdk}: its model asks the person, directly`, async () => {
      const model = new Model(sdk, example("book_table"));
      const tools = await model.tells("tools");
      assert.deepEqual(tools, ["book_table", "sendElicitationResult"]);
      let response = await model.call("book_table");
      for (const { content } of booking({ extras: ["dog"] })) {
        const { tool, elicitId } = next(response);
        assert.equal(tool, "sendElicitationResult", JSON.stringify(response));
        const unfit = await model.call(tool, { elicitId, action: "accept", content: { guests: 99 } });
        isError(unfit, /does not fit the question/);
        response = await model.call(tool, { elicitId, action: "accept", content });
      }
      assert.equal(words(response), BOOKED);
    });

    test(`${sdk}: its model does not delete`, async () => {
      const model = new Model(sdk, example("delete_files"));
      const { result, error } = await model.call("delete_files", { names: ["old.txt"] });
      assert.match(error?.message ?? result.content[0].text, /a model must not agree to what may destroy something/);
    });

    test(`${sdk}: the person is asked on the page, behind midcall`, async () => {
      const { announce, command } = await wrap(example("delete_files"));
      const client = new Client(sdk, { command, declare: "nothing", steps: [DELETE] });
      await client.tells("tools"); // TypeScript's 2.x starts a first one only to look at it
      const person = await Person.at(announce);
      const { id } = await person.sees(DELETING);
      await person.accept(id, { confirmed: true });
      assert.equal((await client.tells("result")).content[0].text, "Deleted 1 files");
      await client.done();
      person.leave();
    });
  }

  test("a client of 2025-06-18 hears that it cannot open links", async () => {
    const told = await results("sdk-1.20", example("sign_in"), [{ tool: "count_mail" }]);
    assert.match(told[0], /the client cannot open links, and a model must not/);
  });
});

test("a link's end is told to a client of 2025-11-25", async () => {
  const client = new Wire(example("sign_in"));
  await client.open({ elicitation: { form: {}, url: {} } });
  const called = client.call("tools/call", { name: "count_mail", arguments: {} });
  const { id, params } = await client.told.next(({ method }) => method === "elicitation/create");
  client.send({ jsonrpc: "2.0", id, result: { action: "accept" } });
  await fetch(params.url);
  const done = await client.told.next(({ method }) => method === "notifications/elicitation/complete");
  assert.equal(done.params.elicitationId, params.elicitationId);
  assert.equal((await called).result.content[0].text, "You have 3 new letters");
});

test("the tool hears how a question on the page really ended", async () => {
  const { announce, command } = await wrap(example("delete_files"));
  const client = new Client("sdk-1", { command, declare: "nothing" });
  client.send({ call: "1", ...DELETE }); // and stays, else the page would go with it
  const person = await Person.at(announce);
  const { id } = await person.sees(DELETING);
  await person.decline(id, "Not today");
  assert.equal((await client.tells("result")).content[0].text, "the person was asked and said no");
  await until(async () => (await person.status(id)).state === "answered");
  person.leave();
  client.process.stdin.end();
  await client.done();
});
