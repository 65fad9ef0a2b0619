// The trivial server of `server.mjs` for clients of 2026-07-28: it asks by returning.
// argv: a port, to be there by HTTP instead.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const FORM = { type: "object", properties: { word: { type: "string", title: "Word" } }, required: ["word"] };
const ASK = { method: "elicitation/create", params: { mode: "form", message: "Which word?", requestedSchema: FORM } };
const text = (text) => ({ resultType: "complete", content: [{ type: "text", text }] });
const tools = ["echo", "ask"].map((name) => ({ name, inputSchema: { type: "object" } }));

/** What a request leads to. */
function answer({ method, params }) {
  if (method === "tools/call" && params.name === "echo") return { result: text(params.arguments.text) };
  if (method === "tools/call" && params.inputResponses) return { result: text(params.inputResponses.word.content.word) };
  if (method === "tools/call") return { result: { resultType: "input_required", inputRequests: { word: ASK }, requestState: "asked" } };
  if (method === "tools/list") return { result: { resultType: "complete", ttlMs: 0, cacheScope: "private", tools } };
  if (method !== "server/discover") return { error: { code: -32601, message: "not here" } };
  const _meta = { "io.modelcontextprotocol/serverInfo": { name: "trivial", version: "1.0.0" } };
  return { result: { resultType: "complete", ttlMs: 0, cacheScope: "private", supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, _meta } };
}

const reply = (message) => JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer(message) });

if (process.argv[2]) {
  createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const message = request.method === "POST" ? JSON.parse(body) : {};
    if (message.id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end();
    response.writeHead(200, { "content-type": "application/json" }).end(reply(message));
  }).listen(Number(process.argv[2]), "127.0.0.1");
} else {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.method && message.id !== undefined) process.stdout.write(reply(message) + "\n");
  });
}
