// Words and values as people write them: no names from a program, no raw pattern where words explain it, times with their zone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { asking, form, part, told } from "./element-page.mjs";

const CLOCK = new Date("2027-01-01T12:00:00Z");

test("until when is told from the start, in the person's own way", async () => {
  for (const [locale, deadline, expected] of [
    ["en-US", "2027-01-01T15:54:00Z", /^until 12:54\sPM$/],
    ["en-GB", "2027-01-01T15:54:00Z", /^until 12:54$/],
    ["pt-BR", "2027-01-01T15:54:00Z", /^até 12:54$/],
    ["pt-BR", "2027-01-03T15:54:00Z", /^até 3 de jan\. de 2027, 12:54$/],
  ]) {
    const page = await asking(form({ a: { type: "string" } }), { deadline, locale }, { clock: CLOCK, timezoneId: "America/Sao_Paulo", locale });
    await part(page, "until").waitFor();
    assert.match(await part(page, "until").textContent(), expected);
    assert.match((await told(page, "dialog")).description, /^(until|até)/);
  }
});

test("names of a program aren't shown, and neither are its comments", async () => {
  const page = await asking(form({ seat_kind: { type: "string" }, windowSeat: { type: "boolean" }, userID: { type: "string" }, "e-mail": { type: "string" } }, [], { title: "BookTable", description: "A struct that holds the booking." }));
  assert.deepEqual(await part(page, "label").allTextContents(), ["Seat kind", "Window seat", "User ID", "E mail"]);
  const shown = await page.getByRole("dialog").innerText();
  assert.ok(!shown.includes("BookTable") && !shown.includes("struct"), shown);
  await page.getByRole("heading", { name: "Please tell", exact: true }).waitFor();
});

test("a field's own words explain its pattern, then its example; the pattern itself comes last", async () => {
  const pattern = "^[A-Z]{2}-\\d{4}$";
  const page = await asking(form({
    a: { type: "string", title: "A", pattern, description: "Two letters, a dash and four digits" },
    b: { type: "string", title: "B", pattern, examples: ["AB-1234"] },
    c: { type: "string", title: "C", pattern },
  }));
  for (const name of "ABC") await page.getByLabel(name, { exact: true }).fill("x");
  await part(page, "accept").click();
  await part(page, "problem").nth(2).waitFor();
  assert.deepEqual((await part(page, "problem").allTextContents()), [
    "This isn't in the expected format",
    "This isn't in the expected format, such as AB-1234",
    `This must match the server's pattern: ${pattern}`,
  ]);
});

test("a problem that only a newer gateway knows has words, too", async () => {
  const page = await asking(form({ a: { type: "string", title: "A" } }));
  await page.evaluate(() => void (element.problems = [{ path: "/a", key: "mcp.elicitation.problem.of_next_year", params: {} }]));
  await part(page, "problem").getByText("This does not fit what the server accepts").waitFor();
  assert.ok(!(await page.getByRole("dialog").innerText()).includes("mcp.elicitation"));
});

test("how many may be chosen is said in words", async () => {
  const items = { type: "string", enum: ["a", "b", "c", "d"] };
  const page = await asking(form({
    a: { type: "array", title: "A", items, maxItems: 3 }, b: { type: "array", title: "B", items, minItems: 2, maxItems: 3 },
    c: { type: "array", title: "C", items, minItems: 2, maxItems: 2 }, d: { type: "array", title: "D", items, minItems: 2 },
  }));
  assert.deepEqual(await part(page, "help").allTextContents(), ["Choose up to 3", "Choose 2 to 3", "Choose 2", "Choose at least 2"]);
});

test("the review writes dates as the person does, with the time zone, and an empty default says nothing", async () => {
  const fields = {
    day: { type: "string", title: "Day", format: "date", default: "2027-03-09" },
    start: { type: "string", title: "Start", format: "date-time", default: "2027-03-09T19:30:00Z" },
    note: { type: "string", title: "Note", default: "" }, b: { type: "string", title: "B" }, c: { type: "string", title: "C" },
  };
  const page = await asking(form(fields), { locale: "pt-BR" }, { timezoneId: "America/Sao_Paulo", locale: "pt-BR" });
  await page.getByText("Seu fuso horário: Horário Padrão de Brasília").waitFor();
  await part(page, "accept").click();
  await part(page, "review").waitFor();
  const [day, start, note] = await part(page, "review").locator("dd").allTextContents();
  assert.equal(day, "9 de março de 2027");
  assert.match(start, /^9 de março de 2027 às 16:30:00 (BRT|GMT-3)$/);
  assert.equal(note, "Em branco");
});

test("a note names the question, follows the language, and leaves by itself", async () => {
  const page = await asking(form({ a: { type: "string" } }), {}, { clock: CLOCK });
  await page.evaluate(() => element.close("withdrawn"));
  const note = page.getByRole("status");
  assert.match((await note.innerText()).replace(/\s+/g, " "), /weather The server no longer needs an answer Please tell/);
  await page.evaluate(() => element.setAttribute("locale", "pt-BR"));
  await note.getByText("O servidor não precisa mais de resposta").waitFor();
  await note.hover();
  await page.clock.runFor(60_000);
  await note.getByText("Please tell").waitFor(); // while it is read
  await page.mouse.move(5, 5);
  await page.clock.runFor(8_000);
  assert.equal(await note.textContent(), "");
  assert.deepEqual(await page.evaluate(() => window.fired.map(({ type }) => type)), ["closed"]);
});
