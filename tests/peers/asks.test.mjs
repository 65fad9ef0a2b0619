// Every ask of `midcall-server` with every client: directly and behind midcall, with a client that can be
// asked, by a model, and on the page. `asks.mjs` is the table.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ASKS, BEYOND, CLIENTS, JULY, JUNE } from "./asks.mjs";
import { Model, isError, words } from "./model.mjs";
import { Person } from "./person.mjs";
import { ALL, AT_ONCE, wrap } from "./world.mjs";

const FOLDER = process.env.MIDCALL_EXAMPLES ?? join(import.meta.dirname, "../../target/debug/examples");
const FLORIST = [join(FOLDER, "every_ask")];

const LINK = "Pay on our page";
const SIGN_IN = "Sign in first";
const TULIPS = "How many tulips?";
const QUICK = "Quick, the last one?";
const NO_LINKS = "the client cannot open links, and a model must not";
const LINK_REQUIRED = -32042;
const NOT_DECLARED = -32021;
const DESTRUCTIVE = "dev.midcall/destructive";
const LATE = /^nobody answered within a second\. Call the tool again when the person is there$/;

const accept = (message, content) => ({ message, action: "accept", ...(content && { content }) });

/** What is answered to a question of the table. */
const answer = ({ message, action = "accept", answer }) => (action === "accept" ? accept(message, answer) : { message, action });

/** A row of the table, for whoever is told in other words. */
function toldIn(ask, others) {
  const questions = ask.questions.map((question) => ({ ...question, ...question[others] }));
  return { ...ask, ...ask[others], questions };
}

/** That a form has these fields, without the words that get `lost` on the way. */
function isTold({ properties, required = [] }, question, lost = []) {
  const fields = Object.entries(question.told).map(([name, field]) => {
    const kept = Object.entries(field).filter(([keyword]) => !lost.includes(keyword));
    return [name, Object.fromEntries(kept)];
  });
  // A rule that the server tells both ways is told as a hint once more by whoever drops the keyword.
  const once = ({ description, ...field }) => (description ? { ...field, description: description.replace(/^(.+)\. \1$/, "$1") } : field);
  const told = Object.entries(properties).map(([name, field]) => [name, once(field)]);
  assert.deepEqual(told, fields, "in this order");
  assert.deepEqual(required, question.required ?? Object.keys(question.told));
}

/** That a tool got what it asked for. */
function hasGot(response, { got, says = JSON.stringify(got) }) {
  assert.ok(response.result && !response.result.isError, JSON.stringify(response));
  assert.equal(words(response), says);
}

/** That nobody could be asked, and why. The modern era has an error for that. */
function isRefused(response, why, revision, mode = "form") {
  const said = `nobody can be asked: ${why}. `;
  if (revision !== JULY) return isError(response, new RegExp(`^${said}`));
  assert.ok(response.error?.message.includes(said), JSON.stringify(response));
  assert.equal(response.error.code, NOT_DECLARED);
  assert.deepEqual(response.error.data.requiredCapabilities, { elicitation: { [mode]: {} } });
}

/** What stands in a link of the florist's. */
const state = ({ url }) => url.match(/^https:\/\/example\.com\/\w+\?state=([\w-]{20,})$/)[1];

/** How the florist hears of a sign-in, and lets in whom it had sent there. `isTold`: the client hears that it is done. */
async function signsIn(model, state, isTold) {
  hasGot(await model.call("signed_in", { state }), { says: `Signed in; the client was told: ${isTold}` });
  hasGot(await model.call("require_link"), { says: "Welcome" });
}

/** What links lead to, for a client that opens them. */
async function followsLinks(model, isModern, asked) {
  const paying = model.call("link", {}, { answers: [accept(LINK)] });
  hasGot(await paying, { got: state(await asked(LINK)) });
  if (isModern) {
    const entering = model.call("require_link", {}, { answers: [accept(SIGN_IN)] });
    const link = state(await asked(SIGN_IN));
    hasGot(await entering, { says: "Not signed in yet" });
    return signsIn(model, link, false);
  }
  const { error } = await model.call("require_link");
  assert.equal(error.code, LINK_REQUIRED);
  assert.ok(error.message.endsWith(`a link must be followed first: ${SIGN_IN}`), error.message);
  return signsIn(model, state(error.data.elicitations[0]), true);
}

/** What links lead to on the page, for a client that knows nothing of them. */
async function followsLinksOnThePage(model, isModern, person) {
  const paying = model.call("link");
  const bill = await person.sees(LINK);
  await person.opens(bill.id);
  hasGot(await paying, { got: state(bill) });
  const entering = model.call("require_link");
  const door = await person.sees(SIGN_IN);
  await person.opens(door.id);
  if (isModern) {
    await person.accept(door.id);
    hasGot(await entering, { says: "Not signed in yet" });
    return signsIn(model, state(door), false);
  }
  // That it is done is told by the server, and the call that needed it is made again.
  await signsIn(model, state(door), true);
  hasGot(await entering, { says: "Welcome" });
}

/** Waits for the end of a second in which the florist wants an answer: its timer has run out before it answers a later call. */
async function isOver(model, second) {
  await second;
  hasGot(await model.call("prefilled"), { got: "EUR" });
}

const WAYS = {
  directly: async () => ({ command: FLORIST }),
  "behind midcall": () => wrap(FLORIST),
};

/** The clients that play each way: every client, and a client of each revision each way. */
const USUAL = {
  directly: ["sdk-1.20", "python", "rmcp-modern"],
  "behind midcall": ["sdk-1.20", "sdk-1", "rmcp", "sdk-2", "python-modern"],
  "by its model": ["sdk-1.20", "rmcp", "sdk-2"],
  "on the page": ["sdk-1.20", "sdk-1", "rmcp-modern"],
};
const clients = (way) => Object.entries(CLIENTS).filter(([sdk]) => ALL || USUAL[way].includes(sdk));

for (const [way, start] of Object.entries(WAYS)) {
  describe(`every ask, ${way}`, { concurrency: AT_ONCE }, () => {
    for (const [sdk, { revision, loses }] of clients(way)) {
      test(sdk, async (t) => {
        const { command, announce } = await start();
        const isModern = revision === JULY;
        const opensLinks = revision !== JUNE;
        const model = new Model(sdk, command, opensLinks ? "form+url" : "{}");
        assert.equal((await model.tells("opened")).revision, revision);
        const lost = loses[way] ?? loses;
        let questions = 0;
        const asked = async (message) => {
          questions += 1;
          return (await model.told.next(({ asked }) => asked?.params.message === message)).asked.params;
        };
        // Somebody thinks for too long, and others are asked meanwhile.
        const late = model.call("within");
        await asked(QUICK);
        const second = sleep(1_000);

        for (const row of ASKS) {
          const ask = revision === JUNE ? toldIn(row, "june") : row;
          await t.test(`${ask.tool}: ${ask.says ?? JSON.stringify(ask.got)}`, async () => {
            const call = model.call(ask.tool, ask.given, { answers: ask.questions.map(answer) });
            for (const question of ask.questions) isTold((await asked(question.message)).requestedSchema, question, lost);
            hasGot(await call, ask);
          });
        }

        await t.test("integer: what does not fit", async () => {
          const answers = [accept(TULIPS, { value: 51 }), accept(`The last answer did not fit. Enter 50 or less\n\n${TULIPS}`, { value: 50 })];
          const call = model.call("integer", {}, { answers });
          await asked(answers[0].message);
          await asked(answers[1].message);
          hasGot(await call, { got: 50 });
        });

        await t.test("links", async () => {
          if (opensLinks) return followsLinks(model, isModern, asked);
          if (way === "directly") {
            for (const tool of ["link", "require_link"]) isRefused(await model.call(tool), NO_LINKS, revision);
            return;
          }
          const person = await Person.at(announce);
          await followsLinksOnThePage(model, isModern, person);
          person.leave();
        });

        await t.test("within: too late", async () => {
          if (isModern) {
            await isOver(model, second); // the call ends with the client's answer
            model.gives(accept(QUICK, { confirmed: true }));
          }
          isError(await late, LATE);
        });
        const lines = await model.leaves();
        assert.equal(lines.filter(({ asked }) => asked).length, questions, "nobody is asked more than that");
      });
    }
  });
}

describe("every ask, with a client that cannot be asked", { concurrency: AT_ONCE }, () => {
  for (const [sdk, { revision }] of clients("by its model")) {
    test(`${sdk}: by its model`, async (t) => {
      const model = new Model(sdk, FLORIST);
      const late = await model.call("within");
      const second = sleep(1_000);

      for (const row of ASKS) {
        const ask = toldIn(row, "model");
        await t.test(`${ask.tool}: ${ask.says ?? JSON.stringify(ask.got)}`, async () => {
          let response = await model.call(ask.tool, ask.given);
          if (ask.refuses) return isRefused(response, ask.refuses, revision);
          for (const question of ask.questions) {
            const { message, schema } = response.result._meta.elicitationPending;
            assert.equal(message, question.message);
            isTold(schema, question);
            const { action, content } = answer(question);
            response = await model.answers(response, action, content);
          }
          hasGot(response, ask);
        });
      }

      await t.test("links", async () => {
        for (const tool of ["link", "require_link"]) isRefused(await model.call(tool), NO_LINKS, revision, "url");
      });

      await t.test("within: too late", async () => {
        await isOver(model, second);
        isError(await model.answers(late, "accept", { confirmed: true }), /^This question was closed because nobody answered in time\. florist was told so\nnobody answered within a second\./);
      });
      await model.leaves();
    });
  }

  for (const [sdk, { revision }] of clients("on the page")) {
    test(`${sdk}: on the page, behind midcall`, async (t) => {
      const { command, announce } = await wrap(FLORIST);
      const model = new Model(sdk, command);
      await model.tells("tools"); // TypeScript's 2.x starts a first one only to look at it
      const person = await Person.at(announce);
      const late = model.call("within");

      for (const row of ASKS) {
        const ask = toldIn(row, "page");
        await t.test(`${ask.tool}: ${ask.says ?? JSON.stringify(ask.got)}`, async () => {
          const call = model.call(ask.tool, ask.given);
          for (const question of ask.questions) {
            const ticket = await person.sees(question.message);
            // What a modern server can't say in a form, it says in words; its examples, as hints.
            const lost = BEYOND.filter((word) => word !== "examples");
            isTold(ticket.schema, question, revision === JULY ? lost : []);
            assert.equal(ticket.params._meta?.[DESTRUCTIVE], ask.tool === "dangerous" ? true : undefined);
            const { action, content } = answer(question);
            const answered = await person[action](ticket.id, content);
            assert.equal(answered.status, 200, JSON.stringify(answered));
          }
          hasGot(await call, ask);
        });
      }

      await t.test("links", () => followsLinksOnThePage(model, revision === JULY, person));

      await t.test("within: too late", async () => isError(await late, LATE));
      await model.leaves();
      person.leave();
    });
  }
});
