// The page around the questions: what waits, what was, who is let in.
import assert from "node:assert/strict";
import { test } from "node:test";
import { anotherPerson, cancel, Desk, eventually, person, posts, record, shot, wake } from "./world.mjs";

const text = (message, more = {}) => ({ message, requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name", ...more } }, required: ["name"] } });

const dialog = (page) => page.getByRole("dialog");
const later = (page) => page.getByRole("button", { name: "Later", exact: true }); // The page's own, in the dialog's header.
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });

test("nothing waits: the page says so, and goes without complaint", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await page.getByText("No questions right now").waitFor();
  await page.getByText("Connected", { exact: true }).waitFor();
  assert.equal(await page.title(), "Questions for you");
  assert.equal(new URL(page.url()).hash, "", "the token is out of the address");
  assert.deepEqual(page.mistakes, []);
});

test("many questions are asked one at a time, oldest first, and counted in title and icon", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const ids = [];
  for (const name of ["First", "Second", "Third"]) ids.push(await desk.ask(text(`${name}?`), { server: "crm" }));
  await dialog(page).getByText("1 of 3").waitFor();
  await dialog(page).getByText("First?").waitFor();
  assert.equal(await page.title(), "(3) Questions for you");
  const icon = () => page.evaluate(() => decodeURIComponent(document.querySelector("link[rel=icon]").href));
  assert.match(await icon(), />3<\/text>/);
  for (const [name, place, id] of [["First?", "1 of 3", ids[0]], ["Second?", "1 of 2", ids[1]], ["Third?", "", ids[2]]]) {
    await dialog(page).getByText(name).waitFor();
    if (place) await dialog(page).getByText(place, { exact: true }).waitFor();
    else assert.equal(await dialog(page).getByText(/\d of \d/).count(), 0);
    await dialog(page).getByLabel("Name").fill("Ana");
    await button(page, "Submit").click();
    await desk.ended(id);
  }
  await page.getByText("No questions right now").waitFor();
  assert.equal(await page.title(), "Questions for you");
  assert.match(await icon(), /icon\.svg$/);
});

test("what was answered before is told by names, never by values", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(text("Who?"), { server: "crm", tool: "greet" });
  await dialog(page).getByLabel("Name").fill("Xyzzy");
  await button(page, "Submit").click();
  await desk.ended(id);
  const other = await desk.ask(text("And who else?"), { server: "crm" });
  await cancel(page);
  await desk.ended(other);
  await page.getByText("Sent: Name").waitFor();
  await page.locator(".before").getByText("Canceled").waitFor(); // only what the page has heard of is there after a reload
  await page.reload();
  const before = page.getByRole("region", { name: "Earlier" });
  const told = await before.innerText();
  assert.match(told, /crm[\s\S]*And who else\?[\s\S]*Canceled[\s\S]*crm[\s\S]*greet[\s\S]*Who\?[\s\S]*Answered[\s\S]*Sent: Name/);
  assert.ok(!(await page.content()).includes("Xyzzy"));
  assert.ok(!(await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }))).includes("Xyzzy"));
});

test("a question can be put off, and comes back on demand", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(text("Now?"));
  await dialog(page).getByLabel("Name").fill("half a na");
  await later(page).click();
  await dialog(page).waitFor({ state: "hidden" });
  const answer = page.getByRole("button", { name: "Answer" });
  await answer.waitFor();
  assert.equal(await answer.evaluate((node) => node === document.activeElement), true);
  assert.equal(await page.title(), "(1) Questions for you");
  await answer.click();
  assert.equal(await dialog(page).getByLabel("Name").inputValue(), "half a na");
  await button(page, "Submit").click();
  await desk.ended(id);
});

test("two browsers, one question: one wins, the other sees it closed and how", async () => {
  const desk = await Desk.start();
  const one = await person(desk);
  const other = await anotherPerson(desk, one);
  const id = await desk.ask(text("Who is first?"));
  await Promise.all([dialog(one).waitFor(), dialog(other).waitFor()]);
  await dialog(one).getByLabel("Name").fill("One");
  await dialog(other).getByLabel("Name").fill("Other");
  await button(one, "Submit").click();
  await desk.ended(id);
  await dialog(other).waitFor({ state: "hidden" });
  await other.getByText("This was already answered").waitFor();
  await other.getByText("Answered in another window").waitFor();
  assert.deepEqual(await posts(other, "accept"), []);
  await shot(other, "two-browsers-other");
});

test("two browsers press at once: the one that came late learns it from the refusal", async () => {
  const desk = await Desk.start();
  const one = await person(desk);
  const other = await anotherPerson(desk, one);
  const id = await desk.ask(text("Who is first?"));
  await Promise.all([dialog(one).getByLabel("Name").fill("One"), dialog(other).getByLabel("Name").fill("Other")]);
  const first = desk.ended(id);
  await other.route("**/accept", async (route) => {
    await first; // Its answer is on the way while the other one arrives.
    await route.continue();
  });
  await button(other, "Submit").click();
  await button(one, "Submit").click();
  await first;
  await other.getByText("This was already answered").waitFor();
  await other.getByText("Answered in another window").waitFor();
  assert.equal((await posts(other, "accept")).length, 1);
  await one.getByText("Sent: Name").waitFor();
});

test("an answer that the gateway finds unfit opens again, with the problem at its field", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await desk.ask(text("Who?"));
  await page.route("**/accept", (route) => route.fulfill({
    status: 422, contentType: "application/json",
    body: JSON.stringify({ error: "unfit", message: "1 value(s) do not fit", problems: [{ path: "/name", key: "mcp.elicitation.problem.too_long", params: { count: 3 } }] }),
  }));
  await dialog(page).getByLabel("Name").fill("Anastasia");
  await button(page, "Submit").click();
  const name = dialog(page).getByLabel("Name");
  await eventually("it is marked", async () => (await name.getAttribute("aria-invalid")) === "true");
  await dialog(page).getByText("Use at most 3 characters").first().waitFor();
  await shot(page, "unfit");
  assert.equal(await name.inputValue(), "Anastasia");
  await page.unroute("**/accept");
  await name.fill("Ana");
  await button(page, "Submit").click();
  await dialog(page).waitFor({ state: "hidden" });
});

test("a real 422: what only the gateway can find is shown too", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(text("Who?"));
  const { status } = await desk.script("POST", `/elicitation/${id}/accept`, { content: { name: 7 } });
  assert.equal(status, 422);
  await dialog(page).getByLabel("Name").fill("Ana");
  await button(page, "Submit").click();
  assert.equal((await desk.ended(id)).by.human, true);
});

test("a reload in mid-form keeps what was typed, in this tab only, and never a secret", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const params = {
    message: "Sign up",
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string", title: "Name" }, password: { type: "string", title: "Password" }, fun: { type: "boolean", title: "Fun" } },
      required: ["name"],
    },
  };
  const id = await desk.ask(params);
  await dialog(page).getByLabel("Name").fill("Ana");
  await dialog(page).getByLabel("Password").fill("hunter2");
  await dialog(page).getByText("Yes", { exact: true }).click();
  await page.reload();
  assert.equal(await dialog(page).getByLabel("Name").inputValue(), "Ana");
  assert.equal(await dialog(page).getByLabel("Yes").isChecked(), true);
  assert.equal(await dialog(page).getByLabel("Password").inputValue(), "");
  const stored = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  assert.ok(!stored.includes("hunter2"));

  const other = await page.context().newPage(); // Another tab of the same browser.
  record(other);
  await other.addInitScript((bearer) => sessionStorage.setItem("midcall.bearer", bearer), await page.evaluate(() => sessionStorage.getItem("midcall.bearer")));
  await other.goto(desk.announced.page);
  assert.equal(await dialog(other).getByLabel("Name").inputValue(), "");
  await button(other, "Decline").click();
  await desk.ended(id);
  await dialog(page).waitFor({ state: "hidden" });
  const drafts = await page.evaluate(() => Object.keys(sessionStorage).filter((name) => name.includes("draft")));
  assert.deepEqual(drafts, [], "a draft goes when its question does");
});

test("another language, at once and remembered", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await page.getByLabel("Language").selectOption("pt-BR");
  await page.getByText("Nenhuma pergunta no momento").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "pt-BR");
  await desk.ask(text("Quem?"));
  await dialog(page).getByRole("button", { name: "Enviar" }).waitFor();
  await page.getByRole("button", { name: "Depois" }).click();
  await page.reload();
  await page.getByRole("button", { name: "Depois" }).click();
  await page.getByText("1 pergunta aguarda").waitFor();
  await page.getByLabel("Idioma").selectOption("en-US");
  await page.getByText("1 question is waiting").waitFor();
});

test("the browser's language is followed", async () => {
  const desk = await Desk.start();
  const page = await person(desk, { locale: "pt-PT" });
  await page.getByText("Nenhuma pergunta no momento").waitFor();
});

test("without a link, with a used one, and after a restart a screen tells what to do", async () => {
  const desk = await Desk.start();
  const none = await person(desk.announced.page);
  await none.getByRole("heading", { name: "This page opens with a link" }).waitFor();
  const page = none;
  await page.goto(desk.announced.launch); // Pasted into the same tab: only what follows the # is new.
  await page.getByText("No questions right now").waitFor();
  const late = await person(desk);
  await late.getByRole("heading", { name: "This link no longer works" }).waitFor();

  // The tab that is in may be reloaded, and even opened by its old link again.
  await page.goto(desk.announced.launch);
  await page.getByText("No questions right now").waitFor();

  const port = new URL(desk.announced.page).port;
  await desk.end();
  await page.getByText("Connection lost").waitFor();
  const again = await Desk.start("--page-addr", `127.0.0.1:${port}`);
  await wake(page);
  await page.getByRole("heading", { name: "Midcall was started again" }).waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.getItem("midcall.bearer")), null);
  await page.goto(again.announced.launch);
  await page.getByText("No questions right now").waitFor();
});

test("a notification, once it is allowed and while the person looks elsewhere", async () => {
  const desk = await Desk.start();
  const page = await person("about:blank");
  await page.addInitScript(() => {
    window.shown = [];
    let permission = "default";
    window.Notification = class {
      static get permission() { return permission; }
      static async requestPermission() { return (permission = "granted"); }
      constructor(title, options) { this.title = title; Object.assign(this, options); window.shown.push(this); }
      close() { this.closed = true; }
    };
    document.hasFocus = () => window.focused ?? false;
  });
  await page.goto(desk.announced.launch);
  await page.getByText("No questions right now").waitFor();
  const silent = await desk.ask(text("Before it is allowed"));
  await dialog(page).waitFor();
  assert.deepEqual(await page.evaluate(() => window.shown.length), 0);
  await cancel(page);
  await desk.ended(silent);

  await page.getByRole("button", { name: "Notify me" }).click();
  await page.getByRole("button", { name: "Notifications on" }).waitFor();
  const id = await desk.ask(text("<b>Who?</b>"), { server: "crm" });
  const shown = await eventually("a notification", () => page.evaluate(() => window.shown[0] && { title: window.shown[0].title, body: window.shown[0].body, tag: window.shown[0].tag }));
  assert.deepEqual(shown, { title: "crm has a question for you", body: "<b>Who?</b>", tag: id });
  desk.withdraw(id);
  await eventually("it is taken back", () => page.evaluate(() => window.shown[0].closed));
  await page.evaluate(() => (window.focused = true));
  await desk.ask(text("Seen anyway"));
  await dialog(page).waitFor();
  assert.equal(await page.evaluate(() => window.shown.length), 1);
});

test("notifications that the browser blocks are said to be blocked", async () => {
  const desk = await Desk.start();
  const page = await person("about:blank");
  await page.addInitScript(() => {
    window.Notification = class { static permission = "denied"; static requestPermission() { window.asked = true; return Promise.resolve("denied"); } };
  });
  await page.goto(desk.announced.launch);
  const blocked = page.getByRole("button", { name: "Notifications blocked" });
  await blocked.waitFor();
  await blocked.click({ force: true });
  assert.equal(await page.evaluate(() => window.asked), undefined);
});

test("a server's hostile words are text, wherever they are shown", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const script = "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>";
  const long = "x".repeat(100_000);
  const bidi = "\u202egnp.exe";
  const params = {
    message: `${script} ${bidi} https://evil.example`,
    requestedSchema: {
      type: "object", title: script,
      properties: {
        a: { type: "string", title: long, description: `${script} <a href="https://evil.example">here</a>` },
        [script]: { type: "string", enum: [script, bidi, "<b>x</b>"] },
      },
    },
  };
  const id = await desk.ask(params, { server: script, tool: script + bidi, workspace: script });
  await dialog(page).waitFor();
  await shot(page, "hostile-dialog");
  await later(page).click();
  await page.getByRole("button", { name: "Answer" }).waitFor();
  await shot(page, "hostile-list");
  await page.getByRole("button", { name: "Answer" }).click();
  await cancel(page);
  await desk.ended(id);
  await page.getByRole("region", { name: "Earlier" }).waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("a[href*=evil], script:not([src]), img").count(), 0);
  assert.ok(!(await page.evaluate(() => document.body.innerText)).includes("\u202e"));
  assert.deepEqual(page.mistakes, [], "not even the policy had anything to do");
});

test("nothing that was typed is in the console, and nothing is fetched from elsewhere", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const said = [];
  const hosts = new Set();
  page.on("console", (message) => said.push(message.text()));
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  const id = await desk.ask(text("Who?"));
  await dialog(page).getByLabel("Name").fill("Xyzzy");
  await button(page, "Submit").click();
  await desk.ended(id);
  const link = await desk.ask({ mode: "url", message: "Look", url: "https://never.example/x", elicitationId: "e" });
  await button(page, "Decline").click();
  await desk.ended(link);
  assert.ok(!said.join().includes("Xyzzy"));
  assert.deepEqual([...hosts], [new URL(desk.announced.page).host]);
});

test("the skip link leads to the content, and not to the gateway", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await page.getByText("No questions right now").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  assert.equal((await posts(page, "launch")).length, 1);
});
