// The test suite of the Koder specification, T1 to T9, against the real binary.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MOMENT } from "./browser.mjs";
import { calm, cancel, deadline, Desk, eventually, person, posts, shot, unhurried } from "./world.mjs";

const WEATHER = {
  message: "Weather lookup needs your input",
  requestedSchema: {
    type: "object",
    properties: {
      city: { type: "string", title: "City", description: "Your city" },
      temperature_unit: { type: "string", title: "Unit", enum: ["C", "F"] },
    },
    required: ["city"],
  },
};
const LINK = { mode: "url", message: "Sign in to GitHub", url: "https://server.example/elicit/abc", elicitationId: "e_124" };

const dialog = (page) => page.getByRole("dialog");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });

test("T1 form mount: a schema with two fields draws both", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await desk.ask(WEATHER, { server: "weather" });
  await dialog(page).waitFor();
  await dialog(page).getByLabel("City").waitFor();
  assert.equal(await dialog(page).getByRole("radio").count(), 2);
  assert.match(await dialog(page).innerText(), /weather/);
  await shot(page, "T1-form");
});

test("T2 validation: a missing required field disables submit and is marked invalid", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await desk.ask(WEATHER);
  const city = dialog(page).getByLabel("City");
  assert.equal(await city.getAttribute("aria-required"), "true");
  assert.equal(await button(page, "Submit").getAttribute("aria-disabled"), "true");
  await calm(page);
  await button(page, "Submit").click({ force: true });
  assert.equal(await city.getAttribute("aria-invalid"), "true");
  await shot(page, "T2-missing");
  assert.deepEqual(await posts(page, "accept"), []);
  await city.fill("Recife");
  assert.equal(await button(page, "Submit").getAttribute("aria-disabled"), null);
  assert.notEqual(await city.getAttribute("aria-invalid"), "true");
});

test("T3 accept: a valid form is sent with its values", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(WEATHER);
  await dialog(page).getByLabel("City").fill("Recife");
  await dialog(page).getByText("C", { exact: true }).click();
  await button(page, "Submit").click();
  const ended = await desk.ended(id);
  assert.deepEqual(ended, { id, state: "answered", action: "accept", by: { route: "page", human: true }, fields: ["city", "temperature_unit"] });
  const [post] = await posts(page, "accept");
  const { attempt, ...said } = JSON.parse(post.body);
  assert.deepEqual(said, { content: { city: "Recife", temperature_unit: "C" } });
  assert.equal(typeof attempt, "string");
  await dialog(page).waitFor({ state: "hidden" });
});

test("T4 reject: the button declines, with a reason if one is given", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(WEATHER);
  await button(page, "Decline").click();
  assert.equal((await desk.ended(id)).action, "decline");
  assert.equal((await posts(page, "reject")).length, 1);

  const other = await desk.ask(WEATHER);
  await dialog(page).locator(".more").click();
  await dialog(page).getByLabel("Reason", { exact: true }).fill("Too nosy");
  await button(page, "Decline").click();
  assert.equal((await desk.ended(other)).action, "decline");
  const { attempt, ...said } = JSON.parse((await posts(page, "reject"))[1].body);
  assert.deepEqual(said, { reason: "Too nosy" });
  assert.equal(typeof attempt, "string");
});

test("T5 cancel: Esc cancels", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(WEATHER);
  await calm(page);
  await page.keyboard.press("Escape");
  assert.equal((await desk.ended(id)).action, "cancel");
  assert.equal((await posts(page, "cancel")).length, 1);
  await dialog(page).waitFor({ state: "hidden" });
});

test("T6 URL mode: opens a browser, polls the status, updates when it is complete", async () => {
  const desk = await Desk.start();
  const page = await unhurried(desk);
  await page.context().route("https://server.example/**", (route) => route.fulfill({ body: "signed in" }));
  const id = await desk.ask(LINK);
  await dialog(page).getByText("server.example", { exact: true }).waitFor();
  await page.clock.runFor(MOMENT);
  await shot(page, "T6-consent");
  const popup = page.context().waitForEvent("page");
  await button(page, "Open link").click();
  assert.equal((await popup).url(), LINK.url);
  assert.equal(await (await popup).evaluate(() => window.opener), null);
  await eventually("it is noted as opened", async () => (await posts(page, "opened")).length === 1);
  await button(page, "I've finished").waitFor();
  await shot(page, "T6-opened");
  const polled = () => page.requests.some(({ method, path }) => method === "GET" && path === `/elicitation/status/${id}`);
  await eventually("the status is polled", () => page.clock.runFor(3_000).then(polled));
  await desk.script("POST", `/elicitation/${id}/accept`); // The server has seen the person there.
  await eventually("the dialog closes", () => page.clock.runFor(3_000).then(() => dialog(page).isHidden()));
  assert.equal((await desk.ended(id)).action, "accept");
  assert.deepEqual(await posts(page, "accept"), []);
});

test("T7 timeout: after its time the dialog closes and the server hears of it", async () => {
  const desk = await Desk.start("--timeout", "1ms");
  const page = await unhurried(desk, { withheld: "elicitation/timeout" });
  const id = await desk.ask(WEATHER);
  await page.clock.pauseAt((await deadline(page)) - 1_000);
  await dialog(page).getByText("Closing in 1s").first().waitFor();
  await shot(page, "T7-countdown");
  assert.deepEqual(await desk.ended(id), { id, state: "timed_out", fields: [] });
  await page.letGo();
  await dialog(page).waitFor({ state: "hidden" });
  await page.getByText("Time ran out").first().waitFor();
  await shot(page, "T7-timed-out");
  assert.ok(!page.requests.some(({ method, path }) => method === "POST" && path !== "/launch"));
});

test("T7 timeout: five minutes by default, the last thirty seconds are counted, and the desk's clock decides", async () => {
  const desk = await Desk.start();
  const page = await person("about:blank");
  await page.clock.install();
  await page.goto(desk.announced.launch); // once: a reload could take away the link's answer
  const asked = Date.now();
  const id = await desk.ask(WEATHER);
  await calm(page);
  const end = await deadline(page);
  assert.ok(end >= asked + 299_000 && end <= Date.now() + 301_000, "five minutes");
  const at = (left) => page.clock.pauseAt(end - left * 1000); // however long each look takes
  await at(31);
  assert.equal(await dialog(page).getByText(/Closing in/).count(), 0);
  await at(30);
  await dialog(page).getByText("Closing in 30s").first().waitFor();
  await at(-1);
  await dialog(page).getByText("Time's up").first().waitFor();
  await page.clock.resume();
  await eventually("the desk is asked", () => page.requests.some(({ path }) => path === `/elicitation/status/${id}`));
  await dialog(page).getByLabel("City").fill("Recife");
  await button(page, "Submit").click();
  assert.equal((await desk.ended(id)).action, "accept", "the desk's time is not over");
});

test("T8 server cancel: the dialog closes and nothing is sent", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(WEATHER);
  await dialog(page).getByLabel("City").fill("Rec");
  desk.withdraw(id);
  await dialog(page).waitFor({ state: "hidden" });
  await page.getByText("The server no longer needs an answer").first().waitFor();
  await shot(page, "T8-withdrawn");
  assert.equal((await desk.ended(id)).state, "withdrawn");
  await desk.ask(WEATHER);
  await dialog(page).waitFor(); // by now, whatever was sent for the first one would be on record
  assert.ok(!page.requests.some(({ method, path }) => method === "POST" && path !== "/launch"));
});

test("T9 multi-tenant: a workspace switch dismisses the dialog, not the question", async () => {
  const desk = await Desk.start();
  const page = await person(desk, {}, "?workspace=acme");
  await page.getByText("No questions right now").waitFor();
  const there = await desk.ask({ ...WEATHER, message: "Of globex" }, { workspace: "globex" });
  await page.getByLabel("Workspace").selectOption({ label: "globex (1)" });
  await dialog(page).getByLabel("City").fill("Olinda");
  await page.goBack(); // To acme.
  await dialog(page).waitFor({ state: "hidden" });
  await page.getByText("No questions right now").waitFor();
  const status = await (await desk.script("GET", `/elicitation/status/${there}`)).json();
  assert.equal(status.state, "open");
  const here = await desk.ask({ ...WEATHER, message: "Of acme" }, { workspace: "acme" });
  await dialog(page).getByText("Of acme").waitFor();
  await cancel(page);
  await desk.ended(here);
  await page.goForward();
  await dialog(page).getByText("Of globex").waitFor();
  assert.equal(await dialog(page).getByLabel("City").inputValue(), "Olinda");
});
