// The element alone on a page, without our server: its files, a strict policy, and a browser.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, afterEach, before } from "node:test";
import { browser, MOMENT, PATIENCE, unhurry, USUAL } from "./browser.mjs";

const FILES = join(import.meta.dirname, "../../crates/web/js");
const KINDS = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };
// JSON modules, which the texts are, count as connections.
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; worker-src 'self'; connect-src 'self'; form-action 'none'";
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><title>A page</title><link rel="stylesheet" href="/page.css"><script type="module" src="/define.js"></script>
<main><h1>A page</h1><button id="before">Ask</button></main>`;
let chromium;
let server;
/** The pages of a story. */
let used = [];
/** Pages that nobody uses, by what cannot be changed of them: a new one costs more than most stories. */
const idle = new Map();

before(async () => {
  server = createServer(async ({ url }, response) => {
    const body = url === "/" ? PAGE : url === "/page.css" ? ":root{color-scheme:light dark}" : await readFile(join(FILES, url)).catch(() => undefined);
    response.writeHead(body === undefined ? 404 : 200, {
      "content-type": url.endsWith(".css") ? "text/css" : KINDS[extname(url)] ?? "text/html",
      "content-security-policy": POLICY,
      "cache-control": "max-age=3600", // of a browser that does not live that long
    });
    response.end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  chromium = await browser();
});

afterEach(async () => {
  for (const { page, kind } of used.splice(0)) {
    try {
      await page.unrouteAll();
      await page.goto("about:blank"); // what is still told by this story is not told in the next one
      if (kind !== undefined) idle.set(kind, [...(idle.get(kind) ?? []), page]);
      else await page.context().close();
    } catch {
      await page.context().close(); // it stands still
    }
  }
});

after(async () => {
  await chromium?.close();
  server?.close();
});

/** A form's request. */
export const form = (properties, required = [], more = {}) =>
  ({ mode: "form", message: "Please tell", requestedSchema: { type: "object", properties, required, ...more } });

/**
 * A page where the element asks, with everything it fires on record.
 *
 * @param request  what is asked; nothing when it is missing
 * @param attributes  of the element; `server-name` is "weather" unless it says otherwise
 * @param options  of the browser's context; `clock` stops time at a date; `isCalm`: waits until an answer is taken
 */
export async function asking(request, attributes = {}, { clock, isCalm = true, viewport = { width: 900, height: 800 }, colorScheme = "light", ...options } = {}) {
  const kind = clock ? undefined : JSON.stringify(options); // a clock that was stopped stays so
  const page = idle.get(kind)?.pop() ?? (await open(options, clock));
  used.push({ page, kind });
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  if (clock) await page.clock.install({ time: clock - 86_400_000 });
  if (clock) await page.clock.pauseAt(clock - MOMENT);
  page.mistakes = [];
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.evaluate(async ({ request, attributes }) => {
    await customElements.whenDefined("mcp-elicitation");
    window.element = document.createElement("mcp-elicitation");
    window.fired = [];
    for (const type of ["answer", "open", "finished", "timeout", "closed", "input"]) {
      addEventListener("elicitation-" + type, ({ detail }) => fired.push({ type, detail }));
    }
    window.opened = [];
    window.open = (...how) => void opened.push(how);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    document.getElementById("before").focus();
    document.body.append(element);
    if (request) element.request = request;
  }, { request, attributes: { "server-name": "weather", ...attributes } });
  if (request) await page.getByRole("dialog").waitFor();
  if (clock && isCalm) await page.clock.runFor(MOMENT);
  if (request && isCalm) await calm(page);
  return page;
}

/** A browser of its own. */
async function open(options, clock) {
  const context = await chromium.newContext({ ...USUAL, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  if (!clock) await unhurry(page);
  page.on("console", (message) => message.text().startsWith("[DOM]") || page.mistakes.push(message.text())); // advice: a secret is no sign-in
  page.on("pageerror", (error) => page.mistakes.push(String(error)));
  return page;
}

/** A dialog takes no answer for a moment after it came. */
export const calm = (page) => page.locator("dialog:not(.new)").first().waitFor();

/** What the element fired, typing left out. */
export const fired = (page) => page.evaluate(() => JSON.parse(JSON.stringify(window.fired.filter(({ type }) => type !== "input"))));

/** The one answer it gave. */
export async function answer(page) {
  await page.waitForFunction(() => window.fired.some(({ type }) => type === "answer"));
  const answers = (await fired(page)).filter(({ type }) => type === "answer");
  if (answers.length !== 1) throw new Error(`${answers.length} answers`);
  return answers[0].detail;
}

export const part = (page, name) => page.locator(`mcp-elicitation .${name}`);

/** Where the focus is: a control's label, a button's name, "dialog", or "page". */
export const focused = (page) => page.evaluate(() => {
  const inner = element.shadowRoot.activeElement;
  if (!inner) return document.activeElement === element ? "element" : document.activeElement?.id || "page";
  return inner.ariaLabel || inner.labels?.[0]?.textContent.replace("*", "") || inner.localName === "dialog" && "dialog" || inner.textContent;
});

/** The accessibility tree's node of a control: what a screen reader is told. */
export async function told(page, selector) {
  const session = await page.context().newCDPSession(page);
  const { root } = await session.send("DOM.getDocument", { depth: -1, pierce: true });
  const host = find(root, (node) => node.localName === "mcp-elicitation");
  const shadow = host.shadowRoots[0];
  const { nodeId } = await session.send("DOM.querySelector", { nodeId: shadow.nodeId, selector });
  const { nodes } = await session.send("Accessibility.getPartialAXTree", { nodeId, fetchRelatives: false });
  const [{ role, name, description, value, properties = [] }] = nodes;
  const of = (wanted) => properties.find((property) => property.name === wanted)?.value.value;
  await session.detach();
  // The debugger does not tell of every role that it is required.
  const required = await page.locator(`mcp-elicitation ${selector}`).first().getAttribute("aria-required");
  return {
    role: role.value, name: name?.value, description: description?.value ?? "", value: value?.value,
    required: of("required") || required === "true", invalid: of("invalid") ?? "false", checked: of("checked"), min: of("valuemin"), max: of("valuemax"),
  };
}

function find(node, wanted) {
  if (wanted(node)) return node;
  for (const child of [...(node.children ?? []), ...(node.shadowRoots ?? [])]) {
    const found = find(child, wanted);
    if (found) return found;
  }
}
