// While an answer is on its way: the time runs out, nobody responds, nobody is let in any more, or
// the same question goes on in another tab.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MOMENT } from "./browser.mjs";
import { anotherPerson, Desk, eventually, person, posts, unhurried, wake } from "./world.mjs";

const WHO = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] } };
const LINK = { mode: "url", message: "Sign in", url: "https://server.example/elicit/abc", elicitationId: "e_1" };

const dialog = (page) => page.getByRole("dialog");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const kept = (page) => page.evaluate(() => Object.keys(sessionStorage).filter((name) => /draft|bearer/.test(name)));

/** Holds a call of a kind until `release` says what becomes of it; that resolves once it has. */
async function held(page, calls) {
  let open, done;
  const gate = new Promise((resolve) => (open = resolve));
  const over = new Promise((resolve) => (done = resolve));
  const waiting = new Promise((resolve) => page.route(calls, async (route) => {
    resolve();
    await (await gate)(route);
    done();
  }));
  const release = (onward) => {
    open(onward);
    return over;
  };
  return { waiting, release };
}

for (const [what, onward] of [
  ["the answer comes too late", (route) => route.continue()],
  ["the answer is lost", (route) => route.abort()],
]) {
  test(`the time runs out while an answer is on its way, and ${what}: that is what is told`, async () => {
    const desk = await Desk.start("--timeout", "1ms");
    const page = await unhurried(desk, { withheld: "elicitation/timeout" });
    const call = await held(page, "**/accept");
    const id = await desk.ask(WHO);
    await dialog(page).waitFor();
    await page.clock.runFor(MOMENT); // now it takes answers
    await dialog(page).getByLabel("Name").fill("Ana");
    await button(page, "Submit").click();
    await call.waiting;
    const ended = await desk.ended(id);
    assert.equal(ended.state, "timed_out");
    await page.letGo();
    await dialog(page).waitFor(); // only the response says whose answer counted
    call.release(onward);
    await page.locator("mcp-elicitation.over").getByText("Time ran out").waitFor();
    await page.locator(".before").getByText("Time ran out").waitFor();
    await dialog(page).waitFor({ state: "hidden" });
    assert.equal(await page.getByText("Sent:").count(), 0);
    assert.deepEqual(await kept(page), ["midcall.bearer"], "the draft goes with its question");
  });
}

test("nothing that was typed stays once the key is refused", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const type = async (message) => {
    await desk.ask({ ...WHO, message });
    await dialog(page).getByText(message).waitFor();
    await dialog(page).getByLabel("Name").fill("Ana");
  };
  await type("First?");
  await page.getByRole("button", { name: "Later", exact: true }).click();
  await type("Second?");
  assert.equal((await kept(page)).length, 3, "two drafts and the key");
  await page.route("**/accept", (route) => route.fulfill({ status: 401, json: { error: "unauthorized" } }));
  await button(page, "Submit").click();
  await page.getByRole("heading", { name: "Midcall was started again" }).waitFor();
  await dialog(page).waitFor({ state: "hidden" });
  assert.deepEqual(await kept(page), []);
});

test("after a restart, whose page this no longer is, no draft stays", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await desk.ask(WHO);
  await dialog(page).getByLabel("Name").fill("Ana");
  await eventually("a draft", async () => (await kept(page)).length === 2);
  const { port } = new URL(desk.announced.page);
  await desk.end("SIGKILL"); // it takes nothing back
  await Desk.start("--page-addr", `127.0.0.1:${port}`);
  await wake(page);
  await page.getByRole("heading", { name: "Midcall was started again" }).waitFor();
  await dialog(page).waitFor({ state: "hidden" });
  assert.deepEqual(await kept(page), []);
});

test("an answer that nobody takes is given up after a while, and can be sent again", async () => {
  const desk = await Desk.start();
  const page = await person("about:blank");
  await page.addInitScript(() => {
    window.patience = [];
    AbortSignal.timeout = (time) => {
      const one = new AbortController();
      patience.push({ time, end: () => one.abort(new DOMException("It took too long", "TimeoutError")) });
      return one.signal;
    };
  });
  await page.goto(desk.announced.launch);
  const call = await held(page, "**/accept");
  const id = await desk.ask(WHO);
  await dialog(page).getByLabel("Name").fill("Ana");
  await button(page, "Submit").click();
  await call.waiting;
  assert.equal(await page.evaluate(() => patience.at(-1).time), 20_000);
  await page.evaluate(() => patience.at(-1).end());
  await dialog(page).locator(".problems").getByText("This could not be sent").waitFor();
  assert.equal(await dialog(page).getByLabel("Name").inputValue(), "Ana");
  // The page has given the call up, but a browser that is slow to notice would send it on once nothing holds it.
  await call.release((route) => route.abort());
  await page.unroute("**/accept");
  await button(page, "Submit").click();
  assert.equal((await desk.ended(id)).action, "accept");
  await page.getByText("Sent: Name").waitFor();
});

for (const [what, onward] of [
  ["arrives", (route) => route.continue()],
  ["is lost", (route) => route.abort()],
]) {
  test(`a link is opened in another tab while Decline is on its way, which ${what}`, async () => {
    const desk = await Desk.start();
    const page = await person(desk);
    const other = await anotherPerson(desk, page);
    await other.context().route("https://server.example/**", (route) => route.fulfill({ body: "" }));
    const call = await held(page, "**/reject");
    const id = await desk.ask(LINK);
    await button(page, "Decline").click();
    await call.waiting;
    await button(other, "Open link").click();
    await button(other, "I've finished").waitFor();
    await eventually("it is noted", async () => (await posts(other, "opened")).length === 1);
    const next = await desk.ask(WHO); // heard after the opening
    await dialog(page).getByText("1 of 2").waitFor();
    desk.withdraw(next);
    await desk.ended(next); // before the other: a page shows one note at a time, the latest
    assert.equal(await button(page, "I've finished").count(), 0, "an answer is on its way");
    call.release(onward);
    if (what === "arrives") {
      assert.equal((await desk.ended(id)).action, "decline");
      for (const each of [page, other]) await each.locator(".before").getByText("Declined").waitFor();
      await other.locator("mcp-elicitation.over").getByText("This was already answered").waitFor();
    } else {
      await dialog(page).locator(".problems").getByText("This could not be sent").waitFor();
      await button(page, "I've finished").waitFor(); // what the other tab has begun can be ended here
      await button(page, "Cancel").click();
      assert.equal((await desk.ended(id)).action, "cancel");
    }
    await dialog(page).waitFor({ state: "hidden" });
    await dialog(other).waitFor({ state: "hidden" });
  });
}
