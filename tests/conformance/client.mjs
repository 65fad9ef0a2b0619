// A client on stdio that does what a scenario of the conformance runner wants, with midcall between
// it and the runner's server, whose address is the last argument.
import { createRequire } from "node:module";
import { join } from "node:path";

const { MIDCALL_BIN, MIDCALL_PEERS, MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT = "{}" } = process.env;
const require = createRequire(join(MIDCALL_PEERS, "package.json"));
const server = { command: MIDCALL_BIN, args: ["wrap", "--no-open", "--url", process.argv.at(-1)], env: process.env };

/** Longer than anything here takes: the SDKs' own minute is over too soon on a machine that is busy. */
const options = { timeout: 600_000 };

/** A client of 2025-11-25, whose SDK fills in what a form has as defaults. */
async function legacy() {
  const { Client } = require("sdk-1/client/index.js");
  const { StdioClientTransport } = require("sdk-1/client/stdio.js");
  const { ElicitRequestSchema } = require("sdk-1/types.js");
  const capabilities = { elicitation: { form: { applyDefaults: true } } };
  const client = new Client({ name: "sdk-1-client", version: "1.0.0" }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: {} }));
  await client.connect(new StdioClientTransport(server), options);
  return client;
}

/** A client of 2026-07-28. */
async function modern() {
  const { Client } = require("@modelcontextprotocol/client");
  const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");
  const capabilities = { elicitation: { form: {} } };
  const client = new Client({ name: "sdk-2-client", version: "1.0.0" }, { capabilities, versionNegotiation: { mode: { pin: "2026-07-28" } } });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { confirmed: true } }));
  await client.connect(new StdioClientTransport(server), options);
  return client;
}

/** Arguments that a tool takes. */
function given({ inputSchema: { properties = {}, required = [] } }) {
  const kinds = { string: "x", integer: 1, number: 1, boolean: true };
  return Object.fromEntries(required.map((name) => [name, kinds[properties[name].type]]));
}

const era = process.argv[2];
const client = await { legacy, modern }[era]();
const callTool = (call) => (era === "legacy" ? client.callTool(call, undefined, options) : client.callTool(call, options));
const { tools } = await client.listTools({}, options);
const { toolCalls = tools.map((tool) => ({ name: tool.name, arguments: given(tool) })) } = JSON.parse(MCP_CONFORMANCE_CONTEXT);
for (const call of toolCalls) await callTool(call);
if (MCP_CONFORMANCE_SCENARIO === "http-standard-headers") {
  for (const { uri } of (await client.listResources({}, options)).resources) await client.readResource({ uri }, options);
  for (const { name } of (await client.listPrompts({}, options)).prompts) await client.getPrompt({ name }, options);
}
await client.close();
process.exit();
