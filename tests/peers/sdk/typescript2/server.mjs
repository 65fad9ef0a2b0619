// A server on `@modelcontextprotocol/server` 2.x. Its tools ask by returning, and are run again with
// what was answered. argv: `dual` (2025 clients are served too, by the SDK's own shim) or `modern`.
import { createRequire } from "node:module";
import { join } from "node:path";
import { gate } from "../gates.mjs";

const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { Server, createMcpHandler, inputRequired } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");

const { listen } = await import("./http.mjs");

const form = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: "object", properties, required } });
const text = (title) => ({ type: "string", title, minLength: 1 });

const CONFIRM = form("Delete 3 files?", { sure: { type: "boolean", title: "Delete them" } });
const BOOK = form("Which table?", {
  name: text("Name"),
  email: { type: "string", format: "email" },
  guests: { type: "integer", minimum: 1, maximum: 12 },
  table: { type: "string", enum: ["window", "garden", "bar"], enumNames: ["By the window", "In the garden", "At the bar"] },
}, ["name", "guests"]);
const LARGE = form("Thirty things", Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`field${n}`, text(`Field ${n}`)])));
const SIGN_IN = inputRequired.elicitUrl({ message: "Sign in", url: "https://example.com/sign-in" });
const SAMPLE = inputRequired.createMessage({
  messages: [{ role: "user", content: { type: "text", text: "Say hello" } }], maxTokens: 100,
});

/** What each tool asks, round after round; a round without questions is waited through. */
const rounds = {
  confirm: () => [{ confirm: CONFIRM }],
  form: () => [{ book: BOOK }],
  large: () => [{ large: LARGE }],
  wizard: ({ steps = 5 }) => Array.from({ length: steps }, (_, n) => ({ step: form(`Step ${n + 1}`, { value: text(`Value ${n + 1}`) }) })),
  both: () => [{ town: form("Which town?", { town: text("Town") }), day: form("Which day?", { day: text("Day") }) }],
  numbered: ({ number }) => [{ number: form(`Number ${number}`, { value: text("Value") }) }],
  brief: () => [{ confirm: CONFIRM }],
  link: () => [{ link: SIGN_IN }],
  sample: () => [{ sample: SAMPLE }],
  roots: () => [{ roots: inputRequired.listRoots() }],
  wait: ({ rounds = 2 }) => Array.from({ length: rounds }, () => ({})),
  steps: () => [],
  enough: () => [],
};

async function call({ params: { name, arguments: given = {} } }, { mcpReq }) {
  const state = JSON.parse(mcpReq.requestState() ?? `{"round":0,"brought":[]}`);
  for (const key of Object.keys(rounds[name](given)[state.round - 1] ?? {})) state.brought.push(mcpReq.inputResponses?.[key]);
  const questions = rounds[name](given)[state.round++];
  if (questions) {
    const requestState = JSON.stringify(state);
    const asked = Object.keys(questions).length ? { inputRequests: questions, requestState } : { requestState };
    return { ...inputRequired(asked), ...(name === "brief" && { _meta: { "dev.midcall/timeoutMs": 100 } }) };
  }
  const { progressToken } = mcpReq._meta ?? {};
  for (let progress = 1; name === "steps" && progress <= given.steps && progressToken !== undefined; progress++) {
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: given.steps } });
  }
  if (name === "enough") gate.opens(given.name);
  if (name === "steps") await gate(given.name); // this SDK's client drops progress that comes together with the result
  return { content: [{ type: "text", text: JSON.stringify(state.brought) }] };
}

function make() {
  const server = new Server({ name: "sdk-2", version: "1.0.0" }, { capabilities: { tools: {}, logging: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: Object.keys(rounds).map((name) => ({ name, inputSchema: { type: "object" } })) }));
  server.setRequestHandler("tools/call", call);
  return server;
}

const isModern = process.argv[2] === "modern";
if (process.argv[3] === "http") listen(createMcpHandler(make, { legacy: isModern ? "reject" : "stateless" }).fetch);
else serveStdio(make, { legacy: isModern ? "reject" : "serve" });
