// `./test grid`: every client with every server, in every story, on real peers.
//
//   run.mjs [--all] [--json] [--direct] [TRANSPORT] [CLIENT/SERVER]
//
// --all, or MIDCALL_TEST_ALL=1, plays every pair over every transport, and not only a pair of each two revisions; so
// does CLIENT/SERVER, for this pair. --json prints a line per cell. --direct leaves the gateway out, to see what peers do by themselves, over
// stdio-stdio or http-http.
// A cell that is not green, or that no pair of peers covers, is a failure.
import { ALL, AT_ONCE, leave, within } from "../peers/world.mjs";
import { PAIRS, TRANSPORTS, isUsual, peers } from "./peers.mjs";
import { STORIES } from "./stories.mjs";
import { table } from "./table.mjs";
import { Trio } from "./trio.mjs";

const words = process.argv.slice(2);
const [all, json, direct] = ["--all", "--json", "--direct"].map((option) => words.includes(option));
const transport = words.find((word) => TRANSPORTS.includes(word)) ?? (direct && "stdio-stdio");
const only = words.find((word) => word.includes("/"));

/** Plays one story, in a trio of its own if it needs other flags. */
async function play(trio, pair, { flags, play }) {
  const others = flags?.(pair);
  const playing = others ? await within(Trio.start(pair, { direct, flags: others }), "the start") : trio;
  await within(play(playing), "the end of the story");
  if (others) await playing.end();
}

/** Plays all the stories of a pair: a cell each. */
async function meet(pair) {
  const { client, server, transport } = pair;
  const cells = [];
  let trio;
  for (const [story, its] of Object.entries(STORIES)) {
    const cell = { client: client.revision, server: server.revision, transport, story, peers: peers(pair) };
    cells.push(cell);
    cell.reason = its.lacks?.(pair) || its.fails?.(pair) || (direct && its.ours) || undefined;
    cell.result = cell.reason ? "n/a" : "green";
    if (cell.reason) continue;
    try {
      trio ??= await within(Trio.start(pair, { direct }), "the start");
      await play(trio, pair, its);
    } catch (error) {
      Object.assign(cell, { result: "red", reason: `${error.message}\n${trio?.running.errors.slice(-1_000) ?? ""}` });
      if (!trio) break; // the others would not start either
      trio.running.process.kill(); // what is left of this story is none of the next one's business
      trio = undefined;
    }
  }
  await trio?.end().catch((error) => Object.assign(cells.at(-1), { result: "red", reason: error.message }));
  return cells;
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, async () => {
    await leave();
    process.exit(1);
  });
}
const isWanted = (pair) => (only ? only === peers(pair) : all || ALL || isUsual(pair));
const waiting = PAIRS.filter((pair) => (!transport || transport === pair.transport) && isWanted(pair));
const cells = [];
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  for (let pair; (pair = waiting.shift()); ) {
    const met = await meet(pair);
    cells.push(...met);
    if (json) for (const cell of met) console.log(JSON.stringify(cell));
  }
}));
await leave();
const faults = table(cells, { prints: !json, whole: !only && !direct, transports: transport ? [transport] : TRANSPORTS });
for (const fault of faults) console.error(`not green: ${fault}`);
const count = (result) => cells.filter((cell) => cell.result === result).length;
if (!json) console.log(`${count("green")} passed, ${count("red")} failed`);
process.exit(faults.length ? 1 : 0);
