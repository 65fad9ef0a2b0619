/**
 * What a server might send to freeze a page, to the element alone: it is refused in words, or
 * drawn, within the patience that every story here has.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, asking, calm, form, part } from "./element-page.mjs";

/**
 * Asks one after the other on one page, which would stand still with the first that freezes it. As
 * text: that is how a host gets it, and Playwright's own copying takes longer than reading it.
 */
async function each(requests, story) {
  const page = await asking(undefined);
  for (const [what, request] of Object.entries(requests)) {
    try {
      await page.evaluate((json) => {
        fired.length = 0;
        element.request = JSON.parse(json);
      }, JSON.stringify(request));
      await page.getByRole("dialog").waitFor();
      await calm(page);
      await story(page);
    } catch (error) {
      throw new Error(what, { cause: error });
    }
  }
  assert.deepEqual(page.mistakes, []);
}

const it = { $ref: "#/$defs/it" };
const named = (count, of) => Object.fromEntries(Array.from({ length: count }, (_, n) => ["f" + n, of(n)]));
const texts = (count) => Array.from({ length: count }, (_, n) => "o" + n);
/** Two hundred fields that lead to one definition, and the definition. */
const shared = (field, definition) => form(named(200, () => field), [], { $defs: { it: definition } });
/** Definitions of which each has the next one twice. */
const doubling = (depth, twice, last) =>
  Object.fromEntries([...Array.from({ length: depth }, (_, n) => ["d" + n, twice({ $ref: `#/$defs/d${n + 1}` })]), ["d" + depth, last]]);
const nested = (depth, wrap, last) => Array.from({ length: depth }).reduce(wrap, last);

const long = "x".repeat(200_000);
const tower = doubling(40, (next) => ({ allOf: [next, next] }), { type: "string" });
const groups = doubling(40, (next) => ({ type: "object", properties: { a: next, b: next } }), { type: "string" });

const REFUSED = {
  "2,000 options in each of 200 fields": shared(it, { type: "string", enum: texts(2000) }),
  "2,000 options in each of 200 lists": shared({ type: "array", items: it }, { type: "string", enum: texts(2000) }),
  "20,000 options": form({ a: { type: "string", enum: texts(20_000) } }),
  "10,001 options in all": form(named(51, (n) => ({ type: "string", enum: texts(n ? 200 : 1) })), ["f0"]),
  "a description of 200 kB in each of 200 fields": shared(it, { type: "string", description: long }),
  "a name of 200 kB for an option in each of 200 fields": shared(it, { type: "string", oneOf: [{ const: "a", title: long }] }),
  "a default of 200 kB in each of 200 fields": shared(it, { type: "string", default: long }),
  "20,000 keywords in each of 200 fields": shared(it, { type: "string", ...named(15_000, () => 0) }),
  "a large rule for 199 names that are only required": {
    message: "Please tell",
    requestedSchema: { type: "object", required: texts(199), additionalProperties: { type: "array", items: { type: "string" }, default: Array(40_000).fill("") } },
  },
  "10,000 fields": form(named(10_000, () => ({ type: "string" }))),
  "2^40 fields": form({ a: { $ref: "#/$defs/d0" } }, [], { $defs: doubling(3, (next) => ({ type: "object", properties: named(20, () => next) }), { type: "string" }) }),
  "a message of 5 MB": { ...form({ a: { type: "string" } }), message: "y".repeat(5_000_000) },
};

test("what is too much is refused in words, and can be refused", () => each(REFUSED, async (page) => {
  await page.getByText("The server sent a form that can't be displayed").waitFor();
  assert.equal(await part(page, "fields").count(), 0);
  await page.getByRole("button", { name: "Reject", exact: true }).click();
  assert.deepEqual(await answer(page), { action: "decline" });
}));

const list = (items) => ({ type: "array", items });
const ones = (count, one = 1) => Array(count).fill(one);

const DRAWN = {
  "10,000 options in all": form(named(50, (n) => (n % 2 ? list({ type: "string", enum: texts(200) }) : { type: "string", enum: texts(200) }))),
  "a list of 60,000 defaults out of 2,000 options": form({ a: { ...list({ enum: texts(2000).map((_, n) => n) }), default: ones(60_000, 1999) } }),
  "a tower of allOf": form({ a: { allOf: [{ $ref: "#/$defs/d0" }, {}], default: "x" }, b: { type: "string" } }, [], { $defs: tower }),
  "null beside a tower": form({ a: { anyOf: [{ $ref: "#/$defs/d0" }, { type: "null" }], default: null }, b: { type: "string" } }, [], { $defs: tower }),
  "groups within 60 groups": form({ a: nested(60, (a) => ({ type: "object", properties: { a } }), {}) }),
  "groups of groups without end": form({ a: { $ref: "#/$defs/d0" } }, [], { $defs: { ...groups, d3: {} } }),
  "a dear rule in each of 200 fields": form(
    named(200, () => ({ type: "string", not: it, default: "x".repeat(900) })), [],
    { $defs: { it: { anyOf: ones(2400, { minLength: 5000 }) } } },
  ),
  "a long text held against 5,000 lengths": form({ a: { type: "string", allOf: ones(5000, { minLength: 100_001 }), default: "x".repeat(100_000) } }),
  "many values held against a large option": form({ a: { ...list({ type: "array", items: { enum: [ones(20_000), Object.fromEntries(texts(9000).map((name) => [name, 0]))] } }), default: ones(25_000, []) } }),
  "names held against many dependencies": form(
    { a: { type: "object", allOf: ones(4000, it), default: { a: 1 } } }, [],
    { $defs: { it: { dependentRequired: { a: texts(12_000) } } } },
  ),
  "a default that is deep and wide": form({ a: { default: nested(100, (inner) => [inner], ones(80_000)) } }),
  "each of 200 patterns is slow on its default": form(named(200, (n) => ({ type: "string", pattern: `^((a?){50}){40}b{${n}}$`, default: "a".repeat(600) }))),
  "words that hide 200,000 signs": form({ a: { type: "string", description: "\u202e".repeat(200_000) } }),
};

test("what is just bearable is drawn, filled in and sent", () => each(DRAWN, async (page) => {
  await page.locator("mcp-elicitation :is(textarea, select, input)").first().focus();
  await page.keyboard.press("Tab"); // what is left is checked
  if (await page.getByRole("button", { name: "Review" }).isVisible()) {
    await part(page, "accept").click();
    await part(page, "review").first().waitFor();
    await calm(page);
  }
  await part(page, "accept").click();
  assert.equal((await answer(page)).action, "accept");
}));
