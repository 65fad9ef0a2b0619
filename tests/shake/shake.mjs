// Runs a command on a machine at its worst: beside a program that takes all the CPU it can get, while processes of the
// command are stopped for seconds and continued, at random. Several families can be shaken at once, and disturb each
// other.
//
//   shake.mjs FAMILY RUNS -- COMMAND...
//
// FAMILY names the notes in target/shake, one line per finished run. Runs that the notes have for the code as it is now
// aren't repeated, so a shake that was interrupted goes on where it was. Exits with 0 if every run passed.
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { appendFileSync, createWriteStream, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const [family, runs, , ...command] = process.argv.slice(2);
const ROOT = join(import.meta.dirname, "../..");
const NOTES = join(ROOT, "target/shake");

/** Milliseconds between two stops, and how long one lasts. */
const BETWEEN = [200, 2_500];
const LASTS = [300, 5_000];
/** A run that takes longer hangs. */
const LONGEST_RUN = 45 * 60_000;

/** We are told to end: the run that is under way doesn't count. */
const interrupted = new Promise((resolve) => {
  for (const word of ["SIGINT", "SIGTERM"]) process.once(word, () => resolve("interrupted"));
});

const between = ([least, most]) => least + Math.random() * (most - least);
const reading = (file) => {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return ""; // the process has ended
  }
};

/** The folders of tests that a family uses. */
const USES = { rust: ["grid"], web: ["web"], peers: ["peers", "grid"], grid: ["grid", "peers"], conformance: ["conformance", "peers"] };

/** A name for the code as it is: documentation and tests of other families don't count. */
function version() {
  const git = (...words) => spawnSync("git", words, { cwd: ROOT, maxBuffer: 1 << 28 }).stdout;
  const unused = Object.keys(USES).filter((name) => !USES[family].includes(name));
  const code = [".", ":(exclude)*.md", ...unused.map((name) => `:(exclude)tests/${name}`)];
  const hash = createHash("sha256");
  for (const words of [["ls-files", "-s"], ["diff", "HEAD"]]) hash.update(git(...words, "--", ...code));
  return hash.digest("hex").slice(0, 12);
}

/** The processes of a run: they have inherited its mark, or a parent of theirs has (Chromium's children write over it). */
function processes(mark) {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).map(Number);
  const parents = new Map(ids.map((id) => [id, Number(/^\d+ \(.*\) \S (\d+)/s.exec(reading(`/proc/${id}/stat`))?.[1])]));
  const marked = new Set(ids.filter((id) => reading(`/proc/${id}/environ`).includes(mark)));
  const isOurs = (id) => marked.has(id) || (parents.has(id) && isOurs(parents.get(id)));
  return ids.filter(isOurs);
}

/** True if a process neither runs nor waits: it has ended, or a test has stopped it. */
const isStill = (id) => !/^\d+ \(.*\) [RSD]/s.test(reading(`/proc/${id}/stat`));

function signal(ids, name) {
  for (const id of ids) {
    try {
      process.kill(id, name);
    } catch {
      // it has ended
    }
  }
}

/** One process, some or all of a run. */
function some(ids) {
  const kind = Math.random();
  if (kind < 0.5) return [ids[Math.floor(Math.random() * ids.length)]];
  if (kind < 0.8) return ids.filter(() => Math.random() < 0.5);
  return ids;
}

/** Stops and continues processes until the run is over. */
async function disturb(mark, over) {
  let stops = 0;
  while (!over.aborted) {
    await sleep(between(BETWEEN), undefined, { signal: over }).catch(() => {});
    const stopped = some(processes(mark).filter((id) => !isStill(id))).filter(Boolean);
    if (over.aborted || !stopped.length) continue;
    signal(stopped, "SIGSTOP");
    stops += 1;
    await sleep(between(LASTS), undefined, { signal: over }).catch(() => {});
    signal(stopped, "SIGCONT");
  }
  return stops;
}

/** One run: how it ended. */
async function run(log) {
  const mark = `MIDCALL_SHAKEN=${randomUUID()}`;
  const [name, value] = mark.split("=");
  const hog = spawn(process.execPath, ["-e", "for (;;);"]);
  const began = Date.now();
  const child = spawn(command[0], command.slice(1), { cwd: ROOT, env: { ...process.env, [name]: value }, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  const end = new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
  const over = new AbortController();
  const disturbing = disturb(mark, over.signal);
  const hangs = sleep(LONGEST_RUN, "hangs", { signal: over.signal }).catch(() => {});
  const status = await Promise.race([end, hangs, interrupted]);
  over.abort();
  const stops = await disturbing;
  hog.kill("SIGKILL");
  const left = processes(mark);
  signal(left, "SIGCONT");
  signal(left, "SIGKILL");
  if (status === "interrupted") process.exit(130);
  return { passed: status === 0, status, stops, left: status === 0 ? left.length : undefined, seconds: Math.round((Date.now() - began) / 1_000) };
}

mkdirSync(NOTES, { recursive: true });
const notes = join(NOTES, `${family}.jsonl`);
const code = version();
const known = reading(notes).split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter((note) => note.code === code);
if (known.length) console.log(`shake ${family}: ${known.length} of ${runs} runs are known from before`);
for (let number = known.length + 1; number <= Number(runs); number++) {
  const file = join(NOTES, `${family}-${number}.log`);
  const log = createWriteStream(file);
  const note = { code, number, ...(await run(log)) };
  log.end();
  appendFileSync(notes, JSON.stringify(note) + "\n");
  known.push(note);
  console.log(`shake ${family}: run ${number} of ${runs} ${note.passed ? "passed" : `failed (${note.status}; see ${file})`} in ${note.seconds} s, ${note.stops} stops`);
}
const failed = known.filter(({ passed }) => !passed).length;
console.log(`shake ${family}:\n${known.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
