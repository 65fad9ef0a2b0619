// A trivial server: what a message costs on its way is measured, not what a tool does.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const FORM = { type: "object", properties: { word: { type: "string", title: "Word" } }, required: ["word"] };
let waiting;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "tools/call" && params.name === "echo") {
    send({ id, result: { content: [{ type: "text", text: params.arguments.text }] } });
  } else if (method === "tools/call") {
    waiting = id;
    send({ id: `ask-${id}`, method: "elicitation/create", params: { message: "Which word?", requestedSchema: FORM } });
  } else if (result?.action) {
    send({ id: waiting, result: { content: [{ type: "text", text: result.content.word }] } });
  } else if (method === "initialize") {
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "trivial", version: "1.0.0" } } });
  } else if (method === "tools/list") {
    send({ id, result: { tools: ["echo", "ask"].map((name) => ({ name, inputSchema: { type: "object" } })) } });
  } else if (method && id !== undefined) {
    send(method === "ping" ? { id, result: {} } : { id, error: { code: -32601, message: "not here" } });
  }
});
