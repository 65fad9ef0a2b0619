// Five wrapped servers are five processes, and the person sees one page.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { browse, tab } from "./browser.mjs";
import { AT_ONCE, BINARY, Process, Wire, folder as newFolder, openings, plain, times, until } from "./world.mjs";

const NAMES = ["crm", "files", "mail", "notes", "search"];
let browser;
before(async () => {
  browser = await browse();
});
after(() => browser?.close());

/** A session of a person: gateways that find each other, and the addresses that a browser is asked to open. */
async function session() {
  const folder = newFolder();
  const { env, opened } = await openings();
  return {
    env: { ...env, XDG_RUNTIME_DIR: folder },
    opened,
    files: () => readdir(join(folder, "midcall")).then((names) => names.filter((name) => name.endsWith(".json")).sort(), () => []),
    read: (pid) => readFile(join(folder, "midcall", `${pid}.json`), "utf8").then(JSON.parse),
  };
}

/** A wrapped server of that name, opened by a client that cannot ask. It is patient unless flags say otherwise. */
async function wrapped(name, { env }, ...flags) {
  const hold = flags.includes("--hold") ? [] : ["--hold", "never"];
  const wire = new Wire([BINARY, "wrap", ...hold, ...flags, "--", ...plain(`name=${name}`)], { env });
  await wire.open();
  wire.ask = () => wire.call("tools/call", { name: "ask", arguments: {} });
  return wire;
}

/** The five servers of one client. */
async function five(place) {
  const wires = await Promise.all(NAMES.map((name) => wrapped(name, place)));
  return Object.fromEntries(NAMES.map((name, n) => [name, wires[n]]));
}

/** The tab that a gateway asked for. */
const first = async ({ opened }) => tab(browser, await until(async () => (await opened())[0], "a browser is opened"));

const word = ({ result }) => JSON.parse(result.content[0].text)[0].result.content?.word;

/** Answers what is asked on the page, and says who asked. */
async function answer(page) {
  await page.locator("dialog[open]:not(.new)").first().waitFor();
  const who = await page.evaluate(() => document.querySelector("mcp-elicitation:not(.over)").getAttribute("server-name"));
  await page.getByRole("dialog").getByLabel("word").fill(who);
  await page.getByRole("button", { name: "Submit" }).click();
  await page.waitForFunction((who) => document.querySelector("mcp-elicitation:not(.over)")?.getAttribute("server-name") !== who, who);
  return who;
}

/** `midcall open`: its status, and what it said. */
async function open(env, ...flags) {
  const process = new Process([BINARY, "open", ...flags], { env });
  return { status: await process.end(), out: process.lines, err: process.errors };
}

describe("the gateways of a person", { concurrency: AT_ONCE }, () => {
  test("three of five ask at once: one tab, right order, right names, answers to their own servers", async () => {
    const place = await session();
    const wires = await five(place);
    assert.deepEqual(await place.files(), [], "nothing is there before the first question");
    const calls = ["mail", "crm", "search"].map((name) => [name, wires[name].ask()]);
    const page = await first(place);
    await page.getByText(/^\d of 3$/).waitFor();
    const waiting = await page.locator(".waiting .asker strong").allTextContents();
    assert.deepEqual([...waiting].sort(), ["crm", "mail", "search"]);
    const asked = await page.locator(".waiting li").count();
    assert.equal(asked, 3);
    await page.screenshot({ path: join(import.meta.dirname, "../../target/web-shots/five-wraps.png") });
    const shown = await answer(page); // whoever was heard of first, when all were not heard of in time
    for (const name of waiting.filter((name) => name !== shown)) assert.equal(await answer(page), name);
    for (const [name, call] of calls) assert.equal(word(await call), name);

    // The other two come to the same tab.
    for (const name of ["notes", "files"]) {
      const call = wires[name].ask();
      assert.equal(await answer(page), name);
      assert.equal(word(await call), name);
    }
    assert.equal((await place.opened()).length, 1, "one tab for all");
    assert.deepEqual(await place.files(), NAMES.map((name) => `${wires[name].pid}.json`).sort());

    for (const wire of Object.values(wires)) wire.process.stdin.end();
    for (const wire of Object.values(wires)) assert.equal(await wire.end(), 0);
    assert.deepEqual(await place.files(), [], "who ends takes its file away");
  });

  test("in the order of asking, whichever gateway asks", async () => {
    const place = await session();
    const wires = await five(place);
    const calls = [wires.notes.ask()];
    const page = await first(place);
    await page.getByRole("dialog").getByText("Question q0").waitFor();
    for (const [n, name] of ["crm", "search", "files"].entries()) {
      calls.push(wires[name].ask());
      await page.getByText(`1 of ${n + 2}`).waitFor();
    }
    for (const name of ["notes", "crm", "search", "files"]) assert.equal(await answer(page), name);
    assert.deepEqual((await Promise.all(calls)).map(word), ["notes", "crm", "search", "files"]);
    assert.equal((await place.opened()).length, 1);
  });

  test("the process that serves the page is killed: nothing of the others is lost, and the next question comes", async () => {
    const place = await session();
    const wires = await five(place);
    const own = wires.crm.ask();
    own.catch(() => {});
    const page = await first(place);
    await page.getByRole("dialog").getByText("Question q0").waitFor();
    const calls = [];
    for (const [n, name] of ["files", "mail"].entries()) {
      calls.push(wires[name].ask());
      await page.getByText(`1 of ${n + 2}`).waitFor();
    }
    process.kill(wires.crm.pid, "SIGKILL");
    const next = wires.notes.ask(); // its page is not even bound yet
    await page.locator(".waiting .asker strong").getByText("notes").waitFor({ state: "attached" });
    assert.equal(await answer(page), "files");
    assert.equal(await answer(page), "mail");
    assert.equal(await answer(page), "notes");
    assert.deepEqual((await Promise.all([...calls, next])).map(word), ["files", "mail", "notes"]);
    await page.getByText("The program that asked has ended").first().waitFor({ state: "attached" });
    assert.equal((await place.opened()).length, 1, "no other tab was needed");
    const living = ["files", "mail", "notes"].map((name) => `${wires[name].pid}.json`).sort();
    assert.deepEqual(await place.files(), living, "the file of the dead is gone");
  });

  test("first questions at the same instant open one tab", async () => {
    const place = await session();
    const wires = await five(place);
    const calls = NAMES.map((name) => wires[name].ask());
    const page = await first(place);
    await page.getByText(/^\d of 5$/).waitFor();
    for (const _ of NAMES) await answer(page);
    assert.deepEqual((await Promise.all(calls)).map(word), NAMES);
    assert.equal((await place.opened()).length, 1);
  });

  test("nothing that a client or a log gets to see opens the page", async () => {
    const place = await session();
    const [one, other] = await Promise.all(["crm", "files"].map((name) => wrapped(name, place, "--log", "trace", "--hold", "100ms")));
    const calls = [one.ask()];
    const page = await first(place);
    await page.getByRole("dialog").getByText("Question q0").waitFor();
    calls.push(other.ask());
    await page.getByText("1 of 2").waitFor();
    for (const { result } of await Promise.all(calls)) assert.ok(result._meta["dev.midcall/waiting"], "it was let go");
    assert.equal((await open(place.env, "--print")).status, 0);
    const secrets = (await place.opened()).map((address) => address.split("#")[1]);
    for (const { pid } of [one, other]) {
      const { launch, bearer, peer } = await place.read(pid);
      secrets.push(launch.split("#")[1], bearer, peer);
    }
    secrets.push(await page.evaluate(() => sessionStorage.getItem("midcall.bearer")));
    await answer(page);
    await answer(page);
    for (const wire of [one, other]) {
      wire.process.stdin.end();
      assert.equal(await wire.end(), 0);
      assert.match(wire.errors, /\/peers\/hello|the page is there/, "trace says something");
      for (const secret of secrets) {
        assert.equal(secret.length, 43);
        assert.ok(!wire.lines.join().includes(secret) && !wire.errors.includes(secret), "a key is told");
      }
    }
  });

  for (const [what, BROWSER] of [["there is none", ""], ["it fails", "false"]]) {
    test(`a browser can't be opened because ${what}: the default log says what to do`, async () => {
      const place = await session();
      const wire = await wrapped("crm", { env: { ...place.env, BROWSER } });
      const call = wire.ask();
      await until(() => /WARN.*no browser could be opened.*run `midcall open`.*page=.*http:\/\/127\.0\.0\.1:\d+/.test(wire.errors), "the log says so");
      assert.doesNotMatch(wire.errors, /#[\w-]{43}/, "a launch link is in the log");
      const { out } = await open(place.env, "--print");
      const page = await tab(browser, out[0]);
      assert.equal(await answer(page), "crm");
      assert.equal(word(await call), "crm");
    });
  }

  test("`midcall open` opens or prints the page of whoever lives, and says so if nobody does", async () => {
    const place = await session();
    const none = await open(place.env, "--print");
    assert.equal(none.status, 1);
    assert.deepEqual(none.out, []);
    assert.match(none.err, /There is no page yet/);

    const wire = await wrapped("crm", place, "--no-open");
    assert.equal((await open(place.env)).status, 1, "nothing was asked yet");
    const call = wire.ask();
    await until(async () => (await place.files()).length, "it has a page");
    const printed = await open(place.env, "--print");
    assert.equal(printed.status, 0);
    assert.equal(printed.out.length, 1);
    assert.match(printed.out[0], /^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/);
    assert.deepEqual(await place.opened(), []);
    const page = await tab(browser, printed.out[0]);
    assert.equal(await answer(page), "crm");
    assert.equal(word(await call), "crm");

    const opened = await open({ ...place.env, ...times({ no_browser: "0ms" }) });
    assert.equal(opened.status, 0);
    assert.deepEqual(opened.out, []);
    assert.equal((await place.opened()).length, 1);
    const nowhere = await open({ ...place.env, BROWSER: "false", ...times({ no_browser: "5m" }) });
    assert.equal(nowhere.status, 0);
    assert.match(nowhere.out[0], /^http:\/\/127\.0\.0\.1:\d+\/#/);
    assert.match(nowhere.err, /No browser could be opened/);

    // A gateway that was killed is none, and its file goes.
    process.kill(wire.pid, "SIGKILL");
    await wire.end();
    assert.equal((await open(place.env, "--print")).status, 1);
    assert.deepEqual(await place.files(), []);
  });
});
