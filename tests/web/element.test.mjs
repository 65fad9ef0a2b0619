// <mcp-elicitation>: a request goes in, an answer comes out. T1 to T9 are the Koder specification's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, asking, calm, fired, focused, form, part, told } from "./element-page.mjs";
import { fits, judge } from "./looks.mjs";

const CITY = form(
  { city: { type: "string", title: "City", description: "Your city" }, unit: { type: "string", title: "Unit", enum: ["C", "F"] } },
  ["city"],
);
const submit = (page) => part(page, "accept");

test("T1: a schema with two fields draws both", async () => {
  const page = await asking(CITY);
  assert.equal(await part(page, "field").count(), 2);
  await page.getByLabel("City").waitFor();
  await page.getByRole("radiogroup", { name: "Unit" }).waitFor();
  assert.deepEqual(page.mistakes, []);
});

test("T2: while a required field is missing, submit is disabled, says why, and the field is invalid", async () => {
  const page = await asking(CITY);
  assert.ok(await submit(page).isDisabled());
  assert.equal(await submit(page).getAttribute("aria-disabled"), "true");
  assert.equal(await part(page, "problems").textContent(), "1 required answer is missing");
  assert.equal(await page.getByLabel("City").getAttribute("aria-invalid"), null, "nobody has been there yet");

  await submit(page).click({ force: true });
  assert.equal(await page.getByLabel("City").getAttribute("aria-invalid"), "true");
  assert.equal(await part(page, "problem").first().textContent(), "Please fill this in");
  assert.equal(await focused(page), "City");
  assert.deepEqual(await fired(page), []);

  await page.getByLabel("City").fill("Lisbon");
  assert.ok(await submit(page).isEnabled());
  assert.equal(await page.getByLabel("City").getAttribute("aria-invalid"), null);
  assert.equal(await part(page, "problems").textContent(), "");
});

test("T3: a form that fits is sent, without what was left empty", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisbon");
  await submit(page).click();
  assert.deepEqual(await answer(page), { action: "accept", content: { city: "Lisbon" } });
});

test("T4: one click rejects, and a reason may go with it", async () => {
  const page = await asking(CITY);
  await part(page, "reject").click();
  assert.deepEqual(await answer(page), { action: "decline" });

  const other = await asking(CITY);
  await part(other, "more").click();
  await other.getByLabel("Reason", { exact: true }).fill("  not today ");
  await part(other, "reject").click();
  assert.deepEqual(await answer(other), { action: "decline", _meta: { "dev.midcall/reason": "not today" } });
});

for (const [how, act] of [
  ["Esc", (page) => page.keyboard.press("Escape")],
  ["the close button", (page) => page.getByRole("button", { name: "Close" }).click()],
  ["the cancel button", async (page) => (await part(page, "more").click(), await part(page, "cancel").click())],
  ["Esc after a click beside it", async (page) => (await page.mouse.click(5, 5), page.keyboard.press("Escape"))],
]) {
  test(`T5: ${how} cancels`, async () => {
    const page = await asking(CITY);
    await act(page);
    assert.deepEqual(await answer(page), { action: "cancel" });
  });
}

test("T6: opening a link is the consent, finishing comes later", async () => {
  const page = await asking({ mode: "url", message: "Sign in", url: "https://accounts.example/a?b=1" });
  assert.equal(await part(page, "host").textContent(), "accounts.example");
  assert.equal(await part(page, "url").textContent(), "https://accounts.example/a?b=1");
  assert.equal(await page.locator("mcp-elicitation a").count(), 0, "nothing to click by accident");
  assert.equal(await focused(page), "dialog", "an Enter meant for something else opens nothing");

  await page.getByRole("button", { name: "Open link" }).click();
  assert.deepEqual(await page.evaluate(() => window.opened), [["https://accounts.example/a?b=1", "_blank", "noopener,noreferrer"]]);
  assert.deepEqual(await fired(page), [
    { type: "open", detail: { url: "https://accounts.example/a?b=1" } },
    { type: "answer", detail: { action: "accept" } },
  ]);
  assert.equal(await page.locator("mcp-elicitation [aria-live]").last().textContent(), "Opening external page");
  assert.ok(await page.evaluate(() => element.opened));

  await page.getByRole("button", { name: "Open again" }).click();
  assert.equal(await page.evaluate(() => window.opened.length), 2);
  await page.getByRole("button", { name: "I've finished" }).click();
  assert.deepEqual((await fired(page)).slice(2), [
    { type: "open", detail: { url: "https://accounts.example/a?b=1" } },
    { type: "finished", detail: { action: "accept" } },
  ]);
});

test("T6: an opened link leads to the newest address of its site, and to no other", async () => {
  const page = await asking({ mode: "url", message: "Sign in", url: "https://accounts.example/a?try=1" });
  const renew = (url) => page.evaluate((url) => element.renew(url), url);
  await renew("https://accounts.example/a?try=2");
  assert.equal(await part(page, "url").textContent(), "https://accounts.example/a?try=1", "the person hasn't agreed yet");
  await page.getByRole("button", { name: "Open link" }).click();
  await page.getByRole("button", { name: "Open again" }).focus();
  await renew("https://accounts.example/b?try=3");
  assert.equal(await part(page, "url").textContent(), "https://accounts.example/b?try=3");
  assert.equal(await page.evaluate(() => element.shadowRoot.activeElement.textContent), "Open again", "the focus stays where it is");
  for (const elsewhere of ["https://evil.example/", "http://accounts.example/", "https://accounts.example:8443/", "javascript:alert(1)", "no address"]) await renew(elsewhere);
  await page.getByRole("button", { name: "Open again" }).click();
  const opened = await page.evaluate(() => window.opened.map(([url]) => url));
  assert.deepEqual(opened, ["https://accounts.example/a?try=1", "https://accounts.example/b?try=3"]);
});

test("T6: giving up after a link was opened", async () => {
  const page = await asking({ mode: "url", message: "Sign in", url: "https://accounts.example/" });
  await page.evaluate(() => void (element.opened = true));
  await calm(page);
  await page.keyboard.press("Escape");
  assert.deepEqual(await fired(page), [{ type: "finished", detail: { action: "cancel" } }]);
});

test("a host may open links its own way", async () => {
  const page = await asking({ mode: "url", message: "Sign in", url: "https://accounts.example/" });
  await page.evaluate(() => addEventListener("elicitation-open", (event) => event.preventDefault()));
  await page.getByRole("button", { name: "Open link" }).click();
  assert.deepEqual(await page.evaluate(() => window.opened), []);
  assert.deepEqual(await answer(page), { action: "accept" });
});

test("a refused link says why and cannot be opened", async () => {
  const page = await asking({ mode: "url", message: "Sign in", url: "javascript:alert(1)" });
  await page.getByText("This link cannot be opened").waitFor();
  assert.equal(await submit(page).count(), 0);
  await page.evaluate(() => element.accept());
  assert.deepEqual(await page.evaluate(() => window.opened), []);
  assert.deepEqual(await fired(page), []);
});

test("a link that imitates says so", async () => {
  const page = await asking({ mode: "url", message: "Sign in", url: "https://weather.example@evil.example/" });
  await page.getByText("What stands before the “@” is not the site. This link opens evil.example").waitFor();
  assert.equal(await part(page, "host").textContent(), "evil.example");
});

test("T7: the last 30 seconds are counted, then it says so and waits to be closed", async () => {
  const clock = new Date("2027-01-01T12:00:00Z");
  const page = await asking(CITY, { deadline: "2027-01-01T12:05:00Z" }, { clock });
  await page.clock.runFor(269_000);
  assert.ok(await part(page, "countdown").isHidden());
  await page.clock.runFor(2_000);
  assert.equal(await part(page, "countdown").textContent(), "Closing in 29s");
  const live = page.locator("mcp-elicitation [aria-live]").nth(1);
  assert.equal(await live.textContent(), "Closing in 30s");
  await page.clock.runFor(15_000);
  assert.equal(await part(page, "countdown").textContent(), "Closing in 14s");
  assert.equal(await live.textContent(), "Closing in 30s", "each second would drown all else");
  await page.clock.runFor(5_000);
  assert.equal(await live.textContent(), "Closing in 10s");
  await page.clock.runFor(10_000);
  assert.deepEqual(await fired(page), [{ type: "timeout" }].map((one) => ({ ...one, detail: null })));
  assert.equal(await part(page, "countdown").textContent(), "Time's up");
  assert.equal(await live.textContent(), "Time's up");
  assert.ok(await page.getByRole("dialog").isVisible(), "this clock does not decide");
  await page.evaluate(() => element.close("timed_out"));
  assert.ok(await page.getByRole("dialog").isHidden());
  assert.equal(await page.getByRole("status").innerText().then((text) => text.replace(/\s+/g, " ")), "weather Time ran out Please tell ×");
  assert.equal(await focused(page), "before");
});

test("T8: closed by the server, it says how and sends nothing", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisbon");
  await page.evaluate(() => element.close("withdrawn"));
  assert.ok(await page.getByRole("dialog").isHidden());
  await page.getByText("The server no longer needs an answer").waitFor();
  await page.evaluate(() => element.accept());
  assert.deepEqual(await fired(page), []);
  await page.getByRole("button", { name: "Close" }).click();
  assert.equal(await page.getByRole("status").textContent(), "");
  assert.deepEqual(await fired(page), [{ type: "closed", detail: null }]);
});

test("T9: dismissed, it goes without a word", async () => {
  const page = await asking(CITY);
  await page.evaluate(() => element.dismiss());
  assert.ok(await page.getByRole("dialog").isHidden());
  assert.equal(await focused(page), "before");
  assert.deepEqual(await fired(page), []);
});

test("a pattern is held against the answer when it is sent", async () => {
  const page = await asking(form({ code: { type: "string", title: "Code", pattern: "^[A-Z]{3}$" } }));
  await page.getByLabel("Code").fill("abc");
  await submit(page).click();
  await page.getByText("This must match the server's pattern: ^[A-Z]{3}$").first().waitFor();
  await page.getByLabel("Code").fill("ABC");
  await submit(page).click();
  assert.deepEqual(await answer(page), { action: "accept", content: { code: "ABC" } });
});

const UNCHECKED = {
  en: "The format of this answer can't be checked before you send it",
  "pt-BR": "O formato desta resposta não pode ser verificado antes do envio",
};

for (const [locale, note] of Object.entries(UNCHECKED)) {
  test(`a field whose format can't be checked says so, in ${locale}`, async () => {
    const page = await asking(form({
      code: { type: "string", title: "Code", pattern: "^(?=.*\\d).{3,}$" },
      plain: { type: "string", title: "Plain", pattern: "^a" },
      tags: { type: "array", title: "Tags", items: { type: "string", pattern: "(.)\\1" } },
      tree: { title: "Tree", $ref: "#/$defs/tree" },
    }, [], { $defs: { tree: { type: "array", items: { $ref: "#/$defs/tree" } } } }), { locale });
    const noted = () => part(page, "field").filter({ has: page.getByText(note) }).locator("label, legend").allTextContents();
    assert.deepEqual(await noted(), ["Code", "Tags", "Tree"]);
    assert.ok((await told(page, "#f0")).description.includes(note));
    await fits(page, `unchecked in ${locale}`);
    await judge(page, `unchecked in ${locale}`);

    await page.getByLabel("Plain").fill("a".repeat(40_001));
    assert.deepEqual(await noted(), ["Code", "Plain", "Tags", "Tree"]);
    await page.getByLabel("Plain").fill("a");
    assert.deepEqual(await noted(), ["Code", "Tags", "Tree"]);
    await page.getByLabel("Code").fill("no digit");
    await submit(page).click();
    assert.deepEqual(await answer(page), { action: "accept", content: { code: "no digit", plain: "a" } });
    assert.deepEqual(page.mistakes, []);
  });
}

test("the review says which answers can't be checked", async () => {
  const text = (title, pattern) => ({ type: "string", title, pattern });
  const page = await asking(form({
    code: text("Code", "(?=a)"), empty: text("Empty", "(?=a)"), long: text("Long", "^a"), short: text("Short", "^a"),
    home: { type: "object", title: "Home", properties: { zip: text("Zip", "(?!a)") } },
  }));
  for (const [label, words] of [["Code", "b"], ["Long", "a".repeat(40_000)], ["Zip", "1"]]) await page.getByLabel(label).fill(words);
  await submit(page).click();
  const noted = part(page, "review").locator("div:has(> dd.unchecked) > dt");
  await noted.first().waitFor();
  assert.deepEqual(await noted.allTextContents(), ["Code", "Long", "Zip"]);
  await fits(page, "review of unchecked answers");
});

test("the summary links to its fields", async () => {
  const page = await asking(form({ name: { type: "string", title: "Name" }, age: { type: "integer", title: "Age" } }, ["name", "age"]));
  await page.getByLabel("Age").fill("old");
  await submit(page).click({ force: true });
  assert.match(await part(page, "problems").innerText(), /2 answers need another look\s+Name: Please fill this in\s+Age: Enter a whole number/);
  assert.equal(await page.locator("mcp-elicitation [aria-live]").first().textContent(), "2 answers need another look");
  await part(page, "problems").getByRole("link", { name: "Age" }).click();
  assert.equal(await focused(page), "Age");
  assert.match(page.url(), /\/$/, "the page's address is its own");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("7");
  assert.match(await part(page, "problems").innerText(), /1 answer needs another look\s+Name/);
});

test("problems that the server found open the form again", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Atlantis");
  await submit(page).click();
  await answer(page);
  assert.equal(await page.getByRole("dialog").getAttribute("aria-busy"), "true");
  await page.evaluate(() => void (element.problems = [{ path: "/city", key: "mcp.elicitation.problem.not_an_option", params: {} }]));
  assert.equal(await page.getByRole("dialog").getAttribute("aria-busy"), "false");
  assert.equal(await page.getByLabel("City").inputValue(), "Atlantis");
  assert.equal(await page.getByLabel("City").getAttribute("aria-invalid"), "true");
  assert.equal(await focused(page), "City");
  await page.keyboard.type("!");
  assert.equal(await page.getByLabel("City").getAttribute("aria-invalid"), null, "what was changed is no longer known to be wrong");
});

test("an answer is given once", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisbon");
  await page.evaluate(async () => {
    await Promise.all([element.accept(), element.accept()]);
    element.decline();
    element.cancel();
  });
  assert.deepEqual(await answer(page), { action: "accept", content: { city: "Lisbon" } });
  await page.keyboard.press("Escape");
  assert.equal((await fired(page)).length, 1);
  assert.ok(await page.getByRole("dialog").isHidden(), "the person may stop waiting");
});

test("an Enter meant for something else does not send a form nobody has touched", async () => {
  const page = await asking(form({ city: { type: "string", title: "City", default: "Lisbon" } }));
  assert.equal(await focused(page), "City");
  await page.keyboard.press("Enter");
  assert.deepEqual(await fired(page), []);
  assert.equal(await focused(page), "City", "a second one would send it");
  await submit(page).click();
  assert.deepEqual(await answer(page), { action: "accept", content: { city: "Lisbon" } });
});

test("a question without fields is approved or refused, and starts on neither", async () => {
  const page = await asking({ message: "Delete 3 files?", requestedSchema: { type: "object", properties: {} } });
  assert.equal(await focused(page), "dialog");
  await page.keyboard.press("Enter");
  assert.deepEqual(await fired(page), []);
  await page.getByRole("button", { name: "Approve" }).click();
  assert.deepEqual(await answer(page), { action: "accept", content: {} });
});

test("a long form is read once more before it is sent, and can be changed", async () => {
  const names = ["a", "b", "c", "d", "password"];
  const page = await asking(form(Object.fromEntries(names.map((name) => [name, { type: "string", title: name.toUpperCase() }]))));
  await page.getByLabel("A", { exact: true }).fill("one");
  await page.getByLabel("PASSWORD").fill("hunter2");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByText("Check your answers before you send them").waitFor();
  assert.match(await part(page, "review").innerText(), /^A\s+one\s+B\s+Left empty[^]*PASSWORD\s+•+$/);
  assert.ok(!(await page.getByRole("dialog").innerText()).includes("hunter2"));
  assert.deepEqual(await fired(page), []);

  await page.getByRole("button", { name: "Change" }).click();
  assert.equal(await page.getByLabel("A", { exact: true }).inputValue(), "one");
  assert.equal(await page.getByLabel("PASSWORD").inputValue(), "hunter2");
  await page.getByLabel("B", { exact: true }).fill("two");
  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Submit" }).click();
  assert.deepEqual(await answer(page), { action: "accept", content: { a: "one", b: "two", password: "hunter2" } });
});

test("four fields are their own review", async () => {
  const page = await asking(form(Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, { type: "string" }]))));
  assert.equal(await submit(page).textContent(), "Submit");
});

test("what was typed can be kept and brought back, without secrets", async () => {
  const request = form({ city: { type: "string", title: "City" }, tags: { type: "array", title: "Tags", items: { type: "string" } }, api_key: { type: "string", title: "API key" } });
  const page = await asking(request);
  await page.getByLabel("City").fill("Lisbon");
  await page.getByRole("textbox", { name: "Tags" }).fill("a, b");
  await page.getByLabel("API key").fill("sk-123");
  const typed = await page.evaluate(() => element.typed);
  assert.deepEqual(typed, { "/city": "Lisbon", "/tags": ["a", "b"] });

  const other = await asking(request);
  await other.evaluate((typed) => void (element.typed = JSON.parse(JSON.stringify(typed))), typed);
  assert.equal(await other.getByLabel("City").inputValue(), "Lisbon");
  assert.deepEqual(await other.locator("mcp-elicitation .tags li bdi").allTextContents(), ["a", "b"]);
});

test("the language can be changed while someone types", async () => {
  const page = await asking(CITY);
  await page.getByLabel("City").fill("Lisboa");
  await page.evaluate(() => element.setAttribute("locale", "pt-BR"));
  await page.getByRole("button", { name: "Enviar" }).waitFor();
  assert.equal(await page.getByLabel("City").inputValue(), "Lisboa");
  assert.equal(await focused(page), "City");
  assert.equal(await page.getByRole("heading", { level: 2 }).textContent(), "weather pergunta");
});

test("who asks, for which tool, and how many wait", async () => {
  const page = await asking(CITY, { tool: "forecast", queue: "1/3" });
  assert.equal(await page.getByRole("heading", { level: 2 }).textContent(), "weather asks");
  assert.equal(await part(page, "tool").textContent(), "forecast");
  assert.equal(await part(page, "queue").textContent(), "1 of 3");
  await page.evaluate(() => element.setAttribute("queue", "1/4"));
  assert.equal(await part(page, "queue").textContent(), "1 of 4");
});

test("set before the tag is defined, a request is not lost", async () => {
  const page = await asking();
  await page.evaluate((request) => {
    const early = document.createElement("koder-mcp-elicitation");
    early.request = request;
    document.body.append(early);
    customElements.get("mcp-elicitation").define("koder-mcp-elicitation");
  }, CITY);
  await page.getByLabel("City").waitFor();
});

test("removed from the page, it gives the focus back", async () => {
  const page = await asking(CITY);
  await page.evaluate(() => element.remove());
  assert.equal(await page.evaluate(() => document.activeElement.id), "before");
});

test("a form nobody can read can be refused, not sent", async () => {
  const page = await asking({ message: "Hello", requestedSchema: { type: "string" } });
  await page.getByText("The server sent a form that can't be displayed").waitFor();
  assert.equal(await submit(page).count(), 0);
  await part(page, "reject").click();
  assert.deepEqual(await answer(page), { action: "decline" });
});

test("a ticket as the desk sends it is understood too", async () => {
  const { message: description, requestedSchema: schema } = CITY;
  const page = await asking({ type: "elicitation/request", id: "e_1", title: "Weather", description, schema });
  await page.getByRole("heading", { name: "Weather", exact: true }).waitFor();
  await page.getByText("Please tell").waitFor();
  await page.getByLabel("City").waitFor();
});
