// The cells as a table for people: in each, how many pairs of peers played the story, over all transports.
import { REVISIONS } from "./peers.mjs";
import { STORIES } from "./stories.mjs";

/** What is wrong with the cells. Prints the table, if it is wanted; a `whole` one has no holes over any of the `transports`. */
export function table(cells, { prints, whole, transports }) {
  const faults = cells.filter(({ result }) => result === "red").map(({ transport, peers, story, reason }) => `${transport}, ${peers}, ${story}: ${reason}`);
  const stories = Object.keys(STORIES);
  const rows = [["client", "server", ...stories], Array(stories.length + 2).fill("---")];
  for (const client of REVISIONS.clients) {
    for (const server of REVISIONS.servers) {
      const row = stories.map((story) => {
        const met = cells.filter((cell) => cell.client === client && cell.server === server && cell.story === story);
        const count = (result) => met.filter((cell) => cell.result === result).length;
        if (count("red")) return "**no**";
        if (isLacking({ client, server, story })) return "–";
        const missing = transports.filter((transport) => !met.some((cell) => cell.transport === transport && cell.result === "green"));
        if (whole) faults.push(...missing.map((transport) => `${transport}, ${client} and ${server}, ${story}: no pair of peers plays it`));
        return `${count("green") || ""}`;
      });
      rows.push([client, server, ...row]);
    }
  }
  if (prints) {
    for (const row of rows) console.log(`| ${row.join(" | ")} |`);
    console.log("\n–: the protocol has no such thing there. Peers that cannot do it by themselves:");
    const own = cells.filter((cell) => cell.result === "n/a" && !isLacking(cell));
    for (const line of new Set(own.map(({ peers, story, reason }) => `${peers}, ${story}: ${reason}`))) console.log(line);
  }
  return faults;
}

/** Whether the protocol has no words for a cell's story. */
const isLacking = ({ client, server, story }) =>
  Boolean(STORIES[story].lacks?.({ client: { revision: client }, server: { revision: server } }));
