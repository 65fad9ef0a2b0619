// `./test grid`: every client with every server, in every story, on real peers.
//
//   run.mjs [--json] [--direct] [CLIENT/SERVER]
//
// --json prints a line per cell. --direct leaves the gateway out, to see what peers do by themselves.
// A cell that is not green, or one that no pair of peers covers, is a failure.
import { setTimeout as sleep } from "node:timers/promises";
import { leave } from "../peers/world.mjs";
import { PAIRS, REVISIONS } from "./peers.mjs";
import { STORIES } from "./stories.mjs";
import { table } from "./table.mjs";
import { Trio } from "./trio.mjs";

const AT_ONCE = 2;
const STORY_MS = 20_000;

const options = new Set(process.argv.slice(2).filter((word) => word.startsWith("--")));
const only = process.argv.slice(2).find((word) => !word.startsWith("--"));
const direct = options.has("--direct");

/** A promise that is waited for as long as a story may take. */
async function bounded(promise) {
  promise.catch(() => {});
  const late = new AbortController();
  const limit = sleep(STORY_MS, undefined, late).then(() => {
    throw new Error(`not done within ${STORY_MS / 1000} s`);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    late.abort();
    limit.catch(() => {});
  }
}

/** Plays all the stories of a pair: a cell each. */
async function play(pair) {
  const cells = [];
  const { client, server } = pair;
  const cell = (story, result, reason) =>
    cells.push({ client: client.revision, server: server.revision, transport: "stdio-stdio", story, peers: `${client.sdk}/${server.sdk}`, result, reason });
  let trio;
  for (const [story, { lacks, fails, flags, play }] of Object.entries(STORIES)) {
    const none = lacks?.(pair) || fails?.(pair);
    if (none) {
      cell(story, "n/a", none);
      continue;
    }
    const special = flags?.(pair);
    let playing;
    try {
      playing = special ? await bounded(Trio.start(pair, { direct, flags: special })) : (trio ??= await bounded(Trio.start(pair, { direct })));
      await bounded(play(playing));
      if (special) await bounded(playing.end());
      cell(story, "green");
    } catch (error) {
      cell(story, "red", `${error.message}${playing ? `\n${playing.running.errors.slice(-2_000)}` : ""}`);
      playing?.running.process.kill(); // what is left of this story must not be met in the next one
      if (!special) trio = undefined;
    }
  }
  if (trio) await bounded(trio.end()).catch((error) => cell("end", "red", error.message));
  return cells;
}

const waiting = PAIRS.filter(({ client, server }) => !only || only === `${client.sdk}/${server.sdk}`);
const cells = [];
async function work() {
  for (let pair; (pair = waiting.shift()); ) {
    for (const cell of await play(pair)) {
      cells.push(cell);
      if (options.has("--json")) console.log(JSON.stringify(cell));
    }
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
await leave();
process.exitCode = table(cells, REVISIONS, Object.keys(STORIES), { quiet: options.has("--json"), whole: !only && !direct }) ? 0 : 1;
