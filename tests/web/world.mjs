// The world of a story: the real binary, real browsers, and what passes between them.
//
// MIDCALL_BIN says which binary, if it isn't the debug build of this work tree.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, afterEach, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ALL, browser, PATIENCE, surroundings, unhurry, USUAL } from "./browser.mjs";

const ROOT = join(import.meta.dirname, "../..");
const BINARY = process.env.MIDCALL_BIN ?? join(ROOT, "target/debug/midcall");
const SHOTS = join(ROOT, "target/web-shots");

/** A browser for a file of stories, and what the current story has started. */
export const world = {
  /** @type {import("playwright-core").Browser} */
  browser: undefined,
  /** Ended after each story, the latest first. */
  ending: [],
};

before(async () => {
  await mkdir(SHOTS, { recursive: true });
  world.browser = await browser();
});

afterEach(async () => {
  for (const end of world.ending.splice(0).reverse()) await end();
});

after(() => world.browser?.close());

/** An empty folder that goes when the story ends. */
async function folder() {
  const made = await mkdtemp(join(tmpdir(), "midcall-web-"));
  world.ending.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** A place in which gateways find each other, and nobody else is. */
export const session = folder;

/** Starts a gateway that meets no settings or gateways of the person who runs the tests. */
async function start(verb, flags, { place, times, stdio }) {
  const file = join(await folder(), "announce.json");
  const env = surroundings({ XDG_RUNTIME_DIR: place, XDG_CONFIG_HOME: await folder(), ...(times && { MIDCALL_TEST_TIMES: times }) });
  return { file, process: spawn(BINARY, [verb, "--announce", file, ...flags], { stdio, env }) };
}

/** `midcall desk`, asked by lines on its standard input. */
export class Desk {
  static async start(...flags) {
    return Desk.startIn(await session(), ...flags);
  }

  /** One that finds others, if they are started in the same folder. */
  static async startIn(session, ...flags) {
    const desk = new Desk();
    const { file, process } = await start("desk", flags, { place: session, stdio: ["pipe", "pipe", "inherit"] });
    desk.process = process;
    world.ending.push(() => desk.end());
    desk.lines = [];
    desk.waiting = [];
    createInterface({ input: desk.process.stdout }).on("line", (line) => {
      const told = JSON.parse(line);
      const found = desk.waiting.findIndex(({ wants }) => wants(told));
      if (found < 0) desk.lines.push(told);
      else desk.waiting.splice(found, 1)[0].resolve(told);
    });
    desk.announced = await announced(file);
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

  end(signal = "SIGTERM") {
    return ended(this.process, signal);
  }
}

/** `midcall demo`, whose server is waited for as long as it takes, and so are its answers. */
export async function demo({ place, times = "probe=60m,hurry=60m" } = {}) {
  const { file, process } = await start("demo", ["--no-open"], { place: place ?? (await session()), times, stdio: ["ignore", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  process.stdout.on("data", (text) => (said.out += text));
  process.stderr.on("data", (text) => (said.err += text));
  const end = (signal = "SIGTERM") => ended(process, signal);
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
  const page = await visitor(options);
  await unhurry(page);
  const [address, token] = (typeof where === "string" ? where : where.announced.launch).split("#");
  await page.goto(`${address}${query}${token ? "#" + token : ""}`);
  return page;
}

async function visitor(options) {
  const context = await world.browser.newContext({ ...USUAL, viewport: { width: 1100, height: 800 }, ...options });
  world.ending.push(() => context.close());
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  record(page);
  return page;
}

/**
 * A person whose page is in no hurry, however busy the machine is: its clock stands still, five minutes late, until the
 * story moves it, and from the first event named `withheld` on, it is told nothing before `page.letGo()`.
 */
export async function unhurried(where, { withheld, ...options } = {}) {
  const page = await visitor(options);
  await unhurry(page, null);
  if (withheld) await page.addInitScript(withhold, withheld);
  page.letGo = () => page.evaluate(() => window.letGo());
  await stopClock(page, Date.now() - 300_000);
  await page.goto(where.announced.launch);
  await page.getByText("Connected", { exact: true }).waitFor();
  return page;
}

/** From now on, the page's clock moves only when the story moves it. */
export async function stopClock(page, time = Date.now()) {
  await page.clock.install({ time: time - 86_400_000 }); // it goes on until it is stopped, and never back
  await page.clock.pauseAt(time);
}

/**
 * On the page: its events up to the first of that name; the others once they are let go. No silence cuts them: a story
 * that moves the clock by minutes would, and the page would then wait on a clock that stands still.
 */
function withhold(name) {
  const { fetch } = window;
  const gate = new Promise((resolve) => (window.letGo = resolve));
  window.fetch = async (where, how) => {
    if (new URL(where, location).pathname !== "/elicitation/events") return fetch(where, how);
    const response = await fetch(where, { ...how, signal: undefined });
    if (!response.ok) return response;
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

/** What the page has posted by now, by its last word: accept, reject, cancel, opened. */
export async function posts(page, word) {
  await page.evaluate(() => {}); // the browser tells of all that came before it answers this
  return page.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/" + word));
}

/** The same person at another browser. The announced link works once, so it gets the first one's key. */
export async function anotherPerson(where, first, options) {
  const bearer = await eventually("a bearer", () => first.evaluate(() => sessionStorage.getItem("midcall.bearer")));
  const page = await person("about:blank", options);
  await page.addInitScript((bearer) => location.origin !== "null" && sessionStorage.setItem("midcall.bearer", bearer), bearer);
  await page.goto(where.announced.page);
  return page;
}

/** A page that waits before it tries again to connect does so now, as when a computer's network comes back. */
export const wake = (page) => page.evaluate(() => void dispatchEvent(new Event("online")));

/** A picture of the screen, kept for people to look at when all variants are played. */
export const shot = async (page, name, options) => ALL && page.screenshot({ path: join(SHOTS, `${name}.png`), ...options });

export async function eventually(what, check) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never happened: ${what}`);
    await sleep(30);
  }
}

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

/** Cancels the question that is shown, by the dialog's menu. */
export async function cancel(page) {
  await page.getByRole("dialog").locator(".more").click();
  await page.getByRole("dialog").locator(".cancel").click();
}

/** Waits until a question takes answers: what comes together with it was not meant for it. */
export const calm = (page) => page.locator("dialog[open]:not(.new)").first().waitFor();
