// The browser that stories are played in, and what every page in it has.
//
// `run.mjs` starts one browser for all files and tells them where it is. A file that is run by hand starts its own.
// `./test web` says where the packages are: beside MIDCALL_NODE.
import { createRequire } from "node:module";
import { executable, FLAGS } from "../setup/chromium.mjs";

export const require = createRequire(process.env.MIDCALL_NODE ?? process.execPath);
const { chromium } = require("playwright-core");

/** Bounds a hang, and nothing else: no story has to be fast. */
export const PATIENCE = 120_000;

/** Whether every variant of a story is played, or each story once. */
export const ALL = process.env.MIDCALL_TEST_ALL === "1";

// What no story needs and every new window pays for: a renderer in reserve, and two for suggestions below an address bar
// that nobody sees. Chromium takes the last list of these only, so Playwright's own is repeated.
const WITHOUT = [
  "SpareRendererForSitePerProcess", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",
  "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "DialMediaRouteProvider", "GlobalMediaControls",
  "HttpsUpgrades", "LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning",
  "BlockOriginHeaderModificationOnRedirect", "AvoidCorsURLLoaderRestartOnRedirect", "Translate", "AutoDeElevate",
  "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled",
];

/** The shared browser, or one of this file's own. */
export function browser() {
  const shared = process.env.MIDCALL_BROWSER;
  return shared ? chromium.connect(shared, { timeout: PATIENCE }) : chromium.launch(how());
}

/** A browser for several files: `wsEndpoint()` is what MIDCALL_BROWSER has to say. */
export const sharedBrowser = () => chromium.launchServer({ ...how(), host: "127.0.0.1" });

const how = () => ({ executablePath: executable(), args: [...FLAGS, `--disable-features=${WITHOUT}`], env: surroundings(), timeout: PATIENCE });

/**
 * This process's environment without what would change a story: the machine's language, time zone, proxies, and
 * Midcall's own variables. `MIDCALL_SHAKEN` stays: by it `shake.mjs` finds the processes that it disturbs.
 */
export function surroundings(more = {}) {
  const changes = /^(LC_.*|LANG|LANGUAGE|TZ|XDG_.*|.*_proxy|BROWSER|MIDCALL_(?!SHAKEN).*)$/i;
  const kept = Object.entries(process.env).filter(([name]) => !changes.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C.UTF-8", TZ: "UTC", ...more };
}

/** What a page has unless its story says otherwise. */
export const USUAL = { locale: "en-US", timezoneId: "UTC", reducedMotion: "reduce" };

/**
 * Makes a page independent of the machine's speed: it never gives a call up, and a question that has just come takes
 * answers at once. Stories about either bring their own clock.
 *
 * @param {number | null} [moment]  how long a question is left alone; null if the story's clock says when that is over
 */
export const unhurry = (page, moment = MOMENT) => page.addInitScript((moment) => {
  const { setTimeout } = window;
  window.setTimeout = (work, time, ...more) => setTimeout(work, time === moment ? 0 : time, ...more);
  AbortSignal.timeout = () => new AbortController().signal;
}, moment);

/** For so many milliseconds a question that has just come is left alone, as in `dialog.js`. */
export const MOMENT = 700;
