// run.mjs [FILE...]: plays the stories of these files, or of all, in one browser, on as many cores as there are.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { sharedBrowser } from "./browser.mjs";

const here = import.meta.dirname;
const every = () => readdirSync(here).filter((name) => name.endsWith(".test.mjs")).map((name) => join(here, name));
const files = process.argv.length > 2 ? process.argv.slice(2) : every();

const browser = await sharedBrowser();
const runner = spawn(process.execPath, [
  "--test",
  `--test-concurrency=${availableParallelism()}`,
  "--test-timeout=1800000", // bounds a hang
  `--test-reporter=${process.stdout.isTTY ? "spec" : "tap"}`,
  ...files,
], { stdio: "inherit", env: { ...process.env, MIDCALL_BROWSER: browser.wsEndpoint() } });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => runner.kill(signal));
const [code] = await once(runner, "exit");
await browser.close();
process.exitCode = code ?? 1;
