// <mcp-elicitation> for everybody: by keyboard alone, by a screen reader, on a small screen, in
// any colours; and a server's words that would like to be more than words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ALL } from "./browser.mjs";
import { answer, asking, fired, focused, form, part, told } from "./element-page.mjs";
import { fits, judge } from "./looks.mjs";

const DAY = "2027-03-09";

/** Every kind of field: how it is asked, answered by keyboard alone, sent, and told to a screen reader. */
const KINDS = {
  text: {
    asked: { type: "string", title: "It", description: "Help" }, keys: ["ab c"], sent: "ab c",
    told: { role: "textbox", description: "Help" },
  },
  textarea: {
    asked: { type: "string", title: "It", format: "textarea" }, keys: ["one", "Enter", "two"], sent: "one\ntwo",
    told: { role: "textbox" },
  },
  email: {
    asked: { type: "string", title: "It", format: "email" }, keys: ["a@example.com"], sent: "a@example.com",
    told: { role: "textbox" },
  },
  uri: {
    asked: { type: "string", title: "It", format: "uri" }, keys: ["https://example.com/"], sent: "https://example.com/",
    told: { role: "textbox" },
  },
  date: {
    asked: { type: "string", title: "It", format: "date" }, keys: ["03092027"], sent: DAY,
    told: { role: "Date" },
  },
  "date-time": {
    asked: { type: "string", title: "It", format: "date-time" }, keys: ["03092027", "Tab", "023000PM"], sent: /^2027-03-09T14:30:00(\.000)?\+00:00$/,
    told: { role: "DateTime" },
  },
  integer: {
    asked: { type: "integer", title: "It", minimum: 1, maximum: 12 }, keys: ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown"], sent: 2,
    told: { role: "spinbutton", min: 1, max: 12, description: "From 1 to 12" },
  },
  number: {
    asked: { type: "number", title: "It", minimum: 0.5 }, keys: ["2,5"], sent: 2.5,
    told: { role: "spinbutton", min: 0.5, description: "Enter 0.5 or more" },
  },
  switch: {
    asked: { type: "boolean", title: "It", default: false }, keys: ["Space"], sent: true, filled: true,
    told: { role: "switch", checked: "false" },
  },
  "yes or no": {
    asked: { type: "boolean", title: "It" }, keys: ["ArrowRight", "ArrowLeft", "ArrowRight"], sent: false,
    told: { role: "radiogroup" },
  },
  "short choice": {
    asked: { type: "string", title: "It", oneOf: [{ const: "s", title: "Small" }, { const: "l", title: "Large" }] }, keys: ["Space", "ArrowRight"], sent: "l",
    told: { role: "radiogroup" },
  },
  "long choice": {
    asked: { type: "string", title: "It", enum: ["red", "green", "blue", "violet", "black"] }, keys: ["g"], sent: "green",
    told: { role: "combobox" },
  },
  choices: {
    asked: { type: "array", title: "It", minItems: 1, items: { anyOf: [{ const: "a", title: "Ham", description: "From Parma" }, { const: "b", title: "Egg" }] } }, keys: ["Space", "Tab", "Space"], sent: ["a", "b"],
    told: { role: "group", name: "It Required", required: false },
  },
  tags: {
    asked: { type: "array", title: "It", minItems: 1, items: { type: "string" } }, keys: ["one", "Enter", "two,three", "Enter", "Backspace", "fo", "ur"], sent: ["one", "two", "four"],
    told: { role: "textbox", description: "Press Enter after each item" },
  },
  group: {
    asked: { type: "object", title: "It", properties: { city: { type: "string", title: "City" } }, required: ["city"] }, keys: ["Lisbon"], sent: { city: "Lisbon" },
    told: { role: "group", required: false }, faulty: false,
  },
  json: {
    asked: { title: "It", type: "array", items: { type: "object" } }, keys: ["[]"], sent: [],
    told: { role: "textbox", description: "Answer as JSON" },
  },
  secret: {
    asked: { type: "string", title: "API key" }, keys: ["sk-1"], sent: "sk-1",
    told: { role: "textbox", name: "API key", description: /an API key.*weather will see what you type/s },
  },
};

for (const [kind, { asked, keys, sent, filled, faulty = true, told: expected }] of Object.entries(KINDS)) {
  test(`${kind}: answered by keyboard alone`, async () => {
    const page = await asking(form({ it: asked }, ["it"]), {}, { timezoneId: "UTC" });
    assert.notEqual(await focused(page), "page");
    for (const key of keys) {
      if (/^(Enter|Tab|Space|Arrow.*|Backspace)$/.test(key)) await page.keyboard.press(key);
      else await page.keyboard.type(key);
    }
    for (let stops = 0; (await focused(page)) !== "Submit"; stops++) {
      assert.ok(stops < 12, "Tab never reaches the button");
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    const { content } = await answer(page);
    if (sent instanceof RegExp) assert.match(content.it, sent);
    else assert.deepEqual(content, { it: sent });
    assert.deepEqual(page.mistakes, []);
  });

  test(`${kind}: told to a screen reader`, async () => {
    const page = await asking(form({ it: asked }, ["it"]));
    const match = (actual, wanted) => {
      for (const [name, value] of Object.entries(wanted)) {
        if (value instanceof RegExp) assert.match(actual[name], value);
        else assert.deepEqual({ [name]: actual[name] }, { [name]: value });
      }
    };
    match(await told(page, "#f0"), { name: "It", required: true, invalid: "false", ...expected });
    if (filled || !faulty) return;
    await part(page, "accept").click({ force: true });
    const { description, invalid } = await told(page, "#f0");
    assert.equal(invalid, "true");
    assert.match(description, /Please fill this in|Give at least 1 item/);
  });
}

test("each option of a group is told", async () => {
  const page = await asking(form({ it: KINDS.choices.asked, size: KINDS["short choice"].asked }));
  assert.deepEqual(pick(await told(page, "#f0-0"), "role", "name", "description"), { role: "checkbox", name: "Ham", description: "From Parma" });
  assert.deepEqual(pick(await told(page, "[type=radio]"), "role", "name", "checked"), { role: "radio", name: "Small", checked: "false" });
});

test("the dialog is told: who asks, what, and why nothing can be sent yet", async () => {
  const page = await asking(form({ it: { type: "string" } }, ["it"], { title: "Weather lookup" }), { tool: "forecast" });
  const dialog = await told(page, "dialog");
  assert.deepEqual(pick(dialog, "role", "name", "description"), { role: "dialog", name: "weather asks Weather lookup", description: "forecast Please tell" });
  assert.equal(await page.getByRole("dialog").getAttribute("aria-modal"), "true");
  assert.equal((await told(page, ".accept")).description, "1 required answer is missing");
  assert.deepEqual(await page.locator("mcp-elicitation [aria-live]").evaluateAll((all) => all.map((one) => one.ariaLive)), ["assertive", "polite", "polite"]);
});

test("Tab goes round inside, both ways", async () => {
  const page = await asking(form({ city: { type: "string", title: "City" } }));
  const stops = [];
  for (let i = 0; i < 7; i++) {
    stops.push(await focused(page));
    await page.keyboard.press("Tab");
  }
  assert.deepEqual(stops, ["City", "More choices", "Reject", "Submit", "Close", "City", "More choices"]);
  for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(page), "Close");
  await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(page), "Submit");
});

test("each tag can be removed by keyboard", async () => {
  const page = await asking(form({ it: { type: "array", title: "Tags", items: { type: "string" }, default: ["one", "two", "three"] } }));
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(page), "Remove two");
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "Tags");
  assert.equal(await page.locator("mcp-elicitation [aria-live]").last().textContent(), "two was removed");
  await part(page, "accept").click();
  assert.deepEqual(await answer(page), { action: "accept", content: { it: ["one", "three"] } });
});

test("an optional choice can be taken back", async () => {
  const page = await asking(form({ it: { type: "string", title: "Unit", enum: ["C", "F"] }, on: { type: "boolean", title: "On" } }));
  await page.getByText("F", { exact: true }).click();
  await page.getByText("Yes", { exact: true }).click();
  await page.getByRole("button", { name: "Clear" }).first().click();
  await part(page, "accept").click();
  assert.deepEqual(await answer(page), { action: "accept", content: { on: true } });
});

test("a required yes or no left alone is neither", async () => {
  const page = await asking(form({ sure: { type: "boolean", title: "Sure?" } }, ["sure"]));
  assert.ok(await part(page, "accept").isDisabled());
  await page.getByText("No", { exact: true }).click();
  await part(page, "accept").click();
  assert.deepEqual(await answer(page), { action: "accept", content: { sure: false } });
});

test("a number that cannot be read stays as it was typed", async () => {
  const page = await asking(form({ it: { type: "number", title: "Budget" } }));
  await page.keyboard.type("1e");
  await part(page, "accept").click();
  await page.getByText("Enter a number").first().waitFor();
  assert.equal(await page.getByLabel("Budget").inputValue(), "1e");
  await page.mouse.wheel(0, 100);
  assert.equal(await page.getByLabel("Budget").inputValue(), "1e");
});

test("a date that is half filled in is a problem, not silence", async () => {
  const page = await asking(form({ it: { type: "string", title: "Day", format: "date" } }));
  await page.keyboard.type("03");
  await part(page, "accept").click();
  await page.getByText("Complete the date").first().waitFor();
  assert.deepEqual(await fired(page), []);
});

test("a secret is hidden until it is wanted, and so again", async () => {
  const page = await asking(form({ api_key: { type: "string", title: "API key" } }));
  assert.equal(await page.getByLabel("API key").getAttribute("type"), "password");
  await page.getByRole("button", { name: "Show" }).click();
  assert.equal(await page.getByLabel("API key").getAttribute("type"), "text");
  await page.getByRole("button", { name: "Hide" }).click();
  assert.equal(await page.getByLabel("API key").getAttribute("type"), "password");
});

test("a message too long to be seen with the fields is read first", async () => {
  const page = await asking({ ...form({ city: { type: "string", title: "City" } }), message: "All of this matters. ".repeat(300) });
  assert.equal(await focused(page), "dialog");
  assert.equal(await part(page, "body").evaluate((body) => body.scrollTop), 0);
  await part(page, "body").evaluate((body) => body.scrollTo(0, body.scrollHeight));
  await page.getByRole("heading", { level: 2 }).click({ trial: true }); // who asks is still on screen
});

const HOSTILE = '<script>window.hit=1</script><img src=x onerror="window.hit=1">';
const hostile = () => ({
  message: `${HOSTILE} \u202Egnp.exe\u202C https://evil.example [a](https://evil.example)`,
  title: HOSTILE,
  requestedSchema: {
    type: "object", title: HOSTILE, description: HOSTILE, required: ["a"],
    properties: {
      a: { type: "string", title: "L".repeat(100_000), description: `${HOSTILE} ${"d".repeat(100_000)}`, default: HOSTILE },
      [HOSTILE]: { type: "string", enum: [HOSTILE, "\u2066x".repeat(50), "o".repeat(20_000), "p", "q"] },
      c: { type: "array", items: { anyOf: [{ const: "x", title: HOSTILE, description: "w".repeat(5_000) }] } },
      d: { type: "array", items: { type: "string" }, default: [HOSTILE, "t".repeat(500)] },
      __proto__x: { type: "boolean", title: "\u202Eesrever" },
      e: { type: "string", enum: ["<b>", "\u202E"] },
    },
  },
});

test("a server's words are words", async () => {
  const page = await asking(hostile(), { "server-name": `${HOSTILE}\u202E`, tool: "t".repeat(10_000) }, { viewport: { width: 320, height: 640 } });
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(await page.locator("mcp-elicitation :is(script, img, a, b)").count(), 0);
  const text = await page.getByRole("dialog").innerText();
  assert.ok(text.includes("<script>window.hit=1</script>"));
  assert.ok(text.includes("<U+202E>gnp.exe<U+202C>"));
  assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069]/);
  await fits(page, "hostile words");
  for (const name of ["accept", "reject", "close"]) await part(page, name).click({ trial: true });
  await page.keyboard.press("Escape");
  assert.deepEqual(await answer(page), { action: "cancel" });
});

test("__proto__ is a name like any other", async () => {
  const page = await asking();
  await page.evaluate((text) => void (element.request = JSON.parse(text)), '{"message":"m","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string","title":"It"}}}}');
  await page.getByLabel("It", { exact: true }).fill("x");
  await part(page, "accept").click();
  await page.waitForFunction(() => window.fired.some(({ type }) => type === "answer"));
  assert.equal(await page.evaluate(() => JSON.stringify(window.fired.at(-1).detail.content)), '{"__proto__":"x"}');
});

const EVERY_KIND = form({ ...Object.fromEntries(Object.entries(KINDS).map(([kind, { asked }]) => [kind, { ...asked, title: kind }])), api_key: { type: "string" } }, ["text", "yes or no", "choices"]);
const LINK = { mode: "url", message: "Sign in", url: "https://a:b@xn--bcher-kva.example:8443/?q" };

/** Every screen there is. */
const SCREENS = {
  "every kind": { request: EVERY_KIND },
  "every kind, with problems": { request: EVERY_KIND, act: (page) => part(page, "accept").click({ force: true }) },
  review: { request: form(Object.fromEntries("abcde".split("").map((name) => [name, { type: "string", default: name }]))), act: (page) => part(page, "accept").click() },
  "nothing to fill in": { request: form({}), attributes: { destructive: "", queue: "2/3" } },
  menu: { request: form({}), act: (page) => part(page, "more").click().then(() => part(page, "cancel").waitFor()) },
  countdown: {
    request: form({ a: { type: "string" } }), attributes: { deadline: new Date(Date.now() + 3_600_000).toISOString() },
    act: (page) => page.evaluate(() => {
      const now = Date.now();
      Date.now = () => now; // the last seconds last as long as they are looked at
      element.setAttribute("deadline", new Date(now + 9_900).toISOString());
    }),
  },
  busy: { request: form({ a: { type: "string" } }), act: (page) => part(page, "accept").click() },
  link: { request: LINK },
  "opened link": { request: LINK, act: (page) => page.evaluate(() => void (element.opened = true)) },
  "refused link": { request: { ...LINK, url: "file:///etc/passwd" } },
  closed: { request: form({}), act: (page) => page.evaluate(() => element.close("answered_before")) },
  unreadable: { request: { message: "m", requestedSchema: 1 } },
};

for (const [name, { request, attributes, act }] of Object.entries(SCREENS)) {
  test(`${name}: axe-core finds nothing`, async () => {
    const page = await asking(request, attributes);
    await act?.(page);
    for (const locale of ALL ? ["en-US", "pt-BR"] : ["en-US"]) {
      await page.evaluate((locale) => element.setAttribute("locale", locale), locale);
      if (name !== "closed") await page.locator(`mcp-elicitation dialog[lang=${locale}]`).waitFor();
      await judge(page, locale);
    }
  });

  test(`${name}: fits 320 pixels, twice the size, right to left`, async () => {
    for (const viewport of [{ width: 320, height: 568 }, { width: 450, height: 400 }]) {
      const page = await asking(request, attributes, { viewport });
      await act?.(page);
      for (const dir of ["ltr", "rtl"]) {
        await page.evaluate((dir) => void (document.documentElement.dir = dir), dir);
        await fits(page, `${viewport.width} px, ${dir}`);
      }
    }
  });
}

const pick = (object, ...names) => Object.fromEntries(names.map((name) => [name, object[name]]));
