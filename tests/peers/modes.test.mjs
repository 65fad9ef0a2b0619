// A client that can be asked some things: each question finds whoever can be asked it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKED, SIGN_IN, STEPS, TABLE } from "./jobs.mjs";
import { Person } from "./person.mjs";
import { AT_ONCE, Client, SERVERS, wrap } from "./world.mjs";

describe("a client that knows forms only", { concurrency: AT_ONCE }, () => {
  const cells = [
    ["sdk-1", "form", "sdk-1"], ["sdk-1", "form", "fastmcp"],
    ["sdk-1", "{}", "sdk-1"], ["sdk-1", "{}", "python"],
    ["sdk-1.20", "{}", "sdk-1"], ["sdk-1.20", "form+url", "sdk-1"], // links are unknown in its revision, whatever it says
  ];
  for (const [client, declare, server] of cells) {
    test(`${client} with ${declare} and ${server}`, async () => {
      const { announce, command } = await wrap(SERVERS[server]);
      const running = new Client(client, { command, declare, steps: [STEPS.accept, { tool: "link" }, { tool: "link" }, STEPS.both] });
      const person = await Person.at(announce);
      const { params } = await running.tells("asked");
      assert.equal(params.message, TABLE);
      assert.deepEqual((await running.brought())[0].content, BOOKED);

      let ticket = await person.sees(SIGN_IN);
      assert.equal(ticket.mode, "url");
      await person.opens(ticket.id);
      assert.equal((await running.brought())[0].action, "accept");
      ticket = await person.sees(SIGN_IN);
      await person.decline(ticket.id);
      assert.equal((await running.brought())[0].action, "decline");

      assert.equal((await running.brought()).length, 2);
      const told = await running.done();
      assert.equal(told.filter((line) => "asked" in line).length, 3);
    });
  }

  test("choices that a TypeScript client would not take are mended on the way", async () => {
    const { command } = await wrap(SERVERS.fastmcp);
    const answers = [{ message: "Which toppings?", action: "accept", content: { value: ["ham", "corn"] } }];
    const running = new Client("sdk-1", { command, declare: "form", steps: [{ tool: "toppings", answers }] });
    const { params } = await running.tells("asked");
    assert.equal(params.requestedSchema.properties.value.items.type, "string");
    assert.deepEqual((await running.brought())[0].content, ["ham", "corn"]);
    await running.done();
  });
});

describe("server-everything", { concurrency: AT_ONCE }, () => {
  const message = "Please provide inputs for the following fields:";
  const content = { name: "Ana", check: false, number: 3.25, untitledMultipleSelectEnum: ["Piano", "Bass"], legacyTitledEnum: "pet-4" };
  const ask = { tool: "trigger-elicitation-request", answers: [{ message, action: "accept", content }] };
  const url = "https://example.com/everything";
  const link = { tool: "trigger-url-elicitation", arguments: { url, message: SIGN_IN } };

  /** What the server says it was given. */
  const given = ({ content: [, , { text }] }) => JSON.parse(text.slice(text.indexOf("{")));

  /** The results through midcall and without it. */
  async function both(client, steps) {
    const { command } = await wrap(SERVERS.everything);
    return Promise.all([command, SERVERS.everything].map(async (command) => {
      const running = new Client(client, { command, declare: "form+url", steps });
      const result = await running.tells("result");
      await running.done();
      return result;
    }));
  }

  for (const client of ["sdk-1", "python", "fastmcp"]) {
    test(`${client} answers by itself, as without midcall`, async () => {
      const [through, direct] = await both(client, [ask]);
      assert.deepEqual(through, direct);
      assert.deepEqual(given(through).content, content);
    });
  }

  test("a client of 2025-06-18 is asked in words that it knows", async () => {
    const { untitledMultipleSelectEnum: picked, ...told } = content; // in its revision, each choice is a switch
    for (const name of picked) told[`untitledMultipleSelectEnum.${name}`] = true;
    const [through, direct] = await both("sdk-1.20", [{ ...ask, answers: [{ message, action: "accept", content: told }] }]);
    assert.equal(direct.isError, true, "without midcall it does not understand the question");
    const left = { firstLine: "It was a dark and stormy night.", integer: 42, titledSingleSelectEnum: "hero-1", untitledSingleSelectEnum: "Monica" };
    assert.deepEqual(given(through).content, { ...content, ...left }); // as it was told: "If left empty: 42"
  });

  test("its questions are there for a client that declares nothing", async () => {
    const { announce, command } = await wrap(SERVERS.everything);
    const running = new Client("sdk-1", { command, declare: "nothing", steps: [ask, link] });
    const person = await Person.at(announce);
    let ticket = await person.sees(message);
    assert.equal(ticket.server.name, "Everything Reference Server");
    const refused = await person.accept(ticket.id, { ...content, untitledMultipleSelectEnum: ["Piano", "Bass", "Drums", "Violin"] });
    assert.deepEqual(refused.problems.map(({ path }) => path), ["/untitledMultipleSelectEnum"]);
    await person.accept(ticket.id, content);
    const result = given(await running.tells("result"));
    assert.deepEqual(result.content, content);
    assert.deepEqual(result._meta["dev.midcall/outcome"].by, { route: "page", human: true });
    ticket = await person.sees(SIGN_IN);
    assert.equal(ticket.url, url);
    await person.opens(ticket.id);
    const told = await running.tells("result");
    assert.match(told.content[0].text, /completed/);
    await running.done();

    const without = new Client("sdk-1", { command: SERVERS.everything, declare: "nothing", steps: [ask] });
    assert.equal((await without.tells("result")).isError, true, "without midcall there is no such tool");
    await without.done();
  });
});
