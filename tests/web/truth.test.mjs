// What the page tells is so: how questions ended, what was sent, and what was not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MOMENT } from "./browser.mjs";
import { cancel, demo, Desk, eventually, person, posts, unhurried } from "./world.mjs";

const WHO = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] } };
const LINK = { mode: "url", message: "Sign in", url: "https://server.example/elicit/abc", elicitationId: "e_1" };

const dialog = (page) => page.getByRole("dialog");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const drafts = (page) => page.evaluate(() => Object.keys(sessionStorage).filter((name) => name.startsWith("midcall.draft.")));

test("a clock that is ten minutes ahead closes nothing", async () => {
  const desk = await Desk.start();
  const page = await unhurried(desk);
  await page.clock.setSystemTime(Date.now() + 600_000);
  const id = await desk.ask(WHO);
  await dialog(page).getByText("Time's up").first().waitFor();
  await eventually("the desk is asked", () => page.clock.runFor(3_000).then(() => page.requests.some(({ path }) => path === `/elicitation/status/${id}`)));
  await dialog(page).getByLabel("Name").fill("Ana");
  await button(page, "Submit").click();
  assert.equal((await desk.ended(id)).action, "accept");
  await page.getByText("Sent: Name").waitFor();
});

test("an answer whose response was lost is this window's own", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await page.route("**/accept", async (route) => {
    await route.fetch();
    await route.abort();
  });
  const id = await desk.ask(WHO);
  await dialog(page).getByLabel("Name").fill("Ana");
  await button(page, "Submit").click();
  await desk.ended(id);
  await page.getByText("Sent: Name").waitFor();
  await dialog(page).waitFor({ state: "hidden" });
  assert.equal(await page.getByText("in another window").count(), 0);
});

test("an answer whose response was lost can be sent again, and is taken as given", async () => {
  const desk = await Desk.start();
  const page = await unhurried(desk, { withheld: "elicitation/closed" });
  await page.route("**/accept", async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  const id = await desk.ask(WHO);
  await dialog(page).waitFor();
  await page.clock.runFor(MOMENT);
  await dialog(page).getByLabel("Name").fill("Ana");
  await button(page, "Submit").click();
  assert.equal((await desk.ended(id)).action, "accept");
  await dialog(page).locator(".problems").getByText("This could not be sent").waitFor();
  await button(page, "Submit").click();
  await page.getByText("Sent: Name").waitFor();
  assert.equal(await page.getByText("This was already answered").count(), 0);
  const attempts = (await posts(page, "accept")).map(({ body }) => JSON.parse(body).attempt);
  assert.equal(new Set(attempts).size, 1, `${attempts}`);
  // Somebody else's attempt is refused.
  assert.equal((await desk.script("POST", `/elicitation/${id}/accept`, { content: { name: "Ana" }, attempt: "other" })).status, 409);
});

test("what became of an answer while this window was away is learned when it comes back", async () => {
  const desk = await Desk.start();
  const page = await unhurried(desk, { withheld: "elicitation/delivery" });
  const id = await desk.ask(WHO);
  await dialog(page).waitFor();
  await page.clock.runFor(MOMENT);
  await dialog(page).getByLabel("Name").fill("Ana");
  await button(page, "Submit").click();
  await desk.ended(id);
  await page.getByText("Sent: Name").waitFor();
  const before = page.locator(".before");
  assert.equal(await before.getByText("Delivered").count(), 0);
  await page.reload(); // A new stream tells what is open only.
  await before.getByText("Delivered").waitFor();
  assert.equal(await page.locator(".undelivered").count(), 0);
});

test("a link declined elsewhere is not told as answered, though only asking reveals it", async () => {
  const desk = await Desk.start();
  const page = await unhurried(desk);
  await page.context().route("https://server.example/**", (route) => route.fulfill({ body: "" }));
  const closing = { state: "answered", action: "decline", by: { route: "terminal", human: true } };
  await page.route("**/elicitation/status/*", (route) => route.fulfill({ json: { id: "x", deadline: "", ...closing } }));
  await desk.ask(LINK);
  await dialog(page).waitFor();
  await page.clock.runFor(MOMENT);
  await button(page, "Open link").click();
  await eventually("the desk is asked", () => page.clock.runFor(3_000).then(() => page.getByText("Declined in a terminal").isVisible()));
});

test("what the desk does not know is not told as taken back, and why it was taken back is told", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await page.route("**/cancel", (route) => route.fulfill({ status: 404, json: {} }));
  await desk.ask(WHO);
  await cancel(page);
  await page.getByText("Unknown outcome").first().waitFor();
  await desk.ask({ ...WHO, message: "And who else?" });
  await dialog(page).waitFor();
  await desk.end();
  await page.getByText("The program that asked has ended").first().waitFor();
});

test("words that are none stop neither their question nor the next", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const odd = { toString: 1, valueOf: 1 };
  const first = await desk.ask({ ...WHO, title: odd });
  await button(page, "Decline").click();
  assert.equal((await desk.ended(first)).action, "decline");
  const second = await desk.ask(WHO);
  await button(page, "Decline").click();
  assert.equal((await desk.ended(second)).action, "decline");
  assert.equal(await page.getByText("Connection lost").count(), 0);
});

test("a failure is seen, also by whoever has put the question off meanwhile", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  let fail;
  await page.route("**/accept", async (route) => {
    await new Promise((resolve) => (fail = resolve));
    await route.abort();
  });
  await desk.ask(WHO);
  await dialog(page).getByLabel("Name").fill("Ana");
  await button(page, "Submit").click();
  await eventually("it is under way", () => fail);
  await page.getByRole("button", { name: "Later", exact: true }).click();
  await dialog(page).waitFor({ state: "hidden" });
  fail();
  await dialog(page).getByText("This could not be sent").first().waitFor();
  assert.equal(await dialog(page).getByLabel("Name").inputValue(), "Ana");
});

test("a link whose opening or end could not be told says so, and can be tried again", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await page.context().route("https://server.example/**", (route) => route.fulfill({ body: "" }));
  await page.route(/\/(opened|accept)$/, (route) => route.abort());
  const id = await desk.ask(LINK);
  await button(page, "Open link").click();
  await dialog(page).locator(".problems").getByText("This could not be sent").waitFor();
  await page.unroute(/\/(opened|accept)$/);
  await page.bringToFront(); // from behind the page that the link opened
  await button(page, "Open link").click();
  await eventually("it is noted", async () => (await posts(page, "opened")).length === 2);
  await page.route("**/accept", (route) => route.abort());
  await page.bringToFront();
  await button(page, "I've finished").click();
  await dialog(page).locator(".problems").getByText("This could not be sent").waitFor();
  await page.unroute("**/accept");
  await button(page, "I've finished").click();
  assert.equal((await desk.ended(id)).action, "accept");
});

test("a draft goes with its question, though nobody was there", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(WHO);
  await dialog(page).getByLabel("Name").fill("Ana");
  await eventually("a draft", async () => (await drafts(page)).length === 1);
  await page.goto(desk.announced.page + "/assets/page/icon.svg");
  desk.withdraw(id);
  await desk.ended(id);
  await page.goto(desk.announced.page);
  await page.getByText("No questions right now").waitFor();
  await eventually("no draft", async () => (await drafts(page)).length === 0);
});

test("large integers keep their digits", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const line = '{"params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"it":{"type":"integer","default":9007199254740993}}}}}';
  desk.process.stdin.write(line + "\n");
  const { asked } = await desk.told((told) => told.asked || told.error);
  await dialog(page).waitFor();
  await button(page, "Submit").click();
  await desk.ended(asked);
  assert.match((await posts(page, "accept"))[0].body, /^\{"content":\{"it":9007199254740993\},"attempt":"[\d-]+"\}$/);
});

test("a refusal to let in that no waiting mends shows a helpful screen", async () => {
  const desk = await Desk.start();
  const page = await person("about:blank");
  await page.route("**/launch", (route) => route.fulfill({ status: 413, json: {} }));
  await page.goto(desk.announced.launch);
  await page.getByText("This link no longer works").waitFor();
});

test("the demo's questions leave room for their answers, and say how they ended", async () => {
  const running = await demo();
  const page = await person(running);
  for (let count = 1; count <= 5; count++) {
    await page.locator("#ask-approve").click();
    await dialog(page).waitFor();
    await page.getByRole("button", { name: "Later", exact: true }).click();
    await dialog(page).waitFor({ state: "hidden" });
  }
  await eventually("two were taken back", async () => (await page.getByText("Taken back: three wait at a time").count()) === 2);
  await page.getByRole("button", { name: "Answer", exact: true }).first().click();
  await dialog(page).locator("[part=accept]").click();
  await eventually("one is answered", async () => (await page.locator("article.run.ended").count()) === 1);
  await running.end("SIGKILL");
  await page.getByText("The connection was lost while this waited").first().waitFor();
});
