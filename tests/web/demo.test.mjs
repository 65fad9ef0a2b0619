// `midcall demo`: every question of its gallery, answered once by a person in a real browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { calm, cancel, deadline, demo, eventually, person, shot, unhurried } from "./world.mjs";

const dialog = (page) => page.getByRole("dialog");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const field = (page, label) => dialog(page).getByLabel(label, { exact: false }).first();
async function submit(page) {
  const main = dialog(page).locator("[part=accept]");
  const isLong = (await main.textContent()) === "Review";
  await main.click();
  if (isLong) await button(page, "Submit").click();
}

/** The messages of the latest run, and its outcome. */
async function run(page) {
  const latest = page.locator("article.run").first();
  const outcome = await latest.locator(".outcome").textContent(); // first: once it is over, no message follows
  const messages = await latest.locator("pre").allTextContents();
  return { messages: messages.map((text) => JSON.parse(text)), outcome };
}

/** What the person does with each question, the content that the server must hear, and what its tool makes of it. */
const ANSWERS = {
  text: [(page) => field(page, "What should we call you?").fill("Ana"), { value: "Ana" }, "The badge says Ana"],
  textarea: [(page) => field(page, "What happened?").fill("One\nTwo"), { value: "One\nTwo" }, "The report has 2 lines"],
  email: [(page) => field(page, "invitation").fill("ana@example.org"), { value: "ana@example.org" }, "The invitation goes to ana@example.org"],
  uri: [() => {}, { page: "https://example.com" }, "Watching https://example.com"],
  date: [(page) => field(page, "which day").fill("2027-03-09"), { value: "2027-03-09" }, "Booked for 2027-03-09"],
  date_time: [(page) => field(page, "backup").fill("2027-03-09T14:30"), { value: "2027-03-09T14:30:00+00:00" }, "The backup starts at 2027-03-09T14:30:00+00:00"],
  pattern: [(page) => field(page, "ticket").fill("MC-2026"), { value: "MC-2026" }, "It belongs to MC-2026"],
  number: [(page) => field(page, "How warm").fill("21.5"), { value: 21.5 }, "The room will have 21.5 °C"],
  integer: [(page) => field(page, "How many").fill("4"), { value: 4 }, "A table for 4"],
  switch: [() => {}, { copy: true, notify: false }, "Sent. A copy to you: true, to the team: false"],
  choice: [(page) => dialog(page).getByText("Bar", { exact: true }).click(), { selected: "Bar" }, "Your seat: Bar"],
  choice_list: [(page) => field(page, "Which region").selectOption({ label: "Tokyo" }), { selected: "ap-east" }, "It runs in ap-east"],
  choices: [(page) => field(page, "Olives").check(), { selected: ["basil", "olives"] }, "A pizza with basil, olives"],
  tags: [async (page) => { await dialog(page).getByRole("textbox", { name: /Labels/ }).fill("blue"); await calm(page); await page.keyboard.press("Enter"); }, { labels: ["blue"] }, 'Heard: "accept"'],
  group: [async (page) => { await field(page, "Name").fill("Ana"); await field(page, "Street").fill("Rua 1"); await field(page, "City").fill("Olinda"); }, { name: "Ana", address: { street: "Rua 1", city: "Olinda" } }, 'Heard: "accept"'],
  json: [(page) => field(page, "Headers").fill('{"x-trace": "on"}'), { headers: { "x-trace": "on" } }, 'Heard: "accept"'],
  danger: [(page) => dialog(page).getByText("Yes", { exact: true }).click(), { confirmed: true }, "Deleted (not really)"],
  secret: [async (page) => { await field(page, "User").fill("ana"); await dialog(page).getByRole("textbox", { name: /Password/ }).fill("xyzzy"); }, { user: "ana", password: "••••" }, 'Heard: "accept"'],
  hurry: [(page) => field(page, "How many").fill("3"), { value: 3 }, "3 seats are yours"],
};

test("every form of the gallery is answered and the server hears what was typed", async () => {
  const running = await demo();
  const page = await person(running);
  await page.getByRole("heading", { name: "Every kind of question" }).waitFor();
  for (const [name, [fill, content, made]] of Object.entries(ANSWERS)) {
    await page.locator(`#ask-${name}`).click();
    await dialog(page).waitFor();
    await shot(page, `demo-${name}`);
    await fill(page);
    await submit(page);
    await dialog(page).waitFor({ state: "hidden" });
    const { messages, outcome } = await eventually(`${name} ends`, async () => {
      const now = await run(page);
      return now.outcome === "Answered" && now;
    });
    assert.deepEqual(messages.map(({ method }) => method), ["tools/call", "elicitation/create", undefined, undefined]);
    assert.deepEqual(messages[2].result.content, content, name);
    assert.equal(messages[3].result.content[0].text, made);
    assert.equal(outcome, "Answered");
    assert.equal(await page.evaluate(() => document.activeElement.id), `ask-${name}`, "the focus comes back");
  }
  await shot(page, "demo-messages", { fullPage: true });
  assert.deepEqual(page.mistakes, []);
});

test("forms to approve, long ones and hostile ones", async () => {
  const running = await demo();
  const page = await person(running);
  await page.locator("#ask-approve").click();
  await shot(page, "demo-approve");
  await dialog(page).locator("[part=accept]").click();
  await eventually("approved", async () => (await run(page)).outcome === "Answered");
  assert.deepEqual((await run(page)).messages[2].result.content, {});

  await page.locator("#ask-long").click();
  for (const [label, value] of [["First name", "Ana"], ["Last name", "Souza"], ["Email", "ana@example.org"], ["Old city", "Olinda"], ["New city", "Recife"], ["Day", "2027-03-09"]]) await dialog(page).getByLabel(label).first().fill(value);
  await shot(page, "demo-long");
  await button(page, "Review").click();
  await dialog(page).getByText("Check your answers").waitFor();
  await shot(page, "demo-review");
  await submit(page);
  await eventually("sent", async () => (await run(page)).outcome === "Answered");
  const { content } = (await run(page)).messages[2].result;
  assert.equal(content.from_city, "Olinda");
  assert.equal(content.boxes, 40);

  await page.locator("#ask-hostile").click();
  await dialog(page).waitFor();
  await shot(page, "demo-hostile");
  await button(page, "Decline").click();
  await eventually("declined", async () => (await run(page)).outcome === "Declined");
  assert.equal(await page.locator("a[href*=evil], img, script:not([src])").count(), 0);
  assert.deepEqual(page.mistakes, []);
});

test("a link is opened, finished on the other page, and the end is pushed", async () => {
  const running = await demo();
  const page = await person(running);
  await page.locator("#ask-link").click();
  await dialog(page).waitFor();
  await shot(page, "demo-link");
  const popup = page.context().waitForEvent("page");
  await button(page, "Open link").click();
  await button(page, "Open anyway").click(); // it leads to this computer, which is odd
  const elsewhere = await popup;
  await elsewhere.getByRole("heading", { name: "A page of the server" }).waitFor();
  await shot(elsewhere, "demo-elsewhere");
  await shot(page, "demo-link-opened");
  await elsewhere.getByRole("button", { name: "Finish here" }).click();
  await elsewhere.getByText("Done. You can close this tab.").waitFor();
  await dialog(page).waitFor({ state: "hidden" });
  const { messages } = await eventually("it ends", async () => (await run(page)).outcome === "Answered" && run(page));
  assert.deepEqual(messages.map(({ method, result }) => method ?? result.action), ["tools/call", "elicitation/create", "accept", "notifications/elicitation/complete", undefined]);
});

test("an odd link warns, a refused one is never shown", async () => {
  const running = await demo();
  const page = await person(running);
  await page.locator("#ask-link_odd").click();
  await dialog(page).getByText("Check this first").waitFor();
  await shot(page, "demo-link_odd");
  await button(page, "Decline").click();
  await eventually("declined", async () => (await run(page)).outcome === "Declined");
  await page.locator("#ask-link_refused").click();
  await eventually("refused", async () => /refused/.test(JSON.stringify(await run(page))));
  await shot(page, "demo-link_refused");
  assert.equal(await dialog(page).count(), 0);
});

test("steps follow each other, and three come at once", async () => {
  const running = await demo();
  const page = await person(running);
  await page.locator("#ask-wizard").click();
  await dialog(page).getByText("Shop", { exact: true }).click();
  await submit(page);
  await dialog(page).getByText("Step 2 of 3").first().waitFor();
  await field(page, "Step 2").fill("Corner shop");
  await submit(page);
  await dialog(page).getByText("Step 3 of 3").waitFor();
  await dialog(page).locator("[part=accept]").click();
  await eventually("three answers", async () => (await run(page)).outcome === "Answered · Answered · Answered");

  await page.locator("#ask-three").click();
  await dialog(page).getByText("1 of 3").waitFor();
  await shot(page, "demo-three");
  const seen = [];
  for (const place of ["1 of 3", "1 of 2", ""]) { // three calls at once: whichever asks first
    const message = await eventually("another question", async () => {
      const text = await dialog(page).locator("#title").textContent();
      return !seen.includes(text) && text;
    });
    seen.push(message);
    if (place) await dialog(page).getByText(place).waitFor();
    await cancel(page);
  }
  assert.deepEqual(seen.sort(), ["First: which size?", "Second: which colour?", "Third: order it now?"]);
  await eventually("all cancelled", async () => (await run(page)).outcome === "Canceled · Canceled · Canceled");
});

test("a server changes its mind: the dialog goes by itself", async () => {
  const running = await demo({ times: "probe=60m,change_of_mind=1s" });
  const page = await unhurried(running, { withheld: "elicitation/closed" });
  await page.locator("#ask-taken_back").click();
  await dialog(page).waitFor();
  await page.letGo();
  await dialog(page).waitFor({ state: "hidden" });
  await page.getByText("The server no longer needs an answer").first().waitFor();
  const { messages } = await eventually("the call ends", async () => {
    const now = await run(page);
    return now.messages.length === 4 && now;
  });
  assert.deepEqual(messages.map(({ method }) => method), ["tools/call", "elicitation/create", "notifications/cancelled", undefined]);
});

test("a short deadline is counted down", async () => {
  const running = await demo();
  const page = await unhurried(running, { withheld: "elicitation/timeout" });
  await page.locator("#ask-hurry").click();
  await dialog(page).waitFor();
  const end = await deadline(page);
  await page.clock.pauseAt(end - 28_000);
  await dialog(page).getByText("Closing in 28s").first().waitFor();
  await page.clock.pauseAt(end - 8_000);
  await dialog(page).getByText("Closing in 8s").first().waitFor();
  await shot(page, "demo-hurry-countdown");
});

test("closing the tab takes back what it asked", async () => {
  const running = await demo();
  const page = await person(running);
  await page.locator("#ask-text").click();
  await dialog(page).waitFor();
  const bearer = running.announced.bearer;
  const stream = await fetch(running.announced.api + "/elicitation/events", { headers: { authorization: `Bearer ${bearer}` } });
  const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
  let told = "";
  while (!told.includes("elicitation/request")) told += (await reader.read()).value;
  await page.close();
  while (!told.includes("withdrawn")) told += (await reader.read()).value;
  assert.match(told, /"state":"withdrawn","reason":"by_client"/);
  await reader.cancel();
});

test("Ctrl-C ends it cleanly, and the page says that the connection is gone", async () => {
  const running = await demo();
  await eventually("it has spoken", () => running.said.out && running.said.err); // a pipe may be late
  assert.match(running.said.out, /^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}\n$/);
  assert.match(running.said.err, /Ctrl\+C ends/);
  const page = await person(running);
  await page.locator("#ask-text").click();
  await dialog(page).waitFor();
  assert.equal(await running.end("SIGINT"), 0);
  await dialog(page).waitFor({ state: "hidden" });
  await page.getByText("Connection lost").waitFor();
});
