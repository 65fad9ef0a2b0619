// What a person sees of an answer after it was taken: it went on, or it may have been lost.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { browse, tab } from "./browser.mjs";
import { Person } from "./person.mjs";
import { Between, WORD } from "./raw.mjs";
import { AT_ONCE, announced, until } from "./world.mjs";

let browser;
before(async () => {
  browser = await browse();
});
after(() => browser?.close());

/** A server that has asked in its only call, and the person's page, where the answer was just given. */
async function answered() {
  const peers = await Between.open({ capabilities: {}, flags: ["--hold", "never"] });
  const call = await peers.call();
  const { response } = peers.asks(WORD);
  const { launch } = await until(() => announced(peers.announce), "the page");
  const page = await tab(browser, launch);
  await page.getByRole("dialog").getByText(WORD.message).waitFor();
  await page.getByRole("dialog").getByLabel("word").fill("here");
  await page.getByRole("button", { name: "Submit" }).click();
  return { peers, call, response, page, earlier: page.getByRole("region", { name: "Earlier" }) };
}

describe("answers", { concurrency: AT_ONCE }, () => {
  test("the server takes it and goes on: one short line says so", async () => {
    const { call, response, page, earlier } = await answered();
    assert.deepEqual((await response).result.content, { word: "here" });
    await earlier.getByText(/^Sent to /).waitFor();
    await call.ends();
    await earlier.getByText("Delivered").waitFor();
    assert.equal(await page.locator(".undelivered").count(), 0);
  });

  test("the server ends before its call does: the page says that the answer may not have arrived", async () => {
    const { peers, call, response, page, earlier } = await answered();
    await response;
    peers.server.leaves();
    assert.match((await call.response).error.message, /before it answered/);
    const words = "Your answer may not have arrived: the server ended";
    await page.locator(".undelivered").getByText(words).waitFor();
    await earlier.getByText(words).waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.locator(".undelivered").waitFor({ state: "detached" });
    await earlier.getByText(words).waitFor();
  });

  test("scripts are told: by the status, and by an event for every change", async () => {
    const peers = await Between.open({ capabilities: {}, flags: ["--hold", "never"] });
    const person = await Person.at(peers.announce);
    const delivery = (id) => person.news.next((told) => told.type === "elicitation/delivery" && told.id === id);
    for (const [ends, expected] of [
      [(call) => call.ends(), { delivery: "delivered", reason: undefined }],
      [(call) => void peers.server.send({ id: call.known, error: { code: -32603, message: "broken" } }), undefined],
      [() => void peers.server.leaves(), { delivery: "lost", reason: "server_gone" }],
    ]) {
      const call = await peers.call();
      const { response } = peers.asks(WORD);
      const { id } = await person.sees(WORD.message);
      assert.equal((await person.accept(id, { word: "here" })).status, 200);
      assert.equal((await person.closed(id)).delivery, "pending");
      const sent = await delivery(id);
      assert.deepEqual([sent.delivery, sent.state, sent.action], ["sent", "answered", "accept"]);
      await response;
      await ends(call);
      await call.response;
      if (!expected) {
        assert.equal((await person.status(id)).delivery, "sent", "an error doesn't say whether it helped");
        continue;
      }
      const { delivery: how, reason } = await delivery(id);
      assert.deepEqual({ delivery: how, reason }, expected);
    }
  });
});
