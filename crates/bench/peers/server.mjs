// A trivial server: what a message costs on its way is measured, not what a tool does.
// argv: a port, to be there by HTTP instead, where it asks nothing.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const FORM = { type: "object", properties: { word: { type: "string", title: "Word" } }, required: ["word"] };
let waiting;

/** What is answered at once. */
function answer({ method, params }) {
  if (method === "tools/call") return { result: { content: [{ type: "text", text: params.arguments.text }] } };
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "trivial", version: "1.0.0" } } };
  }
  if (method === "tools/list") return { result: { tools: ["echo", "ask"].map((name) => ({ name, inputSchema: { type: "object" } })) } };
  return method === "ping" ? { result: {} } : { error: { code: -32601, message: "not here" } };
}

if (process.argv[2]) {
  const sessions = new Set();
  createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const message = request.method === "POST" ? JSON.parse(body) : {};
    const session = message.method === "initialize" ? randomUUID() : request.headers["mcp-session-id"];
    if (message.method === "initialize") sessions.add(session);
    if (!sessions.has(session)) return response.writeHead(404).end();
    if (message.id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end();
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": session });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, ...answer(message) }));
  }).listen(Number(process.argv[2]), "127.0.0.1");
} else {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    const { id, method, params, result } = message;
    if (method === "tools/call" && params.name !== "echo") {
      waiting = id;
      send({ id: `ask-${id}`, method: "elicitation/create", params: { message: "Which word?", requestedSchema: FORM } });
    } else if (result?.action) {
      send({ id: waiting, result: { content: [{ type: "text", text: result.content.word }] } });
    } else if (method && id !== undefined) {
      send({ id, ...answer(message) });
    }
  });
}
