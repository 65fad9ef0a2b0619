// The world of a story: the real binary between real peers, and a person beside them.
//
// `./test peers` says where things are: MIDCALL_NODE, MIDCALL_PEERS and MIDCALL_BIN.
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const { MIDCALL_NODE: NODE, MIDCALL_PEERS: PEERS } = process.env;
const HERE = import.meta.dirname;
const PYTHON = join(PEERS, "python/bin/python");
export const BINARY = process.env.MIDCALL_BIN ?? join(HERE, "../../target/debug/midcall");

/** Nothing here takes longer, unless something is wrong: machines are busy. */
export const PATIENCE = 300_000;

/** True if every variant of a story is wanted, and not only each story and each peer once. */
export const ALL = process.env.MIDCALL_TEST_ALL === "1";

/** How many stories of a file run at once: what they start keeps that many cores busy. */
export const AT_ONCE = availableParallelism();

// Node's `fetch` gives a connection up after ten seconds, and has no word of its own for another time.
await fetch("data:,"); // makes what it connects with
const CONNECTS = Symbol.for("undici.globalDispatcher.1");
globalThis[CONNECTS] = new globalThis[CONNECTS].constructor({ connect: { timeout: PATIENCE }, headersTimeout: 0, bodyTimeout: 0 });

const folders = [];

/** A new folder, removed in the end. */
export function folder() {
  const made = mkdtempSync(join(tmpdir(), "midcall-peers-"));
  folders.push(made);
  return made;
}

/** What processes get of the tester's environment. Anything else there could change what they do. */
const KEPT = ["PATH", "TMPDIR", "MIDCALL_NODE", "MIDCALL_PEERS", "MIDCALL_SHAKEN"];
const HOME = folder();

/** The product's times that would make a story depend on how busy the machine is (`crates/gateway/src/times.rs`). */
const TIMES = {
  fastest_answer: "0ms",
  ...Object.fromEntries(
    ["probe", "server_end", "server_kill", "last_words", "first_words", "hang_up", "json", "json_modern", "drain", "connect", "hears", "neighbour", "tab_comes", "tab_hears", "doctor_probe", "headers", "fresh"]
      .map((name) => [name, "5m"]),
  ),
};

/** An environment in which the product has times of a story's own, and `TIMES` beside them. */
export const times = (own) => ({ MIDCALL_TEST_TIMES: Object.entries({ ...TIMES, ...own }).map((time) => time.join("=")).join() });

/** The environment of a process: what is kept of the tester's, what the tests set, and `more`. */
export function environment(more = {}) {
  const kept = KEPT.filter((name) => name in process.env).map((name) => [name, process.env[name]]);
  const own = { HOME, XDG_CONFIG_HOME: join(HOME, "config"), LANG: "C.UTF-8", TZ: "UTC", BROWSER: "false", PYTHONDONTWRITEBYTECODE: "1", ...times() };
  return { ...Object.fromEntries(kept), ...own, ...more };
}

const typescript = (file, version) => [NODE, join(HERE, "sdk/typescript", file), version];
const typescript2 = (file, era) => [NODE, join(HERE, "sdk/typescript2", file), era];
const python = (folder, file, ...era) => [PYTHON, join(HERE, "sdk", folder, file), ...era];
const rust = (file, ...how) => [join(HERE, "../../target/debug", file), ...how];

/** The commands of clients, by their SDK. */
export const CLIENTS = {
  "sdk-1": typescript("client.mjs", "sdk-1"),
  "sdk-1.20": typescript("client.mjs", "sdk-1.20"),
  python: python("python", "client.py"),
  fastmcp: python("fastmcp", "client.py"),
};

/** The commands of servers, by their SDK. */
export const SERVERS = {
  "sdk-1": typescript("server.mjs", "sdk-1"),
  "sdk-1.20": typescript("server.mjs", "sdk-1.20"),
  python: python("python", "server.py"),
  fastmcp: python("fastmcp", "server.py"),
  everything: [NODE, join(PEERS, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
};

/** Clients of 2026-07-28. `sdk-2-auto` would take a server of 2025, too. */
export const MODERN_CLIENTS = {
  "sdk-2": typescript2("client.mjs", "modern"),
  "sdk-2-auto": typescript2("client.mjs", "auto"),
  "python-modern": python("python", "client.py", "modern"),
  "fastmcp-modern": python("fastmcp", "client.py", "modern"),
};

/** Rust's own, of either era, from `../grid/rmcp`. */
export const RUST_CLIENTS = { rmcp: rust("rmcp-client", "legacy"), "rmcp-modern": rust("rmcp-client", "modern") };

/** Servers whose tools ask in the way of 2026-07-28. `sdk-2-dual` speaks to clients of 2025 by itself, too. */
export const MODERN_SERVERS = {
  "sdk-2": typescript2("server.mjs", "modern"),
  "sdk-2-dual": typescript2("server.mjs", "dual"),
  "python-rounds": python("python", "rounds.py"),
  "fastmcp-rounds": python("fastmcp", "rounds.py"),
};

/** The commands of servers that are reached by HTTP. */
export const HTTP_SERVERS = {
  "sdk-1": typescript("http.mjs", "sdk-1"),
  "sdk-1.20": typescript("http.mjs", "sdk-1.20"),
  python: python("python", "server.py", "http"),
  fastmcp: python("fastmcp", "server.py", "http"),
  "sdk-2": [...typescript2("server.mjs", "modern"), "http"],
  "sdk-2-dual": [...typescript2("server.mjs", "dual"), "http"],
  "python-rounds": python("python", "rounds.py", "http"),
  "fastmcp-rounds": python("fastmcp", "rounds.py", "http"),
};

/** A server whose tool needs a sign-in first: see its file. */
export const signIn = (...how) => [NODE, join(HERE, "sdk/plain/sign-in.mjs"), ...how];

/** A server without an SDK, for what no SDK would do: see its file. */
export const plain = (...how) => [NODE, join(HERE, "sdk/plain/server.mjs"), ...how];

const ending = [];

/** Ends everything that was started, and removes its folders. */
export async function leave() {
  await Promise.all(ending.splice(0).map((end) => end()));
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })));
}
if (process.argv[1].endsWith(".test.mjs")) after(leave); // whoever is no file of stories leaves by itself

/** A promise that is not waited for any longer than `PATIENCE`. */
export async function within(promise, what) {
  const late = new AbortController();
  const timeout = sleep(PATIENCE, undefined, { ref: false, signal: late.signal }).then(() => {
    throw new Error(`in vain: ${what}`);
  });
  timeout.catch(() => {});
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    late.abort();
  }
}

/** Tries until it is true. */
export async function until(true_, what = true_.toString()) {
  const last = Date.now() + PATIENCE;
  for (;;) {
    const found = await true_();
    if (found) return found;
    if (Date.now() > last) throw new Error(`in vain: ${what}`);
    await sleep(20);
  }
}

/** What of a process or stream has come, and what is waited for: each thing is met once. */
export class Told {
  #told = [];
  #waiting = [];

  push(thing) {
    const found = this.#waiting.findIndex(({ wants }) => wants(thing));
    if (found < 0) this.#told.push(thing);
    else this.#waiting.splice(found, 1)[0].resolve(thing);
  }

  /** The first such thing, told already or soon. */
  next(wants) {
    const found = this.#told.findIndex(wants);
    if (found >= 0) return Promise.resolve(this.#told.splice(found, 1)[0]);
    const soon = new Promise((resolve) => this.#waiting.push({ wants, resolve }));
    return within(soon, `${wants} among ${JSON.stringify(this.#told).slice(0, 2_000)}`);
  }
}

/** A process that talks in lines. */
export class Process {
  constructor([command, ...args], { env = {}, ...options } = {}) {
    // In a group of its own, so that it can be ended with what it started; and in a session of its
    // own, so that gateways of other stories are none of its business.
    const session = env.XDG_RUNTIME_DIR ?? folder();
    this.process = spawn(command, args, { detached: true, env: environment({ XDG_RUNTIME_DIR: session, ...env }), ...options });
    this.told = new Told();
    this.lines = [];
    this.errors = "";
    this.process.stderr.setEncoding("utf8").on("data", (text) => (this.errors += text));
    this.process.stdin.on("error", () => {}); // it may have ended
    createInterface({ input: this.process.stdout, crlfDelay: Infinity }).on("line", (line) => {
      this.lines.push(line);
      let told;
      try {
        told = JSON.parse(line);
      } catch {
        told = { unreadable: line };
      }
      this.told.push(told);
    });
    this.ended = new Promise((resolve) => this.process.on("close", (code, signal) => resolve(signal ?? code)));
    ending.push(() => this.#kill());
  }

  /** Ends what has not ended by itself: told to first, so that it can end what it started. Told twice, nothing open is waited for. */
  async #kill() {
    for (const [signal, patience] of [["SIGTERM", 300], ["SIGTERM", 10_000], ["SIGKILL", 10_000]]) {
      try {
        process.kill(-this.pid, signal);
      } catch {
        break; // nothing of it is left
      }
      await Promise.race([this.ended, sleep(patience, undefined, { ref: false })]);
    }
    for (const stream of this.process.stdio) stream?.destroy(); // somebody may have inherited them
  }

  get pid() {
    return this.process.pid;
  }

  send(message) {
    this.process.stdin.write(JSON.stringify(message) + "\n");
  }

  /** How it ended: a status or a signal. */
  end() {
    return within(this.ended, `the end of ${this.process.spawnargs.join(" ")}\n${this.errors}`);
  }
}

/** A client of some SDK, or of its own command, at its job: see `sdk/README.md`. */
export class Client extends Process {
  constructor(sdk, job, env) {
    super(CLIENTS[sdk] ?? MODERN_CLIENTS[sdk] ?? RUST_CLIENTS[sdk] ?? sdk, { env });
    this.send(job);
  }

  /** Answers a question that is open. */
  gives(answer) {
    this.send({ answer });
  }

  /** What is told under that name next. */
  async tells(name) {
    return (await this.told.next((line) => name in line))[name];
  }

  /** What the questions of the next tool brought its server. */
  async brought() {
    const { result, error } = await this.told.next((line) => "result" in line || "error" in line);
    if (error || result.isError) throw new Error(JSON.stringify(error ?? result));
    return JSON.parse(result.content[0].text);
  }

  /** Waits until it is done: everything it told. */
  async done() {
    const status = await this.end();
    if (status !== 0) throw new Error(`the client ended with ${status}\n${this.errors}`);
    return this.lines.map((line) => JSON.parse(line));
  }
}

/** A client without an SDK: the binary, and what one line after the other says. */
export class Wire extends Process {
  constructor(command, options) {
    super(command, options);
    this.id = 0;
  }

  /** Calls, and gives the response. */
  async call(method, params = {}, id = ++this.id) {
    this.send({ jsonrpc: "2.0", id, method, params });
    return this.told.next((line) => line.id === id && !line.method);
  }

  /** Opens the session as a client with these capabilities. */
  async open(capabilities = {}) {
    const clientInfo = { name: "wire", version: "1" };
    const opened = await this.call("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
    this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return opened.result;
  }
}

/** A server of some SDK that is reached by HTTP, once it is there: at `url`. */
export async function serve(sdk, env) {
  const server = new Process(HTTP_SERVERS[sdk], { env });
  const { url } = await server.told.next((line) => "url" in line);
  return Object.assign(server, { url });
}

/** `midcall wrap` before a server's command or the `url` of one, announced in a folder of its own. */
export async function wrap(server, ...flags) {
  const announce = join(folder(), "announce.json");
  const where = server.url ? ["--url", server.url] : ["--", ...server];
  return { announce, command: [BINARY, "wrap", "--no-open", "--announce", announce, ...flags, ...where] };
}

/** A gateway that listens before a server's command, and its address. */
export async function listen(server, ...flags) {
  const { announce, command } = await wrap(server, "--listen", "127.0.0.1:0", ...flags);
  const gateway = new Process(command);
  return { announce, gateway, url: (await gateway.told.next(({ unreadable }) => unreadable)).unreadable };
}

/** What a gateway announced, once it has. */
export function announced(file) {
  return until(() => readFile(file, "utf8").then(JSON.parse, () => undefined), "the announcement");
}

/** A browser that writes down which addresses it is asked to open: the environment that has it, and the addresses so far. */
export async function openings() {
  const place = folder();
  const file = join(place, "opened");
  await writeFile(join(place, "midcall-browser"), `#!/bin/sh\necho "$1" >>'${file}'\n`, { mode: 0o755 });
  // By its name: a path with blanks would be several words of BROWSER.
  const env = { BROWSER: "midcall-browser", PATH: `${place}:${process.env.PATH}` };
  return { env, opened: () => readFile(file, "utf8").then((text) => text.trim().split("\n"), () => []) };
}

/** Whether a process is there, other than as a zombie. */
export async function alive(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/^\d+ \(.*\) [ZX]/s.test(stat);
}
