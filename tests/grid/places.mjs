// Where servers are that are reached by HTTP, and a gateway before them.
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BINARY, Process, wrap } from "../peers/world.mjs";

const places = new Map();

/** The address of a server, which all who want it have in common. */
export function placeOf({ sdk, byHttp }) {
  if (!places.has(sdk)) places.set(sdk, new Process(byHttp).told.next((line) => "url" in line));
  return places.get(sdk).then(({ url }) => url);
}

/** `midcall serve` before a server's address, set up as flags of `wrap` say it, and its own address. */
export async function serves({ url }, ...flags) {
  const { announce } = await wrap({ url });
  const config = join(dirname(announce), "midcall.toml");
  const settings = flags.map((word) => (word.startsWith("--") ? `${word.slice(2)} =` : `${JSON.stringify(word)}\n`));
  await writeFile(config, `[serve]\nlisten = "127.0.0.1:0"\n[upstream.peer]\nurl = "${url}"\n${settings.join(" ")}`);
  const gateway = new Process([BINARY, "serve", "--config", config, "--no-open", "--announce", announce]);
  const { unreadable } = await gateway.told.next(({ unreadable }) => unreadable);
  return { announce, gateway, url: unreadable.split(" ")[1] };
}
