// How a page looks to people: what axe-core finds wrong, and what can't be read because it is cut off, in any font.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { ALL, require } from "./browser.mjs";

const AXE = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const font = async (name) => (await readFile(require.resolve(`@fontsource/${name}/files/${name}-latin-400-normal.woff2`))).toString("base64");

/** A font that is much narrower than most, one that is much wider, and the machine's own, whichever that is. */
const FONTS = { narrow: await font("league-gothic"), wide: await font("krona-one"), own: null };

/** Sees that axe-core finds nothing wrong: with any rule in light colours, and in dark ones with those about colours. */
export async function judge(page, name) {
  for (const [colorScheme, rules] of [["dark", ALL ? undefined : ["color-contrast"]], ["light", undefined]]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page, rules), [], `${name}, ${colorScheme}`);
  }
}

/** In words short enough to read. */
async function violations(page, rules) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE); // by the debugger: the page's own policy lets no foreign script in
  const { violations } = await page.evaluate((rules) => window.axe.run(document, { resultTypes: ["violations"], ...(rules && { runOnly: rules }) }), rules);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} (${failureSummary.split("\n")[1]?.trim()})`).join("; ")}`);
}

/** Sees that nothing is cut off or sticks out, in every font. */
export async function fits(page, name) {
  const found = await page.evaluate(cutOff, FONTS);
  assert.deepEqual(found, [], name);
}

/** On the page: in each font, the elements whose content is wider than they are, and those that aren't within the window and their dialog. */
async function cutOff(fonts) {
  const sheet = (window.worn ??= document.adoptedStyleSheets[document.adoptedStyleSheets.push(new CSSStyleSheet()) - 1]);
  const wear = async (name, bytes) => {
    const family = `Worn ${name}`;
    if (![...document.fonts].some((font) => font.family === family)) {
      const font = new FontFace(family, Uint8Array.from(atob(bytes), (byte) => byte.charCodeAt(0)).buffer);
      document.fonts.add(await font.load());
    }
    sheet.replaceSync(`:root { --mcp-elicitation-font: "${family}", sans-serif; } :is(html, pre) { font-family: "${family}", sans-serif; }`);
  };
  const all = (root) => [...root.querySelectorAll("*")].flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
  const above = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
  const isForEars = (node) => node && (getComputedStyle(node).clipPath !== "none" || isForEars(above(node)));
  const frame = (node) => (!node ? document.documentElement : node.localName === "dialog" ? node : frame(above(node)));
  const scrolls = (node) => node.matches("input, textarea, pre");
  const isCut = (node) => {
    if (!node.checkVisibility() || isForEars(node)) return false;
    const { left, right } = node.getBoundingClientRect();
    const room = frame(node).getBoundingClientRect();
    return (node.clientWidth && node.scrollWidth > node.clientWidth + 1 && !scrolls(node)) || left < room.left - 1 || right > room.right + 1;
  };
  const found = [];
  for (const [name, bytes] of Object.entries(fonts)) {
    if (bytes) await wear(name, bytes);
    else sheet.replaceSync("");
    for (const node of all(document).filter(isCut)) found.push(`${name} font: ${node.scrollWidth} px in ${node.clientWidth} px: ${node.outerHTML.slice(0, 120)}`);
  }
  return found;
}
