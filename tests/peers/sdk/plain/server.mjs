// A server without an SDK, for what no SDK would do. argv: how it behaves, any of
//   noise     writes lines that are no messages around each message
//   stubborn  ends neither when its input does nor when it is told to
//   slow      reads nothing for a second, once it is opened
//   polite    says that it was told to end, and does with status 7
//   name=…    goes by that name
// What it hears and how it ends it writes to the file MIDCALL_HEARD, a line each.
//
// Its tools: `ask {count}` asks so many times at once and answers with what came back;
// `huge {bytes}` answers at such length, `length {text}` with a length;
// `half` answers without the end of the line, and ends; `env` with its environment and folder.
import { appendFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const how = new Set(process.argv.slice(2));
const name = process.argv.slice(2).find((word) => word.startsWith("name="))?.slice("name=".length) ?? "plain";
const heard = (line) => process.env.MIDCALL_HEARD && appendFileSync(process.env.MIDCALL_HEARD, line + "\n");
const waiting = new Map();
let asked = 0;

function send(message) {
  const line = JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n";
  process.stdout.write(how.has("noise") ? `starting up…\n${line}{"half": \n` : line);
}

const answer = (id, value) => send({ id, result: { content: [{ type: "text", text: JSON.stringify(value) }] } });

/** Asks, and gives the whole response. */
function ask() {
  const id = `q${asked++}`;
  const requestedSchema = { type: "object", properties: { word: { type: "string" } }, required: ["word"] };
  send({ id, method: "elicitation/create", params: { message: `Question ${id}`, requestedSchema } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const tools = {
  ask: ({ count = 1 }) => Promise.all(Array.from({ length: count }, ask)),
  huge: ({ bytes }) => "x".repeat(bytes),
  length: ({ text }) => text.length,
  env: () => ({ cwd: process.cwd(), word: process.env.MIDCALL_WORD }),
};

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines
  .on("line", async (line) => {
    heard(line.length > 10_000 ? `${line.length} characters` : line);
    const { id, method, params, ...rest } = JSON.parse(line);
    if (method === "initialize") {
      const serverInfo = { name, version: "1.0.0" };
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
    } else if (method === "tools/list") {
      send({ id, result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })) } });
    } else if (method === "tools/call" && params.name === "half") {
      writeSync(1, JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } }));
      process.exit(3);
    } else if (method === "tools/call") {
      answer(id, await tools[params.name](params.arguments ?? {}));
    } else if (method === "notifications/initialized" && how.has("slow")) {
      lines.pause();
      setTimeout(() => lines.resume(), 1_000);
    } else if (!method) {
      waiting.get(id)?.(rest);
      waiting.delete(id);
    }
  })
  .on("close", () => heard("end of input"));

const stay = setInterval(() => {}, 1_000);
if (how.has("stubborn")) process.on("SIGTERM", () => heard("SIGTERM"));
else process.stdin.on("end", () => clearInterval(stay));
if (how.has("polite")) {
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      heard(signal);
      process.exit(7);
    });
  }
}
heard(`pid ${process.pid}`);
