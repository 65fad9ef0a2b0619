// A client on `@modelcontextprotocol/client` 2.x. argv: `auto` (it tries the modern era first), `modern` or `legacy`.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { answered, give, prepare } from "../answers.mjs";

const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

/** Longer than anything here takes: the SDK's own minute is over too soon on a machine that is busy. */
const timeout = 600_000;
const MODES = { auto: "auto", modern: { pin: "2026-07-28" }, legacy: "legacy" };
const DECLARED = { "form+url": { form: {}, url: {} }, form: { form: {} }, "{}": {} };
const ANY = { "~standard": { version: 1, vendor: "midcall", validate: (value) => ({ value }) } };
const tell = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { url, command: [command, ...args] = [], declare, also = [], lists = true, steps } = JSON.parse((await input.next()).value);

const elicitation = DECLARED[declare];
const capabilities = { ...(elicitation && { elicitation }), ...Object.fromEntries(also.map((name) => [name, {}])) };
const client = new Client({ name: "sdk-2-client", version: "1.0.0" }, { capabilities, versionNegotiation: { mode: MODES[process.argv[2]] } });
if (elicitation) {
  client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq: { id, signal } }) => {
    tell({ asked: { id, params } });
    const said = await answered(params.message, signal);
    if (!said) tell({ withdrawn: id });
    return said ?? { action: "cancel" };
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
await client.connect(transport, { timeout });
tell({ opened: { server: client.getServerVersion(), revision: client.getNegotiatedProtocolVersion() } });
if (lists) tell({ tools: (await client.listTools({}, { timeout })).tools.map(({ name }) => name) });

/** Calls a tool or another method, and tells how that went. */
async function call({ call, method, tool, arguments: given = {}, answers = [], quiet, answer, back }) {
  if (answer) return give(answer);
  prepare(answers, call !== undefined);
  const options = { timeout, ...(back && { allowInputRequired: true }), ...(quiet ? {} : { onprogress: (progress) => tell({ call, progress }) }) };
  const request = back ? { method: "tools/call", params: { name: tool, arguments: given, ...back } } : method && { method };
  const calling = request ? client.request(request, ANY, options) : client.callTool({ name: tool, arguments: given }, options);
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
