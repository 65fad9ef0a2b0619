// After an answer, and beside it: what became of it is said in the person's words, equal questions are told apart, and
// dangerous ones are seen to be.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fits, judge } from "./looks.mjs";
import { anotherPerson, calm, Desk, eventually, person, unhurried } from "./world.mjs";

const BOOK = { message: "A table for whom?", requestedSchema: { type: "object", properties: { guest_name: { type: "string" }, day: { type: "string", title: "Which day" } } } };
const EMPTY = { type: "object", properties: {} };
const PUBLISH = { message: "Publish it now?", requestedSchema: EMPTY };
const DELETE = { message: "Delete 3 files?", requestedSchema: EMPTY, _meta: { "dev.midcall/destructive": true } };

const dialog = (page) => page.getByRole("dialog");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const toast = (page) => page.locator(".toasts");
const later = (page) => page.getByRole("button", { name: "Later", exact: true }).click();

test("an answer that arrived is told with its question, in the page's language, and the note leaves by itself", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(PUBLISH, { server: "reports" });
  await calm(page);
  await page.evaluate(() => {
    const { setTimeout } = window; // the note leaves when the story says so
    window.setTimeout = (work, time, ...more) => (time === 6_000 ? void (window.leave = work) : setTimeout(work, time, ...more));
  });
  await button(page, "Approve").click();
  await desk.ended(id);
  await toast(page).getByText("Delivered to reports").waitFor();
  await toast(page).getByText("Publish it now?").waitFor();
  assert.equal(await toast(page).getAttribute("role"), "status");
  assert.equal(await toast(page).locator(".mark.yes").count(), 1);
  await fits(page, "toast");
  await judge(page, "toast");
  await page.getByLabel("Language").selectOption("pt-BR");
  await toast(page).getByText("Entregue a reports").waitFor();
  await page.evaluate(() => window.leave());
  assert.equal(await toast(page).textContent(), "");
});

test("until it has arrived, it is only sent", async () => {
  const desk = await Desk.start();
  const page = await unhurried(desk, { withheld: "elicitation/delivery" });
  const id = await desk.ask(PUBLISH, { server: "reports" });
  await dialog(page).waitFor();
  await page.clock.runFor(700);
  await button(page, "Approve").click();
  await desk.ended(id);
  await toast(page).getByText("Sending to reports…").waitFor();
  await page.letGo();
  await toast(page).getByText("Delivered to reports").waitFor();
});

test("the history says what the person saw, with a sign for each outcome", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const first = await desk.ask(BOOK, { server: "booking" });
  await dialog(page).getByLabel("Guest name").fill("Ana");
  await dialog(page).getByLabel("Which day").fill("Friday");
  await button(page, "Submit").click();
  await desk.ended(first);
  const second = await desk.ask(PUBLISH, { server: "reports" });
  await button(page, "Decline").click();
  await desk.ended(second);
  const third = await desk.ask({ ...PUBLISH, message: "Publish it again?" }, { server: "reports" });
  await dialog(page).getByText("Publish it again?").waitFor(); // not the one before
  await calm(page);
  await page.keyboard.press("Escape");
  await desk.ended(third);
  const before = page.getByRole("region", { name: "Earlier" });
  await before.getByText("Sent: Guest name, Which day").waitFor();
  await eventually("all are told", async () => (await before.locator("li").count()) === 3);
  assert.deepEqual(await before.locator(".mark").evaluateAll((all) => all.map((one) => one.className)), ["mark no", "mark declined", "mark yes"]);
  const signs = await before.locator(".mark").evaluateAll((all) => all.map((one) => getComputedStyle(one, "::before").content + getComputedStyle(one).color));
  assert.equal(new Set(signs).size, 3, "an icon and a color each");
  assert.ok(!(await page.content()).includes("guest_name"));
});

test("who answered elsewhere is named in words, and unknown ways stay unnamed", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await page.evaluate(() => {
    const routes = ["client", "app", "page", "terminal", "model", "api", "answers", "hook", "remembered", "of_next_year"];
    sessionStorage.setItem("midcall.past", JSON.stringify(routes.map((route) => ({
      id: route, from: location.origin, server: "s", description: route, at: new Date().toISOString(), fields: [], ours: false,
      closing: { state: "answered", action: "accept", by: { route, human: true }, delivery: "delivered" },
    }))));
  });
  for (const locale of ["en-US", "pt-BR"]) {
    await page.evaluate((locale) => localStorage.setItem("midcall.locale", JSON.stringify(locale)), locale);
    await page.reload();
    await page.locator(".before li").nth(9).waitFor();
    assert.ok(!(await page.locator(".before").innerText()).includes("mcp.elicitation"), locale);
  }
});

test("two equal questions are visibly two, also when the first has just been answered", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const first = await desk.ask(DELETE, { server: "files", tool: "delete_old" });
  const second = await desk.ask(DELETE, { server: "files", tool: "delete_old" });
  await dialog(page).getByText("1 of 2").waitFor();
  assert.equal(await dialog(page).getByText("another call of the same tool").count(), 0);
  await later(page);
  assert.deepEqual(await page.locator(".card").evaluateAll((all) => all.map((one) => one.innerText.includes("another call of the same tool"))), [false, true]);
  await page.getByRole("button", { name: "Answer" }).first().click();
  await button(page, "Delete").click();
  await desk.ended(first);
  await page.locator(".card").nth(1).waitFor({ state: "detached" }); // the page knows
  await page.getByRole("button", { name: "Answer" }).click();
  await dialog(page).getByText("another call of the same tool").waitFor();
  await button(page, "Decline").click();
  await desk.ended(second);
  await page.locator(".before li").nth(1).waitFor(); // the page knows
  const third = await desk.ask(DELETE, { server: "files", tool: "delete_old" });
  await dialog(page).waitFor();
  assert.equal(await dialog(page).getByText("another call of the same tool").count(), 0, "those are over");
  await button(page, "Decline").click();
  await desk.ended(third);
});

test("a waiting card says who asks, since when and until when, and looks different if it may destroy", async () => {
  const desk = await Desk.start();
  const page = await person(desk, { timezoneId: "America/Sao_Paulo" });
  await desk.ask(DELETE, { server: "files", tool: "delete_old" });
  await desk.ask(PUBLISH, { server: "reports" });
  await later(page);
  const [danger, plain] = await page.locator(".card").all();
  assert.match(await danger.innerText(), /files[^]*delete_old[^]*Delete 3 files\?[^]*This may delete or overwrite something for good[^]*Asked at \d+:\d\d\s[AP]M[^]*until \d+:\d\d\s[AP]M/);
  assert.ok(!(await plain.innerText()).includes("overwrite"));
  const look = (card) => card.evaluate((one) => [getComputedStyle(one).borderLeftColor, getComputedStyle(one.querySelector("button")).backgroundColor]);
  const [[edge, face], [plainEdge, plainFace]] = [await look(danger), await look(plain)];
  assert.notEqual(edge, plainEdge);
  assert.notEqual(face, plainFace);
  await judge(page, "cards");
});

test("Esc on the page asks first, and Later keeps the draft", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(BOOK, { server: "booking" });
  await dialog(page).getByLabel("Guest name").fill("Ana");
  await page.keyboard.press("Escape");
  await dialog(page).getByText("Discard what you typed?").first().waitFor();
  await later(page);
  await page.getByRole("button", { name: "Answer" }).click();
  assert.equal(await dialog(page).getByLabel("Guest name").inputValue(), "Ana");
  const other = await anotherPerson(desk, page);
  await dialog(other).waitFor(); // still open
  await other.context().close();
  await page.keyboard.press("Escape");
  await button(page, "Discard and cancel").click();
  assert.equal((await desk.ended(id)).action, "cancel");
  await eventually("the draft goes with its question", async () => !(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).includes("Ana"));
});

test("every screen of the page says Decline, in the element and after another language was fetched", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await desk.ask(PUBLISH, { server: "reports" });
  await button(page, "Decline").waitFor();
  await dialog(page).locator(".more").click(); // which loads the rest of the language
  await dialog(page).getByText("Declining tells the server no.").waitFor();
  assert.equal(await button(page, "Decline").count(), 1);
  assert.equal(await page.getByText("Reject").count(), 0);
});

test("at 375 pixels the dialog is a sheet with one row on top, and one thing scrolls", async () => {
  const desk = await Desk.start();
  const options = { viewport: { width: 375, height: 667 } };
  const one = await person(desk, options);
  await desk.ask(BOOK, { server: "infrastructure-and-deployments", tool: "deploy_everything" });
  await desk.ask(BOOK, { server: "booking" });
  const other = await anotherPerson(desk, one, { ...options, locale: "pt-BR" });
  for (const page of [one, other]) {
    await dialog(page).getByText(/1 (of|de) 2/).waitFor();
    const box = await page.locator("mcp-elicitation").evaluate(({ shadowRoot }) => {
      const { left, right, bottom } = shadowRoot.querySelector("dialog").getBoundingClientRect();
      const middles = [".avatar", ".who", ".close"].map((part) => shadowRoot.querySelector(part).getBoundingClientRect()).map(({ top, height }) => top + height / 2);
      const scrolling = [...shadowRoot.querySelectorAll("*")].filter((node) => /auto|scroll/.test(getComputedStyle(node).overflowY) && node.localName !== "textarea");
      return { left, right, bottom, spread: Math.max(...middles) - Math.min(...middles), scrolling: scrolling.map((node) => node.className) };
    });
    assert.deepEqual([box.left, box.right, box.bottom], [0, 375, 667]);
    assert.ok(box.spread < 2, `one row: ${box.spread}`);
    assert.deepEqual(box.scrolling, ["body"]);
    await fits(page, "sheet");
  }
});
