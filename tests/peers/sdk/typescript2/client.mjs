// A client on `@modelcontextprotocol/client` 2.x. argv: `auto` (it tries the modern era first), `modern` or `legacy`.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const MODES = { auto: "auto", modern: { pin: "2026-07-28" }, legacy: "legacy" };
const DECLARED = { "form+url": { form: {}, url: {} }, form: { form: {} }, "{}": {} };
const ANY = { "~standard": { version: 1, vendor: "midcall", validate: (value) => ({ value }) } };
const tell = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { url, command: [command, ...args] = [], declare, also = [], steps } = JSON.parse((await input.next()).value);

const elicitation = DECLARED[declare];
const capabilities = { ...(elicitation && { elicitation }), ...Object.fromEntries(also.map((name) => [name, {}])) };
const client = new Client({ name: "sdk-2-client", version: "1.0.0" }, { capabilities, versionNegotiation: { mode: MODES[process.argv[2]] } });
let answers = [];
if (elicitation) {
  client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq: { id, signal } }) => {
    tell({ asked: { id, params } });
    const found = answers.findIndex(({ message }) => message === params.message);
    if (found >= 0) {
      const [{ message, after = 0, ...answer }] = answers.splice(found, 1);
      await sleep(after);
      return answer;
    }
    if (!signal.aborted) await once(signal, "abort");
    tell({ withdrawn: id });
    return { action: "cancel" };
  });
}
if (also.includes("sampling")) {
  client.setRequestHandler("sampling/createMessage", ({ params }) => {
    tell({ sampled: params });
    return { model: "parrot", role: "assistant", content: { type: "text", text: "Hello" } };
  });
}
if (also.includes("roots")) client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///home" }] }));
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
await client.connect(transport);
tell({ opened: { server: client.getServerVersion(), revision: client.getNegotiatedProtocolVersion() } });
tell({ tools: (await client.listTools()).tools.map(({ name }) => name) });

/** Calls a tool or another method, and tells how that went. */
async function call({ call, method, tool, arguments: given = {}, answers: prepared = [], timeout = 120_000, quiet }) {
  answers = call === undefined ? prepared : [...answers, ...prepared]; // others may be open
  const options = { timeout, ...(quiet ? {} : { onprogress: (progress) => tell({ call, progress }) }) };
  const calling = method ? client.request({ method }, ANY, options) : client.callTool({ name: tool, arguments: given }, options);
  await calling.then(
    (result) => tell({ call, result }),
    ({ code, message, data }) => tell({ call, error: { code, message, data } }),
  );
}

if (steps) {
  for (const step of steps) await call(step);
} else {
  const open = [];
  for await (const line of input) open.push(call(JSON.parse(line)));
  await Promise.all(open);
}
if (url && transport.sessionId) await transport.terminateSession();
await client.close();
tell({ closed: true });
process.exit();
