// The element beside @rjsf/core with AJV and React, both bundled by the same esbuild with the
// same settings, in a Chromium that takes jobs line by line.
// In: {side, fields, times}. Out: {ns}, measured in the page: from a schema to a form laid out.
// First of all, unasked: {sizes: {ours, "ours, all", rjsf}} in gzipped bytes.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { executable, FLAGS } from "../../../tests/setup/chromium.mjs";

const { chromium } = createRequire(process.env.MIDCALL_NODE)("playwright-core");
const packages = process.env.MIDCALL_WEB_PEERS;
const { build } = createRequire(join(packages, "package.json"))("esbuild");
const js = join(import.meta.dirname, "../../web/js/");

const OURS = `
import ${JSON.stringify(js + "define.js")};
let element;
const ours = window.ours = {
  async draw(schema) {
    element = document.createElement("mcp-elicitation");
    element.setAttribute("server-name", "bench");
    document.body.append(element);
    element.request = { message: "Fill this in", requestedSchema: schema };
    // What is loaded on demand comes later, the first time by the network.
    for (let turn = 0; !ours.fields(); turn++) await (turn < 100 ? null : new Promise((resolve) => setTimeout(resolve)));
    return element.shadowRoot.querySelector("form").offsetHeight;
  },
  clear() { element.dismiss(); element.remove(); },
  fields: () => element.shadowRoot.querySelectorAll("input, select, textarea").length,
};`;

const RJSF = `
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { flushSync } from "react-dom";
import Form from "@rjsf/core";
import validator from "@rjsf/validator-ajv8";
let root, place;
window.rjsf = {
  draw(schema) {
    place = document.createElement("div");
    document.body.append(place);
    root = createRoot(place);
    flushSync(() => root.render(createElement(Form, { schema, validator })));
    return place.offsetHeight;
  },
  clear() { root.unmount(); place.remove(); },
  fields: () => place.querySelectorAll("input, select, textarea").length,
};`;

/** A side's files by their names: one for every page, others on demand. */
async function bundle(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: packages, sourcefile: "entry.js" },
    bundle: true, minify: true, format: "esm", splitting: true, target: "esnext", outdir: "/bundle", write: false,
    entryNames: "entry", chunkNames: "[hash]", define: { "process.env.NODE_ENV": '"production"' }, legalComments: "none", logLevel: "error",
  });
  return new Map(outputFiles.map(({ path, contents }) => [path.split("/").pop(), contents]));
}

const zipped = (files, names) => [...names].reduce((sum, name) => sum + gzipSync(files.get(name), { level: 9 }).length, 0);

const sides = { ours: await bundle(OURS), rjsf: await bundle(RJSF) };
const worker = await build({ entryPoints: [js + "pattern-worker.js"], bundle: true, minify: true, format: "esm", write: false, logLevel: "error" });

/** The files of each side that a page asked for. */
const asked = { ours: new Set(), rjsf: new Set() };

const server = createServer(({ url }, response) => {
  const [, side, file] = url.split("/");
  const body = sides[side]?.get(file);
  if (body) asked[side].add(file);
  if (body) response.setHeader("content-type", "text/javascript").end(body);
  else response.setHeader("content-type", "text/html").end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>bench</title><script type="module" src="/${side}/entry.js"></script>`);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const browser = await chromium.launch({
  executablePath: executable(),
  args: [...FLAGS, "--enable-blink-features=ForceHighResTimer"],
});
const pages = {};
for (const side of ["ours", "rjsf"]) {
  pages[side] = await browser.newPage();
  await pages[side].goto(`http://127.0.0.1:${server.address().port}/${side}`);
  await pages[side].waitForFunction((side) => side in window, side);
}

/** A schema of so many fields, of every simple kind in turn. */
function schema(fields) {
  const kinds = [
    { type: "string", title: "Name", minLength: 1, maxLength: 80 },
    { type: "string", title: "Email", format: "email" },
    { type: "integer", title: "Guests", minimum: 1, maximum: 12 },
    { type: "string", title: "Table", enum: ["window", "garden", "bar"] },
    { type: "boolean", title: "Newsletter", default: false },
  ];
  const properties = {};
  for (let at = 0; at < fields; at++) properties[`field_${at}`] = kinds[at % kinds.length];
  return { type: "object", properties, required: ["field_0", "field_1", "field_2"] };
}

/** Draws a form so many times, and says how long that took. */
async function draw({ side, fields, times }) {
  return pages[side].evaluate(async ({ side, schema, times, fields }) => {
    const { draw, clear, fields: drawn } = window[side];
    let ms = 0;
    for (let at = 0; at < times; at++) {
      const start = performance.now();
      const drawing = draw(schema);
      if (drawing instanceof Promise) await drawing;
      ms += performance.now() - start;
      if (drawn() < fields) throw new Error(`${side} drew ${drawn()} of ${fields} fields`);
      clear();
    }
    return Math.round(ms * 1e6);
  }, { side, schema: schema(fields), times, fields });
}

await draw({ side: "ours", fields: 5, times: 1 });
await draw({ side: "rjsf", fields: 5, times: 1 });
const sizes = {
  ours: zipped(sides.ours, asked.ours), // what a page loads to show a form of five fields
  "ours, all": zipped(sides.ours, sides.ours.keys()) + gzipSync(worker.outputFiles[0].contents, { level: 9 }).length,
  rjsf: zipped(sides.rjsf, asked.rjsf),
};
console.log(JSON.stringify({ sizes }));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify({ ns: await draw(JSON.parse(line)) }));
}
await browser.close();
server.close();
