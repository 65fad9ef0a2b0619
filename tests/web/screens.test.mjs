// Every screen, in both languages, light and dark, wide and narrow, in any font: axe-core finds nothing wrong, and
// nothing is cut off. When all variants are played, a picture of each is kept in target/web-shots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL } from "./browser.mjs";
import { fits, judge } from "./looks.mjs";
import { anotherPerson, calm, cancel, demo, Desk, person, shot } from "./world.mjs";

const FORM = {
  message: "A table for whom, and when?",
  requestedSchema: {
    type: "object",
    title: "Book a table",
    properties: {
      name: { type: "string", title: "Name", description: "As it should stand in the book", minLength: 1, maxLength: 40 },
      day: { type: "string", title: "Day", format: "date" },
      guests: { type: "integer", title: "Guests", minimum: 1, maximum: 12, default: 2 },
      seat: { type: "string", title: "Seat", oneOf: [{ const: "in", title: "Inside" }, { const: "out", title: "On the terrace" }, { const: "bar", title: "At the bar" }], default: "out" },
      extras: { type: "array", title: "Extras", items: { type: "string", enum: ["high chair", "dog", "birthday"] }, maxItems: 2 },
      terms: { type: "boolean", title: "I have read the terms" },
    },
    required: ["name", "day", "guests"],
  },
};
const LINK = { mode: "url", message: "Sign in, so that the report can be sent.", url: "https://accounts.example.com@login.example.net:8443/authorize?client=midcall&scope=calendar", elicitationId: "e_1" };

const dialog = (page) => page.getByRole("dialog");
const aside = (page, later) => page.getByRole("button", { name: later, exact: true }).click();

const SIZES = { wide: { width: 1100, height: 800 }, narrow: { width: 320, height: 640 } };

/**
 * Everything that a person can meet on the desk's page and on the demo's: it fits any window in any font, and where
 * `isJudged`, axe-core finds nothing wrong.
 */
async function tour(tag, isJudged) {
  const options = { locale: tag };
  const [later, answer] = tag === "en-US" ? ["Later", "Answer"] : ["Depois", "Responder"];
  const look = async (page, screen) => {
    if (isJudged) await judge(page, `${screen} in ${tag}`);
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      const name = `${screen}-${tag}-${size}`;
      await fits(page, name);
      for (const colorScheme of ALL ? ["dark", "light"] : []) {
        await page.emulateMedia({ colorScheme });
        await shot(page, `screen-${name}-${colorScheme}`, { fullPage: true });
      }
    }
    await page.setViewportSize(SIZES.wide);
  };

  const desk = await Desk.start();
  const barred = await person(desk.announced.page, options);
  await barred.locator("h1").waitFor();
  await look(barred, "no-link");
  await barred.context().close();

  const page = await person(desk, options);
  await page.locator(".nothing").waitFor();
  await look(page, "empty");

  const used = await person(desk, options);
  await used.locator("h1").waitFor();
  await look(used, "used-link");
  await used.context().close();

  const form = await desk.ask(FORM, { server: "booking", tool: "book_table", workspace: "acme" });
  const link = await desk.ask(LINK, { server: "reports", workspace: "globex" });
  const third = await desk.ask({ message: "Publish it now?", requestedSchema: { type: "object", properties: {} } }, { server: "reports" });
  await dialog(page).waitFor();
  await look(page, "form");
  await calm(page);
  await dialog(page).locator("[part=accept]").click({ force: true });
  await look(page, "form-problems");
  await aside(page, later);
  await page.locator(".cards").waitFor();
  await look(page, "list");
  await page.getByRole("button", { name: answer, exact: true }).nth(1).click();
  await dialog(page).waitFor();
  await look(page, "link");
  await aside(page, later);
  await page.getByRole("button", { name: answer, exact: true }).nth(2).click();
  await dialog(page).waitFor();
  await look(page, "approve");
  await aside(page, later);

  await page.getByRole("button", { name: answer, exact: true }).last().click();
  await dialog(page).locator("[part=accept]").click();
  await desk.ended(third);
  await desk.script("POST", `/elicitation/${form}/reject`);
  desk.withdraw(link);
  await desk.ended(link);
  await page.locator(".before li").nth(2).waitFor();
  await look(page, "earlier");

  await page.evaluate(() => {
    const past = JSON.parse(sessionStorage.getItem("midcall.past"));
    Object.assign(past.find(({ ours }) => ours).closing, { delivery: "lost", reason: "server_gone" });
    sessionStorage.setItem("midcall.past", JSON.stringify(past));
  });
  await page.reload();
  await page.locator(".undelivered").waitFor();
  await look(page, "undelivered");
  await page.locator(".undelivered button").click();

  const note = await desk.ask(FORM, { server: "booking" });
  await dialog(page).waitFor();
  desk.withdraw(note);
  await dialog(page).waitFor({ state: "hidden" });
  await look(page, "note");
  await desk.end();
  await page.locator(".connection.lost").waitFor();
  await look(page, "lost");
  await page.context().close();

  const running = await demo();
  const gallery = await person(running, options);
  await gallery.locator("#ask-text").waitFor();
  await look(gallery, "demo");
  await gallery.locator("#ask-three").click();
  await dialog(gallery).getByText(/1 (of|de) 3/).waitFor();
  await cancel(gallery);
  await dialog(gallery).getByText(/1 (of|de) 2/).waitFor();
  await aside(gallery, later);
  await dialog(gallery).waitFor({ state: "hidden" });
  await look(gallery, "demo-messages");
  const elsewhere = await anotherPerson({ announced: { page: running.announced.page + "/assets/page/elsewhere.html#nobody" } }, gallery, options);
  await elsewhere.locator("button").waitFor();
  await look(elsewhere, "elsewhere");
  await elsewhere.locator("button").click();
  await elsewhere.locator(".lead").waitFor();
  await look(elsewhere, "elsewhere-gone");
  await elsewhere.context().close();
  await gallery.context().close();
  await running.end();
}

test("every screen in pt-BR", () => tour("pt-BR", true));
test("every screen in en-US", () => tour("en-US", ALL));

for (const [tag, later] of [["en-US", "Later"], ["pt-BR", "Depois"]]) {
  test(`forced colours and the zoom of a large font leave the page whole in ${tag}`, async () => {
    const desk = await Desk.start();
    const page = await person(desk, { locale: tag, forcedColors: "active", viewport: { width: 640, height: 480 } });
    await desk.ask(FORM, { server: "booking" });
    await dialog(page).waitFor();
    await fits(page, "forced colours");
    await shot(page, `screen-form-forced-colours-${tag}`);
    await page.evaluate(() => void (document.documentElement.style.fontSize = "200%"));
    await fits(page, "200 %");
    await shot(page, `screen-form-200-percent-${tag}`);
    await aside(page, later);
    await dialog(page).waitFor({ state: "hidden" });
    await fits(page, "200 %, list");
    await shot(page, `screen-list-200-percent-${tag}`, { fullPage: true });
  });
}

test("nothing moves for those who want nothing to move", async () => {
  const desk = await Desk.start();
  const page = await person(desk, { reducedMotion: "reduce" });
  await desk.ask(FORM, { server: "booking" });
  await dialog(page).waitFor();
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
});
