// A real browser, for the page.
import { createRequire } from "node:module";
import { executable, FLAGS } from "../setup/chromium.mjs";
import { PATIENCE, environment } from "./world.mjs";

const { chromium } = createRequire(process.env.MIDCALL_NODE)("playwright-core");

/** Starts a browser, which has to be closed. */
export function browse() {
  return chromium.launch({ executablePath: executable(), args: FLAGS, headless: true, timeout: PATIENCE, env: environment() });
}

/** A new tab at an address, in a profile of its own. */
export async function tab(browser, address) {
  const context = await browser.newContext({ locale: "en-US", reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  await page.goto(address);
  return page;
}
