// The world of a story: the real binary, real browsers, and what passes between them.
//
// `./test web` says where things are: MIDCALL_NODE (packages lie beside it) and MIDCALL_BIN.
import { spawn } from "node:child_process";
import { mkdtemp, mkdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(process.env.MIDCALL_NODE);
const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");
const ROOT = new URL("../../", import.meta.url).pathname;
const BINARY = process.env.MIDCALL_BIN ?? join(ROOT, "target/debug/midcall");
const SHOTS = join(ROOT, "target/web-shots");

/** Nothing here takes longer, unless something is wrong: machines are busy. */
export const PATIENCE = 60_000;

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** One Chromium for a file of stories, and everything that a story started is ended with it. */
export const world = {
  /** @type {import("playwright-core").Browser} */
  browser: undefined,
  /** Ended after each file, the latest first. */
  ending: [],
};

before(async () => {
  await mkdir(SHOTS, { recursive: true });
  world.browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS, headless: true, timeout: PATIENCE });
});

after(async () => {
  for (const end of world.ending.reverse()) await end();
  await world.browser?.close();
});

/** A place in which gateways find each other, and nobody else is. */
export async function session() {
  const folder = await mkdtemp(join(tmpdir(), "midcall-web-"));
  world.ending.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** `midcall desk`, asked by lines on its standard input. */
export class Desk {
  static async start(...flags) {
    return Desk.startIn(await session(), ...flags);
  }

  /** One that finds others, if they are started in the same folder. */
  static async startIn(session, ...flags) {
    const desk = new Desk();
    desk.folder = await mkdtemp(join(tmpdir(), "midcall-web-"));
    const file = join(desk.folder, "announce.json");
    const env = { ...process.env, XDG_RUNTIME_DIR: session };
    desk.process = spawn(BINARY, ["desk", "--announce", file, ...flags], { stdio: ["pipe", "pipe", "inherit"], env });
    desk.lines = [];
    desk.waiting = [];
    createInterface({ input: desk.process.stdout }).on("line", (line) => {
      const told = JSON.parse(line);
      const found = desk.waiting.findIndex(({ wants }) => wants(told));
      if (found < 0) desk.lines.push(told);
      else desk.waiting.splice(found, 1)[0].resolve(told);
    });
    desk.announced = await announced(file);
    world.ending.push(() => desk.end());
    return desk;
  }

  /** A line of the desk, told already or soon. */
  told(wants) {
    const found = this.lines.findIndex(wants);
    if (found >= 0) return Promise.resolve(this.lines.splice(found, 1)[0]);
    return within(new Promise((resolve) => this.waiting.push({ wants, resolve })), "the desk says something");
  }

  /** Asks, and gives the ticket's id. */
  async ask(params, more = {}) {
    this.process.stdin.write(JSON.stringify({ params, ...more }) + "\n");
    const told = await this.told((line) => line.asked || line.error);
    if (told.error) throw new Error(told.error);
    return told.asked;
  }

  withdraw(id) {
    this.process.stdin.write(JSON.stringify({ withdraw: id }) + "\n");
  }

  /** How a ticket ended. */
  ended(id) {
    return this.told((line) => line.id === id);
  }

  /** A call of a script. */
  async script(method, path, body) {
    const { api, bearer } = this.announced;
    const headers = { authorization: `Bearer ${bearer}`, ...(body && { "content-type": "application/json" }) };
    return fetch(api + path, { method, headers, body: body && JSON.stringify(body) });
  }

  async end(signal = "SIGTERM") {
    await ended(this.process, signal);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** `midcall demo`. */
export async function demo(...flags) {
  const folder = await mkdtemp(join(tmpdir(), "midcall-web-"));
  const file = join(folder, "announce.json");
  const process = spawn(BINARY, ["demo", "--no-open", "--announce", file, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  process.stdout.on("data", (text) => (said.out += text));
  process.stderr.on("data", (text) => (said.err += text));
  const end = async (signal = "SIGTERM") => {
    const code = await ended(process, signal);
    await rm(folder, { recursive: true, force: true });
    return code;
  };
  world.ending.push(end);
  return { announced: await announced(file), said, process, end };
}

/**
 * A browser of its own: its own storage, and everything it asked for is on record.
 *
 * @returns a page that has been let in, with `requests` (method and path) and `mistakes` (what
 *   the console complained about; a story may expect some and take them out)
 */
export async function person(where, options = {}, query = "") {
  const context = await world.browser.newContext({ locale: "en-US", reducedMotion: "reduce", viewport: { width: 1100, height: 800 }, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  record(page);
  const [address, token] = (typeof where === "string" ? where : where.announced.launch).split("#");
  await page.goto(`${address}${query}${token ? "#" + token : ""}`);
  world.ending.push(() => context.close());
  return page;
}

/**
 * A person whose page is in no hurry, however busy the machine is: its clock stands still until the story moves
 * it, and from the first event named `withheld` on, it is told nothing before `page.letGo()`.
 */
export async function unhurried(where, { withheld, ...options } = {}) {
  const page = await person("about:blank", options);
  if (withheld) await page.addInitScript(withhold, withheld);
  page.letGo = () => page.evaluate(() => window.letGo());
  await page.clock.install({ time: Date.now() - 600_000 });
  await page.clock.pauseAt(Date.now() - 300_000);
  await page.goto(where.announced.launch);
  await page.getByText("Connected", { exact: true }).waitFor();
  await page.clock.setSystemTime(Date.now());
  return page;
}

/** On the page: its events up to the first of that name; the others once they are let go. */
function withhold(name) {
  const { fetch } = window;
  const gate = new Promise((resolve) => (window.letGo = resolve));
  window.fetch = async (...how) => {
    const response = await fetch(...how);
    if (!response.ok || new URL(response.url).pathname !== "/elicitation/events") return response;
    let half = "";
    const events = new TransformStream({
      async transform(text, onward) {
        const whole = (half + text).split(/(?<=\n\n)/);
        half = whole.at(-1).endsWith("\n\n") ? "" : whole.pop();
        for (const event of whole) {
          if (event.includes(`event: ${name}\n`)) await gate;
          onward.enqueue(event);
        }
      },
    });
    const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(events).pipeThrough(new TextEncoderStream());
    return new Response(body, response);
  };
}

/** When the question that is shown ends, in milliseconds. */
export const deadline = async (page) => Date.parse(await page.locator("mcp-elicitation:not(.over)").getAttribute("deadline"));

export function record(page) {
  page.requests = [];
  page.mistakes = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!url.pathname.startsWith("/assets/")) page.requests.push({ method: request.method(), path: url.pathname, body: request.postData(), headers: request.headers() });
  });
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.mistakes.push(message.text()));
  page.on("pageerror", (error) => page.mistakes.push(String(error)));
}

/** What the page posted, by its last word: accept, reject, cancel, opened. */
export const posts = (page, word) => page.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/" + word));

/** The same person at another browser. The announced link works once, so it gets the first one's key. */
export async function anotherPerson(where, first, options) {
  const bearer = await eventually("a bearer", () => first.evaluate(() => sessionStorage.getItem("midcall.bearer")));
  const page = await person("about:blank", options);
  await page.addInitScript((bearer) => location.origin !== "null" && sessionStorage.setItem("midcall.bearer", bearer), bearer);
  await page.goto(where.announced.page);
  return page;
}

/** A picture of the screen, kept for people to look at. */
export const shot = (page, name, options) => page.screenshot({ path: join(SHOTS, `${name}.png`), ...options });

/** What axe-core finds wrong, in words short enough to read. */
export async function violations(page) {
  if (!(await page.evaluate(() => "axe" in window))) {
    const source = await readFile(AXE, "utf8");
    await page.evaluate(source); // by the debugger: the page's own policy lets no foreign script in
  }
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} (${failureSummary.split("\n")[1]?.trim()})`).join("; ")}`);
}

export async function eventually(what, check) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await sleep(30);
  }
}

export { sleep };

async function announced(file) {
  return eventually("an announcement", async () => {
    try {
      return JSON.parse(await readFile(file, "utf8"));
    } catch {
      return undefined;
    }
  });
}

/** @returns its exit code */
async function ended(process, signal) {
  if (process.exitCode !== null || process.signalCode !== null) return process.exitCode;
  const exit = new Promise((resolve) => process.once("exit", (code) => resolve(code)));
  process.kill("SIGCONT");
  process.kill(signal);
  return within(exit, "the process ends");
}

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`never happened: ${what}`)), PATIENCE)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Waits until a question takes answers: what comes together with it was not meant for it. */
export const calm = (page) => page.locator("dialog[open]:not(.new)").first().waitFor();
