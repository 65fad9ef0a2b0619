// One page for all gateways of a person: it follows each of them, and outlives the one that served it.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { calm, demo, Desk, eventually, person, posts, session, shot, stopClock } from "./world.mjs";

const text = (message) => ({ message, requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] } });

const dialog = (page) => page.getByRole("dialog");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const later = (page) => page.getByRole("button", { name: "Later", exact: true });

async function answer(page, message, name = "Ana") {
  await dialog(page).getByText(message).waitFor();
  await calm(page);
  await dialog(page).getByLabel("Name").fill(name);
  await button(page, "Submit").click();
}

/** Waits until the page follows so many gateways. */
const follows = (page, count) => eventually(`${count} gateways`, async () => {
  const hosts = page.streams.filter(({ open }) => open).map(({ host }) => host);
  return new Set(hosts).size === count;
});

/** A person, with the streams that their page has. */
async function visitor(desk, prepare) {
  const page = await person("about:blank");
  await prepare?.(page);
  page.streams = [];
  page.on("response", (response) => {
    const url = new URL(response.url());
    if (url.pathname !== "/elicitation/events" || response.request().method() !== "GET") return;
    const stream = { host: url.host, open: response.ok(), request: response.request() };
    page.streams.push(stream);
  });
  for (const event of ["requestfinished", "requestfailed"]) {
    page.on(event, (request) => page.streams.filter((stream) => stream.request === request).forEach((stream) => (stream.open = false)));
  }
  await page.goto(desk.announced.launch);
  return page;
}

test("questions of three gateways: one page, oldest first, each answer where it belongs", async () => {
  const place = await session();
  const desks = [];
  for (let n = 0; n < 3; n++) desks.push(await Desk.startIn(place));
  const page = await visitor(desks[1]);
  await follows(page, 3);
  const servers = ["crm", "files", "mail"];
  const ids = [];
  for (const n of [2, 0, 1]) {
    ids[n] = await desks[n].ask(text(`What about ${servers[n]}?`), { server: servers[n], tool: `${servers[n]}_tool` });
    await dialog(page).getByText("What about mail?").waitFor(); // whichever is heard of first is shown, and stays
  }
  await dialog(page).getByText("1 of 3").waitFor();
  await shot(page, "gateways-dialog");
  await calm(page);
  await later(page).click();
  await page.getByText("3 questions are waiting").waitFor();
  assert.equal(await page.title(), "(3) Questions for you");
  const waiting = await page.locator(".waiting .asker strong").allTextContents();
  assert.deepEqual(waiting, ["mail", "crm", "files"]);
  await shot(page, "gateways-list");
  for (const [n, server] of [[2, "mail"], [0, "crm"], [1, "files"]]) {
    await page.getByRole("button", { name: "Answer" }).first().click();
    await dialog(page).getByText(server, { exact: true }).waitFor();
    await answer(page, `What about ${server}?`);
    const { action, by, fields } = await desks[n].ended(ids[n]);
    assert.deepEqual({ action, by, fields }, { action: "accept", by: { route: "page", human: true }, fields: ["name"] });
  }
  const before = page.getByRole("region", { name: "Earlier" });
  await eventually("all are told of", async () => (await before.locator("li").count()) === 3);
  assert.match(await before.innerText(), /files[\s\S]*crm[\s\S]*mail/);
  await shot(page, "gateways-before");
  assert.equal((await posts(page, "accept")).length, 3);
  assert.deepEqual(page.mistakes, []);
});

test("the process that served the page is killed: the rest goes on in the same tab", async () => {
  const place = await session();
  const [host, crm, files] = [await Desk.startIn(place), await Desk.startIn(place), await Desk.startIn(place)];
  const page = await visitor(host);
  await follows(page, 3);
  await page.evaluate(() => (window.same = true));
  await host.ask(text("Of the one that goes?"), { server: "gone" });
  await dialog(page).getByText("Of the one that goes?").waitFor(); // a question of another gateway may be heard of earlier
  const first = await crm.ask(text("Before?"), { server: "crm" });
  await dialog(page).getByText("1 of 2").waitFor();
  await host.end("SIGKILL");
  await page.getByText("The program that asked has ended").first().waitFor();
  await answer(page, "Before?");
  assert.equal((await crm.ended(first)).action, "accept");
  await page.getByText("Connected", { exact: true }).waitFor();
  await shot(page, "gateways-host-gone");

  const next = await files.ask(text("After?"), { server: "files" });
  await answer(page, "After?");
  assert.equal((await files.ended(next)).action, "accept");

  // Who comes later is told of by whoever lives.
  const late = await Desk.startIn(place);
  const last = await late.ask(text("Late?"), { server: "late" });
  await answer(page, "Late?");
  assert.equal((await late.ended(last)).action, "accept");
  const left = (await readdir(join(place, "midcall"))).filter((name) => name.endsWith(".json"));
  assert.deepEqual(left.sort(), [crm, files, late].map((desk) => `${desk.process.pid}.json`).sort(), "the file of the dead is gone");
  assert.equal(await page.evaluate(() => window.same), true, "the page was not loaded again");
});

test("a page whose process is gone still has every field, every language and the links", async () => {
  const place = await session();
  const [host, other] = [await Desk.startIn(place), await Desk.startIn(place)];
  const page = await visitor(host);
  await follows(page, 2);
  for (const file of ["/pattern-worker.js", "/page/locales/pt-BR.json", "/locales/pt-BR.json", "/locales/pt-BR.more.json", "/consent.js", "/unusual.js"]) {
    await eventually(`${file} is there`, () => page.evaluate((file) => performance.getEntriesByType("resource").some(({ name, responseEnd }) => responseEnd && name.endsWith(file)), file));
  }
  await host.end("SIGKILL");
  const all = await other.ask({
    message: "All of it",
    requestedSchema: {
      type: "object",
      properties: {
        day: { type: "string", format: "date", title: "Day" },
        code: { type: "string", pattern: "^[a-z]+$", title: "Code" },
        tags: { type: "array", items: { type: "string" }, title: "Tags" },
        key: { type: "string", title: "API key" },
        what: { type: "object", title: "What", additionalProperties: true },
      },
    },
  });
  await dialog(page).getByText("All of it").waitFor();
  await calm(page);
  await dialog(page).getByLabel("Code").fill("NO");
  await button(page, "Review").click();
  await eventually("the pattern is checked", async () => (await dialog(page).getByLabel("Code").getAttribute("aria-invalid")) === "true");
  await shot(page, "gateways-alone-form");
  await dialog(page).getByLabel("Code").fill("yes");
  await button(page, "Review").click();
  await button(page, "Submit").click();
  assert.equal((await other.ended(all)).action, "accept");
  await page.getByLabel("Language").selectOption("pt-BR");
  await page.getByText("Nenhuma pergunta no momento").waitFor();
  const link = await other.ask({ mode: "url", message: "Assine", url: "https://example.com/x", elicitationId: "e" });
  await dialog(page).getByText("Assine").waitFor();
  await calm(page);
  await dialog(page).getByRole("button", { name: "Recusar", exact: true }).click();
  assert.equal((await other.ended(link)).action, "decline");
  await shot(page, "gateways-alone");
});

test("a reload at a living gateway gathers all again, and what was typed is still there", async () => {
  const place = await session();
  const [host, other] = [await Desk.startIn(place), await Desk.startIn(place)];
  const page = await visitor(host);
  await follows(page, 2);
  const id = await other.ask(text("Half?"), { server: "crm" });
  await dialog(page).getByText("Half?").waitFor();
  await calm(page);
  await dialog(page).getByLabel("Name").fill("half a na");
  const kept = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  const launched = (await posts(page, "launch")).length;
  const own = await host.ask(text("Later?"), { server: "files" });
  await dialog(page).getByText("1 of 2").waitFor();
  await stopClock(page); // all are waited for, as long as it takes
  await page.reload();
  await dialog(page).getByText("Half?").waitFor(); // the oldest, though another one is the page's own
  await dialog(page).getByText("1 of 2").waitFor();
  await page.clock.resume();
  assert.equal(await dialog(page).getByLabel("Name").inputValue(), "half a na");
  assert.ok((await posts(page, "launch")).length > launched, "it is let in anew");
  assert.equal((kept.match(/"midcall\.bearer/g) ?? []).length, 1, "no key to another gateway is kept");
  await calm(page);
  await button(page, "Submit").click();
  assert.equal((await other.ended(id)).action, "accept");
  await answer(page, "Later?");
  assert.equal((await host.ended(own)).action, "accept");
});

test("a gateway that ends by itself takes its questions back; only the last one is a lost connection", async () => {
  const place = await session();
  const [host, other] = [await Desk.startIn(place), await Desk.startIn(place)];
  const page = await visitor(host);
  await follows(page, 2);
  await other.ask(text("Soon over?"), { server: "crm" });
  await dialog(page).getByText("Soon over?").waitFor();
  await other.end();
  await page.getByText("The program that asked has ended").first().waitFor();
  await page.getByText("Connected", { exact: true }).waitFor();
  await host.end();
  await page.getByText("Connection lost. Trying again…").waitFor();
});

test("a gateway that hangs keeps its questions, and the others go on", async () => {
  const place = await session();
  const [host, other] = [await Desk.startIn(place), await Desk.startIn(place)];
  const page = await visitor(host);
  await follows(page, 2);
  const slow = await other.ask(text("Slow?"), { server: "crm" });
  await dialog(page).getByText("Slow?").waitFor();
  other.process.kill("SIGSTOP");
  await calm(page);
  await later(page).click();
  const quick = await host.ask(text("Quick?"), { server: "files" });
  await answer(page, "Quick?");
  assert.equal((await host.ended(quick)).action, "accept");
  await page.getByText("1 question is waiting").waitFor();
  other.process.kill("SIGCONT");
  await page.getByRole("button", { name: "Answer" }).click();
  await answer(page, "Slow?");
  assert.equal((await other.ended(slow)).action, "accept");
});

test("a gateway that is started again at the same place is found again by the others' word", async () => {
  const place = await session();
  const [host, other] = [await Desk.startIn(place), await Desk.startIn(place)];
  const page = await visitor(host, stopClock); // it never tries again because time has passed
  await follows(page, 2);
  const { host: address } = new URL(host.announced.page);
  await host.ask(text("Of the first?"), { server: "gone" });
  await dialog(page).getByText("Of the first?").waitFor();
  await host.end("SIGKILL");
  await page.getByText("The program that asked has ended").first().waitFor();
  const again = await Desk.startIn(place, "--page-addr", address);
  const id = await again.ask(text("Of the second?"), { server: "again" });
  await dialog(page).getByText("Of the second?").waitFor();
  await page.clock.resume();
  await answer(page, "Of the second?");
  assert.equal((await again.ended(id)).action, "accept");
  const mail = await other.ask(text("Still there?"));
  await answer(page, "Still there?");
  assert.equal((await other.ended(mail)).action, "accept");
});

test("the demo stays by itself", async () => {
  const place = await session();
  await demo({ place });
  const desk = await Desk.startIn(place);
  const names = await readdir(join(place, "midcall"));
  assert.deepEqual(names.filter((name) => name.endsWith(".json")), [`${desk.process.pid}.json`]);
});
