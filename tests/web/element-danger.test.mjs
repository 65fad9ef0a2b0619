// What destroys, and links that are odd: said first, started on the safe choice, and never agreed to by a slip.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MOMENT } from "./browser.mjs";
import { answer, asking, fired, focused, form, part, told } from "./element-page.mjs";
import { fits, judge } from "./looks.mjs";

const ask = (message) => ({ message, requestedSchema: { type: "object", properties: {} } });
const RISKY = { mode: "url", message: "Sign in", url: "https://weather.example@evil.example/" };

test("a dangerous question is a heading, with the warning above it and the focus on the safe choice", async () => {
  const page = await asking(ask("Delete 3 files?"), { destructive: "", tool: "delete_old" });
  const heading = page.getByRole("heading", { name: "Delete 3 files?" });
  const warning = page.getByText("This may delete or overwrite something for good");
  const [above, below] = await Promise.all([warning, heading].map((one) => one.boundingBox()));
  assert.ok(above.y + above.height <= below.y, "the warning stands above");
  assert.equal(await focused(page), "Reject");
  const dialog = await told(page, "dialog");
  assert.equal(dialog.name, "weather asks Delete 3 files?");
  assert.match(dialog.description, /^delete_old This may delete or overwrite something for good$/);
  assert.match((await told(page, ".accept")).description, /delete or overwrite/);
  await page.keyboard.press("Enter");
  assert.deepEqual(await answer(page), { action: "decline" });
});

test("a question at the start of a longer message is its heading, and the rest stays below", async () => {
  for (const [message, heading, rest] of [
    ["Delete 3 files?\n\na.txt\nb.txt", "Delete 3 files?", "a.txt\nb.txt"],
    ["Dear user,\nplease agree.", undefined, "Dear user,\nplease agree."],
    ["Why? ".repeat(40), undefined, "Why? ".repeat(40)],
    ["?".repeat(100_000), undefined, "?".repeat(10)],
  ]) {
    const page = await asking(ask(message), { destructive: "" });
    assert.deepEqual(await page.getByRole("heading", { level: 3 }).allTextContents(), heading ? [heading] : []);
    assert.ok((await part(page, "message").textContent()).startsWith(rest));
  }
});

for (const [message, locale, verb] of [
  ["Delete 3 files?", "en-US", "Delete"],
  ["Are you sure you want to overwrite notes.txt?", "en-US", "Overwrite"],
  ["Purge the cache?", "pt-BR", "Excluir"],
  ["Deseja realmente apagar 3 arquivos?", "pt-BR", "Apagar"],
  ["Proceed?", "en-US", "Approve"],
  ["Decline?", "en-US", "Approve"],
  ["<b>Delete</b>?", "en-US", "Approve"],
  ["constructor?", "en-US", "Approve"],
]) {
  test(`the button of "${message}" says ${verb}`, async () => {
    const page = await asking(ask(message), { destructive: "", locale });
    assert.equal(await part(page, "accept").textContent(), verb);
    await part(page, "accept").click();
    assert.deepEqual(await answer(page), { action: "accept", content: {} });
  });
}

test("an odd link takes a second step, which starts on the way back", async () => {
  const page = await asking(RISKY);
  assert.equal(await focused(page), "Reject");
  const colors = () => part(page, "accept").evaluate((button) => getComputedStyle(button).backgroundColor);
  const plain = await part(page, "reject").evaluate((button) => getComputedStyle(button).backgroundColor);
  assert.equal(await colors(), plain, "no button invites to it");
  await part(page, "accept").click();
  await page.getByText("Open this link despite the warnings?").first().waitFor();
  assert.equal(await focused(page), "Go back");
  assert.deepEqual(await page.evaluate(() => window.opened), []);
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "Open link");
  await part(page, "accept").click();
  await page.getByRole("button", { name: "Open anyway" }).click();
  assert.deepEqual(await page.evaluate(() => window.opened), [[RISKY.url, "_blank", "noopener,noreferrer"]]);
  assert.deepEqual(await answer(page), { action: "accept" });
  assert.deepEqual((await fired(page)).length, 2);
});

test("a double click doesn't take both steps", async () => {
  const page = await asking(RISKY, {}, { clock: new Date("2027-01-01T12:00:00Z") });
  await part(page, "accept").dblclick();
  await part(page, "keep").waitFor();
  await part(page, "go").click({ force: true }); // a moment later it would count
  assert.deepEqual(await page.evaluate(() => window.opened), []);
  await page.clock.runFor(MOMENT);
  await part(page, "go").click();
  assert.equal(await page.evaluate(() => window.opened.length), 1);
});

test("Esc at the second step goes the usual way", async () => {
  const page = await asking(RISKY);
  await part(page, "accept").click();
  await part(page, "keep").waitFor();
  await page.keyboard.press("Escape");
  assert.deepEqual(await answer(page), { action: "cancel" });
});

test("what is focused doesn't look chosen", async () => {
  const page = await asking(form({ unit: { type: "string", title: "Unit", enum: ["C", "F"] } }, ["unit"]));
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  const outlined = (selector) => page.locator(`mcp-elicitation ${selector}`).evaluateAll((all) => all.map((one) => getComputedStyle(one).outlineStyle));
  assert.deepEqual(await outlined(".segments label"), ["none", "none"]);
  assert.deepEqual(await outlined(".segments"), ["solid"], "the ring is the group's");
  await page.keyboard.press("Space");
  assert.deepEqual(await outlined(".segments label"), ["solid", "none"]);
});

for (const locale of ["en-US", "pt-BR"]) {
  test(`they fit, and axe-core finds nothing, in ${locale}`, async () => {
    for (const [name, request, attributes] of [["danger", ask("Delete 3 files?"), { destructive: "" }], ["link", RISKY, {}]]) {
      for (const width of [1280, 375, 320]) {
        const page = await asking(request, { locale, queue: "2/3", again: "", tool: "delete_old_files_everywhere", deadline: new Date(Date.now() + 3_600_000).toISOString(), ...attributes }, { viewport: { width, height: 667 } });
        await fits(page, `${name}, ${width}`);
        await judge(page, name);
        if (name !== "link") continue;
        await part(page, "accept").click();
        await part(page, "keep").waitFor();
        await fits(page, `second step, ${width}`);
        await judge(page, "second step");
      }
    }
  });
}
