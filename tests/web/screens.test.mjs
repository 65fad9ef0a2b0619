// Every screen, in both languages, light and dark, wide and narrow: axe-core finds nothing wrong,
// nothing sticks out, and a picture of each is kept in target/web-shots.
import assert from "node:assert/strict";
import { test } from "node:test";
import { anotherPerson, calm, demo, Desk, person, shot, violations } from "./world.mjs";

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

/** Nothing sticks out to the side. */
async function fits(page, name) {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(wide <= room, `${name}: ${wide} px in ${room} px`);
}

/** Everything that a person can meet on the desk's page and on the demo's. */
async function tour(tag, schemes, width) {
  const options = { locale: tag, viewport: { width, height: width < 400 ? 640 : 800 } };
  const [later, answer] = tag === "en-US" ? ["Later", "Answer"] : ["Depois", "Responder"];
  const look = async (page, screen) => {
    for (const colorScheme of schemes) {
      const name = `screen-${screen}-${tag}-${colorScheme}${width < 400 ? "-narrow" : ""}`;
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), [], name);
      await fits(page, name);
      await shot(page, name, { fullPage: true });
    }
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
  await dialog(gallery).locator("[part=cancel]").click();
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

for (const tag of ["en-US", "pt-BR"]) {
  test(`every screen in ${tag}, light and dark`, () => tour(tag, ["light", "dark"], 1100));
}
test("every screen on 320 px", () => tour("pt-BR", ["light"], 320));

test("forced colours and the zoom of a large font leave the page whole", async () => {
  const desk = await Desk.start();
  const page = await person(desk, { forcedColors: "active", viewport: { width: 640, height: 480 } });
  await desk.ask(FORM, { server: "booking" });
  await dialog(page).waitFor();
  await fits(page, "forced colours");
  await shot(page, "screen-form-forced-colours");
  await page.evaluate(() => { document.documentElement.classList.add("large"); document.documentElement.style.fontSize = "200%"; });
  await fits(page, "200 %");
  await shot(page, "screen-form-200-percent");
  await aside(page, "Later");
  await fits(page, "200 %, list");
  await shot(page, "screen-list-200-percent", { fullPage: true });
});

test("nothing moves for those who want nothing to move", async () => {
  const desk = await Desk.start();
  const page = await person(desk, { reducedMotion: "reduce" });
  await desk.ask(FORM, { server: "booking" });
  await dialog(page).waitFor();
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
});
