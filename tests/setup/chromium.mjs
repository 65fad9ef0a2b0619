// The browser of this machine, for tests. Any version will do: a browser gets older by the week.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Flags for a browser that only loopback pages are opened in. */
export const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-proxy-server",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** The path of a Chromium: what MIDCALL_CHROMIUM says, else the first on PATH. */
export function executable() {
  if (process.env.MIDCALL_CHROMIUM) return process.env.MIDCALL_CHROMIUM;
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  if (!found) throw new Error(`found none of ${names.join(", ")} on PATH: set MIDCALL_CHROMIUM to the path of a Chromium`);
  return found;
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
