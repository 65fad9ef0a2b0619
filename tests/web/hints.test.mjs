// How a text should be typed: MCP's schemas have no word for it, so servers say it beside them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { calm, Desk, person } from "./world.mjs";

const asked = (hints) => ({
  message: "What happened?",
  requestedSchema: { type: "object", properties: { story: { type: "string", title: "Story" }, code: { type: "string", title: "Reference" } } },
  _meta: { "dev.midcall/hints": hints },
});

test("hints become a text of several lines and a placeholder, and what is typed arrives", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const id = await desk.ask(asked({ "/story": { multiline: true, placeholder: "Once\u202e" }, "/code": { placeholder: "AB12" } }));
  const [story, code] = [page.getByLabel("Story"), page.getByLabel("Reference")];
  assert.equal(await story.evaluate((control) => control.localName), "textarea");
  assert.equal(await story.getAttribute("placeholder"), "Once<U+202E>", "nothing is hidden in it");
  assert.equal(await code.evaluate((control) => control.localName), "input");
  assert.equal(await code.getAttribute("placeholder"), "AB12");
  await calm(page);
  await story.fill("One\nTwo");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  const ended = await desk.ended(id);
  assert.deepEqual(ended.fields, ["story"], "a placeholder is no answer");
  assert.deepEqual(page.mistakes, []);
});

test("hints that are none change nothing", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  await desk.ask(asked({ "/story": { multiline: "yes", placeholder: 7 }, "/code": null, story: { multiline: true } }));
  for (const label of ["Story", "Reference"]) {
    const control = page.getByLabel(label);
    assert.equal(await control.evaluate((control) => control.localName), "input");
    assert.equal(await control.getAttribute("placeholder"), null);
  }
});

test("a secret in letters of another script is masked, because the gateway marks it", async () => {
  const desk = await Desk.start();
  const page = await person(desk);
  const schema = { type: "object", properties: { a: { type: "string", title: "P\u0430ssword" }, b: { type: "integer", title: "\u0420\u0406N" } } };
  await desk.ask({ message: "Who are you?", requestedSchema: schema });
  for (const { title } of Object.values(schema.properties)) {
    assert.equal(await page.getByLabel(title).getAttribute("type"), "password", title);
  }
  assert.match(await page.getByRole("dialog").innerText(), /ask for a password.*ask for a PIN/s);
  assert.deepEqual(page.mistakes, []);
});
