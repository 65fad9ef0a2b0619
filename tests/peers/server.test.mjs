// The examples of `midcall-server`, with clients of every SDK: directly, and behind midcall.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Model, isError, words } from "./model.mjs";
import { Person } from "./person.mjs";
import { ALL, AT_ONCE, Client, Wire, wrap } from "./world.mjs";

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

const SIGN_IN = "Sign in to your mail";
/** What midcall adds to it, since the link leads to this machine and its server has no host. */
const LOCAL = "\n\n⚠ This link opens a program on your own computer, not a website";

const CLIENTS = ["sdk-1", "sdk-1.20", "python", "rmcp", "sdk-2", "python-modern", "rmcp-modern"];
/** Those that are met without elicitation, too. Python's take a second to start: `asks.test.mjs` has them. */
const QUIET = ["sdk-1", "rmcp", "sdk-2", "rmcp-modern"];
/** Who plays which way: together all of them, and in each way both eras. */
const USUAL = { directly: ["sdk-1.20", "rmcp", "sdk-2", "python-modern"], "behind midcall": ["sdk-1.20", "sdk-1", "python", "rmcp-modern"] };
const USUAL_QUIET = { directly: ["sdk-1", "rmcp-modern"], "behind midcall": ["rmcp", "sdk-2"] };
const DOG = { extras: ["dog"] };

/** How each client says some of several. */
const dog = (sdk) => (sdk === "sdk-1.20" ? { "extras.dog": true } : DOG);

/** What the steps of a client brought. */
async function results(sdk, command, steps) {
  const told = await new Client(sdk, { command, declare: "form+url", steps }).done();
  return told.filter(({ result, error }) => result ?? error).map(({ result, error }) => (error ? error.message : result.content[0].text));
}

for (const [how, through] of Object.entries({ directly: (server) => server, "behind midcall": async (server) => (await wrap(server)).command })) {
  describe(`a server that asks, ${how}`, { concurrency: AT_ONCE }, () => {
    for (const sdk of ALL ? CLIENTS : USUAL[how]) {
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
          { tool: "book_table", answers: booking(dog(sdk)) },
          { tool: "book_table", answers: [accept("Whom may we expect?", { ...BOOKING, ...dog(sdk) }), { message: "Which table?", action: "cancel" }] },
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
        const message = how === "directly" ? SIGN_IN : SIGN_IN + LOCAL;
        const steps = [{ tool: "count_mail", answers: [accept(message)] }];
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

describe("people who take longer than clients, directly", { concurrency: AT_ONCE }, () => {
  const GIVES_UP = { timeout: 15_000 };
  for (const sdk of ["sdk-1", "sdk-1.20"]) {
    test(`${sdk}: a client that starts its timeout anew with progress waits for its own person`, async () => {
      const [patient, alone] = [1, 2].map(() => new Model(sdk, example("delete_files"), "{}"));
      const call = patient.call(DELETE.tool, DELETE.arguments, { ...GIVES_UP, resetTimeoutOnProgress: true });
      await patient.tells("asked");
      // Its person types until the same client without that has given up.
      const { error } = await alone.call(DELETE.tool, DELETE.arguments, GIVES_UP);
      assert.match(error.message, /timed out/i);
      patient.gives(accept(DELETING, { confirmed: true }));
      assert.equal(words(await call), "Deleted 1 files");
      const { progress } = await patient.tells("progress");
      assert.match(progress.message ?? "Waiting for a person", /^Waiting for a person/);
      await patient.leaves();
    });
  }
});

const COLOURS = [accept("Which colour do you like?", { selected: "moss" }), accept("Dark at night?", { confirmed: false })];
const CHOSEN = "The theme is moss, always light";

describe("a client that cannot be asked, directly", { concurrency: AT_ONCE }, () => {
  for (const sdk of ALL ? QUIET : USUAL_QUIET.directly) {
    for (const [name, tool, answers, done] of [
      ["book_table", "book_table", booking(DOG), BOOKED],
      ["theme_colour", "choose_theme", COLOURS, CHOSEN],
    ]) {
      test(`${sdk}: its model asks the person for ${name}`, async () => {
        const model = new Model(sdk, example(name));
        assert.deepEqual(await model.tells("tools"), [tool, "sendElicitationResult"]);
        let response = await model.call(tool);
        for (const { message, content } of answers) {
          assert.ok(words(response).includes(message), JSON.stringify(response));
          isError(await model.answers(response, "accept", { guests: 99 }), /does not fit the question/);
          response = await model.answers(response, "accept", content);
        }
        assert.equal(words(response), done);
        await model.leaves();
      });
    }

    test(`${sdk}: its model neither deletes nor opens links`, async () => {
      for (const [name, tool, given, why] of [
        ["delete_files", DELETE.tool, DELETE.arguments, "a model must not agree to a question that is marked as dangerous"],
        ["sign_in", "count_mail", {}, "the client cannot open links, and a model must not"],
      ]) {
        const model = new Model(sdk, example(name));
        const { result, error } = await model.call(tool, given);
        assert.ok((error?.message ?? result.content[0].text).includes(why), JSON.stringify(result ?? error));
        await model.leaves();
      }
    });
  }

  test("a client of 2025-06-18 hears that it cannot open links", async () => {
    const told = await results("sdk-1.20", example("sign_in"), [{ tool: "count_mail" }]);
    assert.match(told[0], /the client cannot open links, and a model must not/);
  });

  test("a client of 2025-06-18 behind midcall: the link is opened on the page", async () => {
    const { announce, command } = await wrap(example("sign_in"));
    const model = new Model("sdk-1.20", command);
    const person = await Person.at(announce);
    const call = model.call("count_mail");
    const { id, params } = await person.sees("Sign in to your mail");
    await person.opens(id);
    assert.match(await (await fetch(params.url)).text(), /You are signed in/);
    assert.equal(words(await call), "You have 3 new letters");
    await model.leaves();
    person.leave();
  });
});

describe("a client that cannot be asked, behind midcall", { concurrency: AT_ONCE }, () => {
  /** A client before an example, and a person beside it. */
  async function meet(sdk, name) {
    const { announce, command } = await wrap(example(name));
    const model = new Model(sdk, command);
    await model.tells("tools"); // TypeScript's 2.x starts a first one only to look at it
    return [model, await Person.at(announce)];
  }

  for (const sdk of ALL ? QUIET : USUAL_QUIET["behind midcall"]) {
    for (const [name, { tool, arguments: given }, answers, done] of [
      ["delete_files", DELETE, [accept(DELETING, { confirmed: true })], "Deleted 1 files"],
      ["book_table", { tool: "book_table" }, booking(DOG), BOOKED],
      ["theme_colour", { tool: "choose_theme" }, COLOURS, CHOSEN],
    ]) {
      test(`${sdk}: the person is asked on the page for ${name}`, async () => {
        const [model, person] = await meet(sdk, name);
        const call = model.call(tool, given);
        for (const { message, content } of answers) await person.accept((await person.sees(message)).id, content);
        assert.equal(words(await call), done);
        await model.leaves();
        person.leave();
      });
    }

    test(`${sdk}: the person signs in by the page`, async () => {
      const [model, person] = await meet(sdk, "sign_in");
      const call = model.call("count_mail");
      const { id, url } = await person.sees("Sign in to your mail");
      await person.opens(id);
      await fetch(url);
      assert.equal(words(await call), "You have 3 new letters");
      await model.leaves();
      person.leave();
    });
  }
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
  const model = new Model("sdk-1", command);
  const person = await Person.at(announce);
  const call = model.call(DELETE.tool, DELETE.arguments);
  const { id } = await person.sees(DELETING);
  await person.decline(id, "Not today");
  isError(await call, /^the person was asked and said no: Not today$/);
  const { state, action } = await person.closed(id);
  assert.deepEqual({ state, action }, { state: "answered", action: "decline" });
  await model.leaves();
  person.leave();
});
