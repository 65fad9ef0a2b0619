// What a person has begun is theirs, and what a server sends cannot take the question away.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, asking, calm, fired, focused, form, part, told } from "./element-page.mjs";

const problem = [{ path: "", key: "mcp.elicitation.problem.too_big", params: {} }];

test("other news leave the person's work alone", async () => {
  const page = await asking(form({ unit: { type: "string", title: "Unit", enum: ["C", "F"] }, day: { type: "string", title: "Day", format: "date" } }));
  await part(page, "more").click();
  await page.getByLabel("Reason", { exact: true }).focus();
  await page.keyboard.type("not now");
  await page.keyboard.press("ArrowLeft");
  for (const [name, value] of [["queue", "1/2"], ["tool", "plan"], ["server-name", "sky"]]) {
    await page.evaluate(([name, value]) => element.setAttribute(name, value), [name, value]);
  }
  await page.getByText("1 of 2").waitFor();
  await page.getByText("sky").first().waitFor();
  assert.equal(await focused(page), "Reason");
  await page.keyboard.type("!");
  assert.equal(await page.getByLabel("Reason", { exact: true }).inputValue(), "not no!w");

  await part(page, "segments").getByText("F", { exact: true }).click();
  await page.evaluate(() => element.setAttribute("queue", "1/3"));
  assert.ok(await page.evaluate(() => element.shadowRoot.activeElement?.type === "radio"));
  await page.evaluate(() => element.setAttribute("locale", "pt-BR"));
  await page.locator("dialog[lang=pt-BR]").waitFor();
  assert.equal(await page.locator("#reason").inputValue(), "not no!w", "drawn anew in another language, it is still there");
});

test("half a date is a problem, and can be given up", async () => {
  const page = await asking(form({ start: { type: "string", title: "Start", format: "date-time" } }));
  await page.keyboard.type("03");
  await part(page, "accept").click();
  await page.getByText("Complete the date").first().waitFor();
  assert.deepEqual(await fired(page), []);
  assert.deepEqual(await page.evaluate(() => JSON.parse(JSON.stringify(element.typed))), { "/start": null });
  await page.evaluate(() => element.setAttribute("locale", "pt-BR"));
  await page.locator("dialog[lang=pt-BR]").waitFor();
  await part(page, "accept").click();
  assert.deepEqual(await answer(page), { action: "accept", content: {} });
});

test("a default that was taken away does not come back with the draft", async () => {
  const request = form({ unit: { type: "string", title: "Unit", enum: ["C", "F"], default: "C" }, city: { type: "string", title: "City", default: "Lisbon" } });
  const page = await asking(request);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByLabel("City").fill("");
  await page.evaluate((request) => {
    const draft = JSON.parse(JSON.stringify(element.typed));
    element.request = request;
    element.typed = draft;
  }, request);
  await part(page, "accept").click();
  assert.deepEqual(await answer(page), { action: "accept", content: {} });
});

test("what destroys says so in words", async () => {
  const page = await asking({ message: "Go on?", requestedSchema: { type: "object", properties: {} } }, { destructive: "" });
  await page.getByText("This may delete or overwrite something for good").waitFor();
  assert.match((await told(page, ".accept")).description, /delete or overwrite/);
});

test("words that are none are left out, and the question can be refused", async () => {
  const odd = { toString: 1, valueOf: 1 };
  for (const request of [{ ...form({ a: { type: "string" } }), title: odd, message: odd }, { ...form({ a: { type: "string", title: odd, description: odd } }) }]) {
    const page = await asking(request);
    await part(page, "reject").click();
    assert.deepEqual(await answer(page), { action: "decline" });
    assert.deepEqual(page.mistakes, []);
  }
});

for (const [what, request] of Object.entries({
  "a refused link": { mode: "url", message: "Sign in", url: "javascript:alert(1)" },
  "a form nobody can read": { message: "What?", requestedSchema: { type: "object", properties: 7 } },
})) {
  test(`${what}: that it could not be refused is seen`, async () => {
    const page = await asking(request);
    await part(page, "reject").click();
    await answer(page);
    await page.evaluate((problem) => void (element.problems = problem), problem);
    assert.ok(await part(page, "problems").getByText("This is too big to send").isVisible());
  });
}

test("an opened link stays open when finishing fails", async () => {
  const page = await asking({ mode: "url", message: "Sign in", url: "https://accounts.example/" });
  await page.evaluate(() => void (element.opened = true));
  await calm(page);
  await part(page, "accept").click();
  await page.evaluate((problem) => void (element.problems = problem), problem);
  assert.ok(await page.evaluate(() => element.opened));
  assert.ok(await part(page, "problems").getByText("This is too big to send").isVisible());
});

test("problems that were told too early are shown when the form is", async () => {
  const page = await asking();
  await page.evaluate(([request, problem]) => {
    element.setAttribute("locale", "pt-BR");
    element.request = request;
    element.problems = problem;
  }, [form({ code: { type: "string", title: "Code", pattern: "^[A-Z]+$" } }), problem]);
  await part(page, "problems").locator("li").waitFor();
});

test("a link whose parts cannot be loaded can be refused", async () => {
  const page = await asking();
  await page.route("**/consent.js", (route) => route.abort());
  await page.evaluate(() => void (element.request = { mode: "url", message: "Sign in", url: "https://accounts.example/" }));
  await part(page, "reject").click();
  assert.deepEqual(await answer(page), { action: "decline" });
});

test("an answer that is still being checked is not given after another", async () => {
  const page = await asking(form({ code: { type: "string", title: "Code", pattern: "^[A-Z]+$" } }));
  await page.getByLabel("Code").fill("ABC");
  await page.evaluate(async () => {
    const accepting = element.accept();
    element.cancel();
    element.problems = []; // the host could not send it
    await accepting;
  });
  assert.deepEqual(await answer(page), { action: "cancel" });
});

test("secrets stay secret: in tags, and from the browser", async () => {
  const page = await asking(form({ password: { type: "array", title: "Old password", items: { type: "string" } }, key: { type: "string", title: "API key" } }));
  const tags = page.getByRole("dialog").locator(".tags input");
  assert.equal(await tags.getAttribute("type"), "password");
  await tags.fill("xyzzy");
  await tags.press("Enter");
  assert.ok(!(await page.getByRole("dialog").innerText()).includes("xyzzy"));
  const key = page.getByLabel("API key");
  assert.equal(await key.getAttribute("autocomplete"), "new-password");
  assert.equal(await key.getAttribute("spellcheck"), "false");
});

test("a field that the gateway marked is masked, whatever its words say", async () => {
  const mark = "dev.midcall/secret";
  const page = await asking(form({ a: { type: "integer", title: "One", [mark]: "pin" }, b: { type: "string", title: "Two", format: "email", [mark]: "card_code" }, c: { type: "string", title: "Three", [mark]: "constructor" } }));
  assert.equal(await page.getByLabel("One").getAttribute("type"), "password");
  assert.equal(await page.getByLabel("Two").getAttribute("type"), "password");
  assert.notEqual(await page.getByLabel("Three").getAttribute("type"), "password");
  const shown = await page.getByRole("dialog").innerText();
  assert.match(shown, /ask for a PIN.*ask for a card security code/s);
});

test("nothing is hidden in the review", async () => {
  const page = await asking(form(Object.fromEntries("abcde".split("").map((name) => [name, { type: "string", default: name + "\u202e" }]))));
  await part(page, "accept").click();
  await part(page, "review").waitFor();
  assert.match(await part(page, "review").innerText(), /a<U\+202E>/);
});
