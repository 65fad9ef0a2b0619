// The cells as a table for people.

/** Prints the table, unless it is `quiet`, and what is wrong; `true` if nothing is. */
export function table(cells, { clients, servers }, stories, { quiet, whole }) {
  const wrong = cells.filter(({ result }) => result === "red").map(({ peers, story, reason }) => `${peers}, ${story}: ${reason}`);
  const rows = [["client", "server", ...stories]];
  for (const client of clients) {
    for (const server of servers) {
      rows.push([client, server, ...stories.map((story) => {
        const met = cells.filter((cell) => cell.client === client && cell.server === server && cell.story === story);
        const green = met.filter(({ result }) => result === "green").length;
        const none = met.every(({ result }) => result === "n/a");
        const lacking = met.length > 0 && none;
        if (whole && !green && !met.some(({ result }) => result === "red") && !lacking) wrong.push(`${client} with ${server}, ${story}: no peers cover it`);
        return met.some(({ result }) => result === "red") ? "RED" : lacking ? "–" : `${green}`;
      })]);
    }
  }
  if (!quiet) {
    for (const row of rows) console.log(`| ${row.join(" | ")} |`);
    const reasons = new Set(cells.filter(({ result }) => result === "n/a").map(({ story, reason }) => `${story}: ${reason}`));
    for (const reason of reasons) console.log(`n/a: ${reason}`);
  }
  for (const fault of wrong) console.error(`not green: ${fault}`);
  return wrong.length === 0;
}
