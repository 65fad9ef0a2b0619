// Files that aren't what they should be: at the path of --announce, in the folder where gateways meet, and in policies, profiles and configurations.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Puppet } from "./raw.mjs";
import { BINARY, Process, Wire, announced, folder, until } from "./world.mjs";

/** An announcement as a gateway writes it. */
const OURS = JSON.stringify({ pid: 1, page: "http://127.0.0.1:1", launch: "http://127.0.0.1:1/#x", api: "http://127.0.0.1:1", bearer: "x" }) + "\n";

/** A gateway before a puppet, with these flags and no others. */
async function start(flags, { env, umask } = {}) {
  const server = await Puppet.ready();
  const command = [BINARY, "wrap", "--no-open", "--server-era", "legacy", ...flags, "--", ...server.command];
  const wire = new Wire(umask ? ["/bin/sh", "-c", `umask ${umask}; exec "$@"`, "sh", ...command] : command, { env });
  return { wire, server };
}

/** It ends with an error in such words, and its server is never started. */
async function isRefused(flags, expected, env) {
  const { wire, server } = await start(flags, { env });
  assert.ok((await wire.end()) > 0, wire.errors);
  assert.match(wire.errors, expected);
  assert.equal(server.socket, undefined, "the server isn't started");
}

/** It runs, and is opened. */
async function runs(flags, options) {
  const { wire, server } = await start(flags, options);
  await wire.open();
  return { wire, server };
}

async function leave({ wire }) {
  wire.process.stdin.end();
  assert.equal(await wire.end(), 0, wire.errors);
}

/** What is at a path, without following it. */
const facts = (path) => {
  const { ino, mode, size, mtimeMs } = lstatSync(path);
  return { ino, mode, size, mtimeMs };
};

describe("--announce", () => {
  for (const [name, make, why] of [
    ["a FIFO", (path) => execFileSync("mkfifo", [path]), /a FIFO is there/],
    ["a folder", (path) => mkdirSync(path), /a folder is there/],
    ["a symbolic link to a file", (path) => (writeFileSync(`${path}.target`, ""), symlinkSync(`${path}.target`, path)), /a symbolic link is there/],
    ["a symbolic link to a device", (path) => symlinkSync("/dev/null", path), /a symbolic link is there/],
    ["a symbolic link to nothing", (path) => symlinkSync(`${path}.nothing`, path), /a symbolic link is there/],
    ["a symbolic link to a file of ours", (path) => (writeFileSync(`${path}.ours`, OURS), symlinkSync(`${path}.ours`, path)), /a symbolic link is there/],
    ["a socket", (path) => once(createServer().listen(path).unref(), "listening"), /a socket is there/],
    ["somebody's text", (path) => writeFileSync(path, "Dear Ana,\n"), /a file that Midcall didn't write is there/],
    ["somebody's JSON", (path) => writeFileSync(path, '{"name":"package","version":"1.0.0"}'), /didn't write/],
    ["JSON that has some of our members", (path) => writeFileSync(path, '{"pid":1,"page":"x","note":"mine"}'), /didn't write/],
    ["a blank line", (path) => writeFileSync(path, "\n"), /didn't write/],
    ["bytes", (path) => writeFileSync(path, Buffer.from([0, 159, 146, 150])), /didn't write/],
    ["a file of ours with a megabyte behind it", (path) => writeFileSync(path, OURS + "x".repeat(1_000_000)), /didn't write/],
    ["half a file of ours", (path) => writeFileSync(path, OURS.slice(0, 40)), /didn't write/],
  ]) {
    test(`${name} stays, and nothing is started`, async () => {
      const place = folder();
      const path = join(place, "announce.json");
      await make(path);
      const [before, names] = [facts(path), readdirSync(place)];
      await isRefused(["--announce", path], why);
      assert.deepEqual([facts(path), readdirSync(place)], [before, names]);
    });
  }

  test("a device stays", async () => {
    const path = "/dev/pts/ptmx"; // in a folder where nobody can make or replace files
    const before = facts(path);
    await isRefused(["--announce", path], /a device is there/);
    assert.deepEqual([facts(path).ino, facts(path).mode], [before.ino, before.mode]);
  });

  test("a folder that isn't there is an error", () => isRefused(["--announce", join(folder(), "none", "a.json")], /cannot write/));
  test("a file where a folder should be is an error", async () => {
    const file = join(folder(), "file");
    writeFileSync(file, "mine");
    await isRefused(["--announce", join(file, "a.json")], /cannot write/);
    assert.equal(readFileSync(file, "utf8"), "mine");
  });

  for (const [name, make] of Object.entries({ "nothing": () => {}, "an empty file": (path) => writeFileSync(path, "", { mode: 0o666 }), "a file of ours": (path) => writeFileSync(path, OURS, { mode: 0o666 }) })) {
    test(`${name}: written for its owner only, and removed in the end`, async () => {
      const place = folder();
      const path = join(place, "announce.json");
      make(path);
      const gateway = await runs(["--announce", path], { umask: "000" });
      const { pid, bearer } = await until(() => announced(path).then((told) => told.bearer !== "x" && told));
      assert.deepEqual([pid, bearer.length, lstatSync(path).mode & 0o777], [gateway.wire.pid, 43, 0o600]);
      assert.deepEqual(readdirSync(place), ["announce.json"], "no draft is left");
      await leave(gateway);
      assert.deepEqual(readdirSync(place), []);
    });
  }

  for (const [name, change] of Object.entries({
    "replaced by somebody's file": (path) => (rmSync(path), writeFileSync(path, "mine")),
    "changed by somebody": (path) => writeFileSync(path, "mine"),
    "replaced by a link": (path) => (rmSync(path), writeFileSync(`${path}.mine`, "mine"), symlinkSync(`${path}.mine`, path)),
    "replaced by a folder": (path) => (rmSync(path), mkdirSync(path)),
    "replaced by a copy": (path) => { const told = readFileSync(path); rmSync(path); writeFileSync(path, told); },
  })) {
    test(`${name}: it stays when the gateway ends`, async () => {
      const path = join(folder(), "announce.json");
      const gateway = await runs(["--announce", path]);
      await announced(path);
      change(path);
      const before = facts(path);
      await leave(gateway);
      assert.deepEqual(facts(path), before);
    });
  }

  test("taken over by a second gateway: the first leaves it alone", async () => {
    const path = join(folder(), "announce.json");
    const first = await runs(["--announce", path]);
    await announced(path);
    const second = await runs(["--announce", path]);
    await until(() => announced(path).then(({ pid }) => pid === second.wire.pid));
    await leave(first);
    assert.equal((await announced(path)).pid, second.wire.pid);
    await leave(second);
    assert.equal(existsSync(path), false);
  });

  test("removed by somebody: the gateway ends all the same", async () => {
    const path = join(folder(), "announce.json");
    const gateway = await runs(["--announce", path]);
    await announced(path);
    rmSync(path);
    await leave(gateway);
  });
});

describe("the folder where gateways meet", () => {
  /** A gateway with a page in a session of its own. */
  const meets = (session) => runs(["--announce", join(folder(), "a.json")], { env: { XDG_RUNTIME_DIR: session } });

  test("the file of a killed gateway goes with the next, and files of others stay", async () => {
    const session = folder();
    const place = join(session, "midcall");
    const killed = await meets(session);
    const [left] = await until(() => existsSync(place) && readdirSync(place).filter((name) => name.endsWith(".json")).length && readdirSync(place).filter((name) => name.endsWith(".json")));
    assert.equal(lstatSync(join(place, left)).mode & 0o777, 0o600);
    killed.wire.process.kill("SIGKILL");
    await killed.wire.end();
    assert.ok(existsSync(join(place, left)));
    writeFileSync(join(place, "notes.txt"), "mine");
    const next = await meets(session);
    await until(() => !existsSync(join(place, left)));
    assert.equal(readFileSync(join(place, "notes.txt"), "utf8"), "mine");
    await leave(next);
    assert.deepEqual(readdirSync(place).filter((name) => name.endsWith(".json")), []);
  });

  for (const [name, make] of Object.entries({
    "open to all": (place) => (mkdirSync(place), chmodSync(place, 0o777)),
    "a link to another folder": (place) => (mkdirSync(`${place}.other`, { mode: 0o700 }), symlinkSync(`${place}.other`, place)),
    "a file": (place) => writeFileSync(place, "mine"),
  })) {
    test(`${name}: nothing is written there, and the server is served`, async () => {
      const session = folder();
      const place = join(session, "midcall");
      make(place);
      const { wire } = await meets(session);
      await until(() => /stays by itself/.test(wire.errors));
      assert.ok((await wire.call("tools/list")).result.tools.length);
      if (lstatSync(place).isFile()) assert.equal(readFileSync(place, "utf8"), "mine");
      else assert.deepEqual(readdirSync(place), []);
      await leave({ wire });
    });
  }
});

/** TOML that is wrong whatever it is for. */
const WRONG = {
  "half a line": ["secrets = ", /line 1, column \d+/],
  "an unknown key": ['patience = "1m"\nwhatever = 1\n', /line 2, column 1.*whatever/s],
  "the same key twice": ['patience = "1m"\npatience = "2m"\n', /line 2, column 1/],
  "a bell": ['patience = "\u0007"\n', /line 1, column \d+/],
  "100,000 levels": [`a = ${"[".repeat(100_000)}${"]".repeat(100_000)}\n`, /line 1, column \d+/],
  "100,000 tables": [`[${"a.".repeat(100_000)}a]\n`, /line 1, column \d+/],
};

describe("policies", () => {
  const written = (content) => {
    const file = join(folder(), "policy.toml");
    writeFileSync(file, content);
    return file;
  };
  for (const [name, [content, why]] of Object.entries({
    ...WRONG,
    "an unknown route": ['routes = "client,everybody"\n', /line 1, column 10/],
    "an unknown word for secrets": ['secrets = "Refuse"\n', /line 1, column 11/],
    "a time without a unit": ['patience = "10"\n', /line 1, column 12/],
    "a negative number": ["asks_per_minute = -1\n", /line 1, column 19/],
    "a number that is too large": ["asks_per_minute = 99999999999\n", /line 1, column 19/],
    "a rule that is a text": ['rule = "all"\n', /line 1, column 8/],
    "an unknown key in a rule": ['[[rule]]\ntool = "a"\nTool = "b"\n', /line 3, column 1/],
    "an unknown mode": ['[[rule]]\nmode = "URL"\n', /line 2, column 8/],
    "confirm in capital letters": ['confirm = "All"\n', /line 1, column 11/],
  })) test(`${name} is refused with its place, and nothing is started`, () => isRefused(["--policy", written(content)], why));

  test("bytes that aren't text are refused", () => isRefused(["--policy", written(Buffer.from([0x61, 0x3d, 0xff]))], /policy\.toml/));
  test("a folder is refused", () => isRefused(["--policy", folder()], /./));
  test("no file is refused", () => isRefused(["--policy", join(folder(), "none.toml")], /none\.toml/));
  test("an empty file has no rules", async () => leave(await runs(["--policy", written("")])));
});

describe("profiles", () => {
  const written = (content) => {
    const home = folder();
    mkdirSync(join(home, "midcall"));
    writeFileSync(join(home, "midcall", "profiles.toml"), content);
    return { XDG_CONFIG_HOME: home };
  };
  for (const name of ["half a line", "a bell", "100,000 levels", "100,000 tables"]) {
    const [content, why] = WRONG[name];
    test(`${name} is refused with its place, and nothing is started`, () => isRefused(["--client-profile", "mine"], why, written(content)));
  }
  test("a profile that isn't there is refused", () => isRefused(["--client-profile", "mine"], /mine/, written("")));
});

describe("configurations", () => {
  const server = '[upstream.a]\ncommand = ["x"]\n';
  for (const [name, [content, why]] of Object.entries({
    "half a line": ["[serve]\nlisten = ", /line 2, column \d+/],
    "100,000 levels": WRONG["100,000 levels"],
    "100,000 tables": WRONG["100,000 tables"],
    "an address of every machine": [`[serve]\nlisten = "0.0.0.0:0"\n${server}`, /line 2, column 10/],
    "an address of the network": [`[serve]\nlisten = "192.0.2.1:80"\n${server}`, /line 2, column 10/],
    "a server twice": [`${server}${server}`, /line 3, column \d+/],
    "a path of the page": [`${server}path = "/elicitation"\n`, /line 3, column 8/],
    "a path above": [`${server}path = "/../x"\n`, /line 3, column 8/],
    "a path with a query": [`${server}path = "/a?b"\n`, /line 3, column 8/],
    "two servers at one path": [`${server}[upstream.b]\ncommand = ["x"]\npath = "/a"\n`, /line \d+, column \d+/],
    "an empty command": ["[upstream.a]\ncommand = []\n", /line 2, column 11/],
    "a command and an address": [`${server}url = "https://example.com/mcp"\n`, /line \d+, column \d+/],
    "an address that isn't one": ['[upstream.a]\nurl = "javascript:alert(1)"\n', /line 2, column 7/],
    "a header with a line break": ['[upstream.a]\nurl = "https://example.com/mcp"\nheaders = { A = "b\\r\\nC: d" }\n', /line \d+, column \d+: the value of the header/],
    "no server": ["[serve]\n", /./],
  })) {
    test(`${name} is refused with its place, and nothing is served`, async () => {
      const place = folder();
      writeFileSync(join(place, "midcall.toml"), content);
      const gateway = new Process([BINARY, "serve", "--no-open", "--announce", join(place, "a.json"), "--config", join(place, "midcall.toml")]);
      assert.ok((await gateway.end()) > 0);
      assert.match(gateway.errors, why);
      assert.deepEqual([gateway.lines, readdirSync(place)], [[], ["midcall.toml"]]);
    });
  }
});
