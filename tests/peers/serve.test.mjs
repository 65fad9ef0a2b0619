// `midcall serve`: many servers behind one gateway.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { BOOKED, TABLE } from "./jobs.mjs";
import { Person } from "./person.mjs";
import { serve, upstream } from "./serving.mjs";
import { Guest, callModern } from "./visitor.mjs";
import { ALL, AT_ONCE, Client, SERVERS, listen, plain, until } from "./world.mjs";

const FORM = { elicitation: { form: {} } };
const NUMBERED = ["/bin/sh", join(import.meta.dirname, "sdk/plain/numbered.sh")];
const text = ({ result }) => result.content[0].text;
/** How many clients come at once. */
const CROWD = ALL ? 500 : 100;

describe("serve", { concurrency: AT_ONCE }, () => {
  test("many servers, each at its path, and one page for all", async () => {
    const { announce, urls } = await serve(
      upstream("first", SERVERS["sdk-1"]) + upstream("second", plain("name=${WORD}"), 'path = "/deep/path"\nask = "page"\nserver_era = "legacy"'),
      { WORD: "by-environment" },
    );
    assert.deepEqual(Object.values(urls).map((url) => new URL(url).pathname), ["/first", "/deep/path"]);
    const person = await Person.at(announce);
    const client = new Client("sdk-1", { url: urls.first, declare: "nothing", steps: [{ tool: "form" }] });
    const guest = await Guest.at(urls.second, FORM);
    const call = guest.tool("ask");
    const [one, other] = [await person.sees(TABLE), await person.sees("Question q0")];
    assert.deepEqual([one.server.name, other.server.name], ["sdk-1", "by-environment"]);
    await person.accept(other.id, { word: "here" });
    await person.accept(one.id, BOOKED);
    assert.equal(JSON.parse(text(await call))[0].result.content.word, "here");
    assert.deepEqual((await client.brought())[0].content, BOOKED);
    await client.done();
    const origin = new URL(urls.first).origin;
    assert.deepEqual(await (await fetch(`${origin}/healthz`)).json(), { status: "ok" });
    assert.deepEqual(await (await fetch(`${origin}/readyz`)).json(), { status: "ready" });
    assert.equal((await fetch(`${origin}/nowhere`, { method: "POST" })).status, 404);
  });

  for (const sdk of ["sdk-1", "sdk-2"]) {
    test(`a server elsewhere, for ${sdk}: its questions are asked by the client, or on the page`, async () => {
      const { url } = await listen(SERVERS["sdk-1"], "--ask", "client");
      const { urls, announce } = await serve(`[upstream.there]\nurl = "${url}"\nheaders = { X-Word = "\${WORD}" }\n`, { WORD: "x" });
      const answers = [{ message: TABLE, action: "accept", content: BOOKED }];
      const asks = new Client(sdk, { url: urls.there, declare: "form+url", steps: [{ tool: "form", answers }] });
      assert.deepEqual((await asks.brought())[0].content, BOOKED);
      const cannot = new Client(sdk, { url: urls.there, declare: "nothing", steps: [{ tool: "form" }] });
      const person = await Person.at(announce);
      await person.accept((await person.sees(TABLE)).id, BOOKED);
      assert.deepEqual((await cannot.brought())[0].content, BOOKED);
      await Promise.all([asks.done(), cannot.done()]);
    });
  }

  test("an open stream keeps its session, and a full house takes nobody else", async () => {
    const rules = 'sessions = 1\nserver_era = "legacy"\nidle = "1s"';
    const { urls } = await serve(upstream("read", NUMBERED, rules) + upstream("unused", NUMBERED, rules));
    const reader = await Guest.at(urls.read, FORM);
    const stream = await reader.get();
    // A session that began later and has no stream ends first.
    await Guest.at(urls.unused, FORM);
    await until(() => Guest.at(urls.unused, FORM).catch(({ message }) => void assert.match(message, /too much is open here/)), "the unused one has ended");
    await assert.rejects(Guest.at(urls.read, FORM), /too much is open here/);
    await stream.body.cancel();
    await until(() => Guest.at(urls.read, FORM).catch(({ message }) => void assert.match(message, /too much is open here/)), "there is room");
    assert.equal((await reader.get()).status, 404);
  });

  test("a session that nobody uses ends, and makes room for another", async () => {
    const { urls } = await serve(upstream("one", NUMBERED, 'sessions = 1\nserver_era = "legacy"\nidle = "1s"'));
    const guest = await Guest.at(urls.one, FORM);
    await until(() => Guest.at(urls.one, FORM).catch(({ message }) => void assert.match(message, /too much is open here/)), "there is room");
    assert.equal((await guest.get()).status, 404);
  });

  test("a wrong file is refused with line and reason, and nothing is served", async () => {
    for (const [file, env, expected] of [
      ["[upstream.a]\ncommand = [\"x\"]\nwhatever = 1\n", {}, /midcall\.toml, line 3, column 1: unknown key `whatever`/],
      ["[serve]\nstore = \"redis://x\"\n[upstream.a]\ncommand = [\"x\"]\n", {}, /line 2, column 9: only "memory" can be the store so far/],
      ["[identity]\nmode = \"proxy\"\n[upstream.a]\ncommand = [\"x\"]\n", {}, /line 2, column 8: only "local" can be the mode so far/],
      ["[upstream.a]\ncommand = [\"${NOT_THERE}\"]\n", {}, /line 2, column 12: the environment variable "NOT_THERE" is not set/],
      ["[upstream.a]\ncommand = \"${SECRET}\"\n", { SECRET: "xyzzy" }, /line 2, column 11: what the variable holds does not fit here/],
      ["[serve]\nlisten = \"0.0.0.0:0\"\n[upstream.a]\ncommand = [\"x\"]\n", {}, /line 2, column 10: only 127\.0\.0\.1 or \[::1\]/],
    ]) {
      const { gateway } = await serve(file, env, "--check");
      const status = await gateway.end();
      assert.equal(status, 2, gateway.errors);
      assert.match(gateway.errors, expected);
      assert.doesNotMatch(gateway.errors, /xyzzy/);
    }
    const { gateway } = await serve(upstream("a", ["/bin/sh"]), {}, "--check");
    assert.equal(await gateway.end(), 0);
    assert.match(gateway.errors, /Configuration is valid/);
  });
});

describe("serve, for many at once", () => {
  const value = (number) => `the value of ${number}`;
  const numbers = Array.from({ length: CROWD }, (_, n) => n);
  const expected = numbers.map((number) => `${number} is ${value(number)}`);
  const crowd = {
    legacy: async (url, number, answer) => (await Guest.at(url, FORM)).call("tools/call", { name: "numbered", arguments: { number } }, answer),
    modern: (url, number) => callModern(url, 1, "tools/call", { name: "numbered", arguments: { number } }, { capabilities: FORM }),
  };

  // Modern clients share the server, and it isn't known whose question it is: they are asked on the page only.
  test(`${CROWD} legacy clients at once, each with a question: every answer reaches its own call`, async () => {
    const { urls } = await serve(upstream("one", NUMBERED, 'sessions = 1000\nserver_era = "legacy"'));
    const answer = ({ params }) => ({ action: "accept", content: { value: value(params.message.replace("Number ", "")) } });
    const answers = await Promise.all(numbers.map(async (number) => text(await crowd.legacy(urls.one, number, answer))));
    assert.deepEqual(answers, expected);
  });

  for (const [era, ask] of Object.entries(crowd)) {
    test(`${CROWD} ${era} clients at once, each with a question on the page: every answer reaches its own call`, async () => {
      const { urls, announce } = await serve(`[serve]\nasks_per_minute = 1000\nopen_questions = 1000\n${upstream("one", NUMBERED, 'ask = "page"\nhold = "never"\nsessions = 1000\nserver_era = "legacy"')}`);
      const person = await Person.script(announce);
      const calls = numbers.map(async (number) => text(await ask(urls.one, number)));
      for (const number of numbers) {
        const { id } = await person.sees(`Number ${number}`);
        await until(async () => {
          const { status } = await person.accept(id, { value: value(number) });
          if (status !== 200) assert.equal(status, 429); // a script has its pace
          return status === 200;
        });
      }
      assert.deepEqual(await Promise.all(calls), expected);
    });
  }
});
