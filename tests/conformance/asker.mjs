// A server with the tools that the runner's scenarios about questions ask for, on the SDK 2.x. argv: `stdio`,
// or `http`, which tells its address and serves both eras there by itself.
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable } from "node:stream";

const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { MissingRequiredClientCapabilityError, ProtocolError, Server, WebStandardStreamableHTTPServerTransport, createMcpHandler, inputRequired, isLegacyRequest } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");

const KEY = randomBytes(32);
const sealed = (text) => `${text}.${createHmac("sha256", KEY).update(text).digest("base64url")}`;

/** What a state of ours says. */
function unsealed(state) {
  const text = state.slice(0, state.lastIndexOf("."));
  const [given, right] = [state, sealed(text)].map((it) => Buffer.from(it));
  if (given.length !== right.length || !timingSafeEqual(given, right)) throw new ProtocolError(-32602, "requestState is not ours");
  return text;
}

const form = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required } });
const text = { type: "string" };
const NAME = form("What is your name?", { name: text });
const sample = (words) => inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens: 100 });
const named = (names) => names.map((name, n) => ({ const: `value${n + 1}`, title: name }));
const OPTIONS = ["option1", "option2", "option3"];

/** What each tool and prompt asks: `rounds`, and whether it wants a state of ours back. */
const ASKS = {
  test_elicitation: {
    rounds: ({ message }) => [{ user: form(message, { username: { ...text, description: "User's response" }, email: { ...text, description: "User's email address" } }) }],
  },
  test_elicitation_sep1034_defaults: {
    rounds: () => [{ all: form("Check these", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    }, []) }],
  },
  test_elicitation_sep1330_enums: {
    rounds: () => [{ all: form("Choose", {
      untitledSingle: { type: "string", enum: OPTIONS },
      titledSingle: { type: "string", oneOf: named(["First Option", "Second Option", "Third Option"]) },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
      titledMulti: { type: "array", items: { anyOf: named(["First Choice", "Second Choice", "Third Choice"]) } },
    }, []) }],
  },
  test_input_required_result_elicitation: { rounds: () => [{ user_name: NAME }] },
  test_input_required_result_sampling: { rounds: () => [{ capital_question: sample("What is the capital of France?") }] },
  test_input_required_result_list_roots: { rounds: () => [{ client_roots: inputRequired.listRoots() }] },
  test_input_required_result_request_state: { state: true, rounds: () => [{ confirm: form("Please confirm", { ok: { type: "boolean" } }) }] },
  test_input_required_result_multiple_inputs: {
    state: true,
    rounds: () => [{ user_name: NAME, greeting: sample("Generate a greeting"), client_roots: inputRequired.listRoots() }],
  },
  test_input_required_result_multi_round: {
    state: true,
    rounds: () => [{ step1: form("Step 1: What is your name?", { name: text }) }, { step2: form("Step 2: What is your favorite color?", { color: text }) }],
  },
  test_input_required_result_tampered_state: { state: true, rounds: () => [{ confirm: form("Please confirm", { ok: { type: "boolean" } }) }] },
  test_input_required_result_capabilities: {
    rounds: (_, can) => [{ ...(can.elicitation && { user_name: NAME }), ...(can.sampling && { capital_question: sample("What is the capital of France?") }) }],
  },
  test_streaming_elicitation: { rounds: () => [{ user_name: NAME }] },
  test_missing_capability: {
    rounds: (_, can) => {
      if (!can.sampling) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      return [];
    },
  },
  test_logging_tool: { logs: true, rounds: () => [] },
  test_headers: { properties: { town: { type: "string", "x-mcp-header": "Town" } }, rounds: () => [] },
  test_input_required_result_prompt: { rounds: () => [{ user_context: form("What context should the prompt use?", { context: text }) }] },
};
const TOOLS = Object.keys(ASKS).filter((name) => !name.endsWith("prompt"));

const listed = (name) => ({ name, description: `Asks as ${name} should`, inputSchema: { type: "object", properties: ASKS[name].properties ?? {} } });

/** What is asked next, or the result once nothing is. */
function play(name, given, mcpReq, result) {
  const { state, rounds } = ASKS[name];
  const can = mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? { elicitation: {}, sampling: {} };
  const said = mcpReq.requestState();
  const round = state && said !== undefined ? Number(unsealed(said)) : 0;
  const all = rounds(given, can);
  const brought = mcpReq.inputResponses ?? {};
  const isAnswered = Object.keys(all[round] ?? {}).every((key) => brought[key] !== null && typeof brought[key] === "object");
  const next = isAnswered ? round + 1 : round;
  if (next < all.length) return inputRequired({ inputRequests: all[next], ...(state && { requestState: sealed(String(next)) }) });
  return result(`state-ok: ${JSON.stringify(brought)}`);
}

function build() {
  const server = new Server({ name: "asker", version: "1.0.0" }, { capabilities: { tools: {}, prompts: {}, logging: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS.map(listed) }));
  server.setRequestHandler("prompts/list", () => ({ prompts: [{ name: "test_input_required_result_prompt", description: "Asks, too" }] }));
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: given = {} } }, { mcpReq }) => {
    if (ASKS[name].logs) await mcpReq.log("info", "It is being done");
    return play(name, given, mcpReq, (said) => ({ content: [{ type: "text", text: said }] }));
  });
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: given = {} } }, { mcpReq }) =>
    play(name, given, mcpReq, (said) => ({ messages: [{ role: "user", content: { type: "text", text: said } }] })));
  return server;
}

/** Serves both eras: legacy clients in sessions, as the SDK has them. */
function serve() {
  const modern = createMcpHandler(() => build(), { legacy: "reject" });
  const sessions = new Map();
  async function answer(request) {
    if (!(await isLegacyRequest(request))) return modern.fetch(request);
    const known = sessions.get(request.headers.get("mcp-session-id"));
    if (known) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await build().connect(transport);
    return transport.handleRequest(request);
  }
  const http = createServer(async (from, to) => {
    const body = ["GET", "HEAD"].includes(from.method) ? undefined : Readable.toWeb(from);
    const headers = Object.entries(from.headers).map(([name, value]) => [name, String(value)]);
    const response = await answer(new Request(`http://${from.headers.host}${from.url}`, { method: from.method, headers, body, duplex: "half" }));
    to.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) Readable.fromWeb(response.body).pipe(to);
    else to.end();
  });
  http.keepAliveTimeout = 0; // else a server that stood still closes connections that are in use
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}

if (process.argv[2] === "http") serve();
else serveStdio(build, { legacy: "serve" });
