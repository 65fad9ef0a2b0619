// `midcall serve` with a configuration file of a test's own.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BINARY, Process, folder as newFolder } from "./world.mjs";

/** A server in the file, started by a command. */
export const upstream = (name, command, more = "") => `[upstream.${name}]\ncommand = ${JSON.stringify(command)}\n${more}\n`;

/** A gateway with that file, and the addresses it tells. */
export async function serve(file, env = {}, ...flags) {
  const folder = newFolder();
  await writeFile(join(folder, "midcall.toml"), file);
  const announce = join(folder, "announce.json");
  const gateway = new Process([BINARY, "serve", "--no-open", "--announce", announce, "--config", join(folder, "midcall.toml"), ...flags], { env });
  const count = file.split("[upstream.").length - 1;
  const urls = {};
  for (let told = 0; told < count && !flags.includes("--check"); told++) {
    const [name, url] = (await gateway.told.next(({ unreadable }) => unreadable)).unreadable.split(" ");
    urls[name] = url;
  }
  return { gateway, announce, urls, folder };
}
