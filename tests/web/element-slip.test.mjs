// No slip loses what somebody typed: what closes the dialog asks first, and says what the server will hear.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, asking, calm, fired, focused, form, part, told } from "./element-page.mjs";
import { fits, judge } from "./looks.mjs";

const CITY = form({ city: { type: "string", title: "City" }, day: { type: "string", title: "Day", format: "date" } });
const question = (page, locale = "en-US") => page.getByRole("dialog").getByText(locale === "en-US" ? "Discard what you typed?" : "Descartar o que você digitou?").first();
const more = (page) => part(page, "more").click();

for (const [how, act] of [["Esc", (page) => page.keyboard.press("Escape")], ["the close button", (page) => part(page, "close").click()]]) {
  test(`${how} asks before it discards, and Esc then cancels`, async () => {
    const page = await asking(CITY);
    await page.getByLabel("City").fill("Lisbon");
    await act(page);
    await question(page).waitFor();
    assert.deepEqual(await fired(page), []);
    assert.equal(await focused(page), "Keep editing", "on the safe choice");
    assert.match((await told(page, ".keep")).description, /Discard what you typed\? Canceling tells the server/);
    assert.equal(await part(page, "accept").count(), 0, "one question at a time");
    if (how !== "Esc") await act(page); // a double click is one click
    assert.deepEqual(await fired(page), []);
    await page.keyboard.press("Escape");
    assert.deepEqual(await answer(page), { action: "cancel" });
  });
}

test("what was typed is kept when the person stays, and so is their place", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisbon");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Keep editing" }).click();
  assert.equal(await focused(page), "City");
  assert.equal(await page.getByLabel("City").inputValue(), "Lisbon");
  await page.keyboard.press("Escape");
  await question(page).waitFor();
  await page.getByLabel("City").press("End");
  await page.getByLabel("City").pressSequentially("!"); // typing on says it, too
  await part(page, "accept").click();
  assert.deepEqual(await answer(page), { action: "accept", content: { city: "Lisbon!" } });
});

test("the person may discard it by a button", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisbon");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard and cancel" }).click();
  assert.deepEqual(await answer(page), { action: "cancel" });
});

test("half a date, a reason and a draft count as typed; what was taken back doesn't", async () => {
  const half = await asking(form({ day: { type: "string", title: "Day", format: "date" } }));
  await half.keyboard.type("03");
  await half.keyboard.press("Escape");
  await question(half).waitFor();

  const reason = await asking({ message: "Delete 3 files?", requestedSchema: { type: "object", properties: {} } });
  await more(reason);
  await reason.getByLabel("Reason", { exact: true }).fill("not today");
  await reason.keyboard.press("Escape");
  await question(reason).waitFor();

  const draft = await asking(CITY);
  await draft.evaluate(() => void (element.typed = { "/city": "Lisbon" }));
  await draft.keyboard.press("Escape");
  await question(draft).waitFor();

  const back = await asking(CITY);
  await back.getByLabel("City").fill("Lisbon");
  await back.getByLabel("City").fill("");
  await back.keyboard.press("Escape");
  assert.deepEqual(await answer(back), { action: "cancel" });
});

test("that it could not be canceled is seen", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisbon");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard and cancel" }).click();
  await answer(page);
  await page.evaluate(() => void (element.problems = [{ path: "", key: "mcp.elicitation.problem.too_big", params: {} }]));
  await part(page, "problems").getByText("This is too big to send").waitFor();
  await part(page, "accept").waitFor();
  assert.equal(await page.getByLabel("City").inputValue(), "Lisbon");
});

test("without the rest of the element, a second Esc cancels all the same, and the form can be sent", async () => {
  const page = await asking();
  await page.route("**/menu.js", (route) => route.abort());
  await page.evaluate((request) => void (element.request = request), CITY);
  await page.getByLabel("City").fill("Lisbon");
  await page.keyboard.press("Escape");
  await page.keyboard.press("End");
  assert.deepEqual(await fired(page), []);
  await part(page, "accept").click();
  assert.deepEqual(await answer(page), { action: "accept", content: { city: "Lisbon" } });

  const other = await asking();
  await other.route("**/menu.js", (route) => route.abort());
  await other.evaluate((request) => void (element.request = request), CITY);
  await calm(other);
  await other.getByLabel("City").fill("Lisbon");
  await other.keyboard.press("Escape");
  await other.keyboard.press("Escape");
  assert.deepEqual(await answer(other), { action: "cancel" });
});

test("a key that is held down asks, and doesn't cancel", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisbon");
  for (let count = 0; count < 4; count++) await page.keyboard.down("Escape");
  await question(page).waitFor();
  assert.deepEqual(await fired(page), []);
  await page.keyboard.up("Escape");
  await page.keyboard.press("Escape");
  assert.deepEqual(await answer(page), { action: "cancel" });
});

test("an Enter doesn't send what the person is asked about", async () => {
  const page = await asking(form({ city: { type: "string", title: "City" } }));
  await page.getByLabel("City").fill("Lisbon");
  await page.keyboard.press("Escape");
  await question(page).waitFor();
  await page.getByLabel("City").press("Enter");
  assert.deepEqual(await fired(page), []);
});

test("two verbs, and the rest in a menu that says what the server hears", async () => {
  const page = await asking(CITY);
  const names = () => part(page, "actions").getByRole("button").evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent));
  assert.deepEqual(await names(), ["More choices", "Reject", "Submit"]);
  assert.equal((await told(page, ".more")).role, "button");
  assert.equal(await part(page, "more").getAttribute("aria-expanded"), "false");
  await more(page);
  await page.getByText("Rejecting tells the server no. Canceling tells the server that you didn't decide.").waitFor();
  assert.equal(await part(page, "more").getAttribute("aria-expanded"), "true");
  await part(page, "cancel").click();
  assert.deepEqual(await answer(page), { action: "cancel" });
});

for (const locale of ["en-US", "pt-BR"]) {
  test(`the menu and the second question fit, and axe-core finds nothing, in ${locale}`, async () => {
    for (const viewport of [{ width: 1280, height: 800 }, { width: 375, height: 667 }, { width: 320, height: 568 }]) {
      const page = await asking(CITY, { locale }, { viewport });
      await more(page);
      await part(page, "cancel").waitFor();
      await fits(page, `menu, ${viewport.width}`);
      await judge(page, "menu");
      await page.getByLabel("City").fill("Lisboa");
      await page.keyboard.press("Escape");
      await question(page, locale).waitFor();
      await fits(page, `second question, ${viewport.width}`);
      await judge(page, "second question");
      await calm(page);
    }
  });
}
