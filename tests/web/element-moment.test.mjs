// What was meant for one question must not answer the next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MOMENT } from "./browser.mjs";
import { answer, asking, calm, fired, focused, form, part } from "./element-page.mjs";

const APPROVE = { message: "Delete 3 files?", requestedSchema: { type: "object", properties: {} } };
/** Stops time, so that a moment lasts until the story says otherwise. */
const clock = new Date("2027-01-01T12:00:00Z");
const NAME = form({ name: { type: "string", title: "Name" } });

test("a double click answers one question, not the one that takes its place", async () => {
  const page = await asking(APPROVE, {}, { clock });
  await page.evaluate((next) => addEventListener("elicitation-answer", () => void (element.request = next), { once: true }), APPROVE);
  await part(page, "accept").dblclick();
  assert.equal((await fired(page)).length, 1);
  await page.clock.runFor(MOMENT);
  await part(page, "accept").click(); // a moment later it can be answered
  assert.equal((await fired(page)).length, 2);
});

test("what has just come takes no key", async () => {
  const page = await asking(form({ name: { type: "string", title: "Name", default: "Ana" } }), {}, { clock, isCalm: false });
  await page.keyboard.type("oops");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.clock.runFor(MOMENT);
  await calm(page);
  assert.deepEqual(await fired(page), []);
  assert.equal(await page.getByLabel("Name").inputValue(), "Ana");
  await page.keyboard.press("Escape");
  assert.deepEqual(await answer(page), { action: "cancel" });
});

test("a key that is held down answers once", async () => {
  const page = await asking(NAME);
  await page.evaluate((next) => addEventListener("elicitation-answer", () => void (element.request = next)), NAME);
  await page.keyboard.down("Escape");
  await calm(page);
  for (let count = 0; count < 3; count++) await page.keyboard.down("Escape");
  assert.equal((await fired(page)).length, 1);
  await page.keyboard.up("Escape");

  await page.getByLabel("Name").fill("Ana");
  await page.keyboard.down("Enter");
  await page.waitForFunction(() => window.fired.filter(({ type }) => type === "answer").length === 2);
  await calm(page);
  await page.getByLabel("Name").fill("Bia");
  for (let count = 0; count < 3; count++) await page.keyboard.down("Enter");
  assert.equal((await fired(page)).length, 2);
  await page.keyboard.up("Enter");
});

test("typing goes on into nothing when the question is taken away", async () => {
  const page = await asking(NAME, {}, { clock });
  assert.equal(await focused(page), "Name");
  await page.keyboard.type("half a na");
  await page.evaluate((next) => {
    element.close("withdrawn");
    element.request = next;
  }, NAME);
  assert.equal(await focused(page), "dialog");
  await page.keyboard.type("me");
  await page.clock.runFor(MOMENT);
  await calm(page);
  await page.keyboard.type("!");
  await page.keyboard.press("Enter");
  assert.equal(await page.getByLabel("Name").inputValue(), "");
  assert.deepEqual(await fired(page), []);
});
