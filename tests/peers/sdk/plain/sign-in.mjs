// A server whose tool needs a sign-in first, and which creates a new link whenever the tool is called. argv:
//   legacy | modern   asks by the error -32042, or by a round
//   tries=5           the sign-in is done when the tool is called for the fifth time after the first
//   seconds=20        the sign-in takes so long from the first call
//   never             it never is
// Its tools: `pay`; `calls`, which answers with how many milliseconds after the first each call of `pay` came; and `done`,
// which ends the sign-in, and says so of the newest link.
import { createInterface } from "node:readline";

const [era, ...how] = process.argv.slice(2);
const number = (name) => Number(how.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? Infinity);
const [tries, seconds] = [number("tries"), number("seconds")];
const isModern = era === "modern";
const calls = [];
let isDone = false;

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const complete = (result) => ({ ...(isModern && { resultType: "complete" }), ...result });
const text = (value) => complete({ content: [{ type: "text", text: JSON.stringify(value) }] });

/** A link that is good for once: nothing of it but the site is as before. */
function link() {
  const nth = calls.length;
  const url = `https://example.com/sign-in/${nth}?state=${Math.random().toString(36).slice(2)}`;
  return { mode: "url", message: "Sign in to pay", url, ...(!isModern && { elicitationId: `link-${nth}` }) };
}

function pay(id) {
  calls.push(performance.now());
  const since = calls.at(-1) - calls[0];
  if (isDone || calls.length > tries || since >= seconds * 1_000) {
    return send({ id, result: text("paid") });
  }
  if (!isModern) return send({ id, error: { code: -32042, message: "Sign in first", data: { elicitations: [link()] } } });
  const inputRequests = { [`link${calls.length}`]: { method: "elicitation/create", params: link() } };
  send({ id, result: { resultType: "input_required", inputRequests, requestState: `state ${calls.length}` } });
}

const tools = {
  pay,
  calls: (id) => send({ id, result: text(calls.map((at) => Math.round(at - calls[0]))) }),
  done(id) {
    isDone = true;
    if (!isModern) send({ method: "notifications/elicitation/complete", params: { elicitationId: `link-${calls.length}` } });
    send({ id, result: text("done") });
  },
};

const listed = { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } })), ...(isModern && { ttlMs: 0, cacheScope: "private" }) };
const serverInfo = { name: "bank", version: "1.0.0" };
const methods = {
  "tools/list": () => complete(listed),
  [isModern ? "server/discover" : "initialize"]: ({ protocolVersion }) =>
    isModern
      ? complete({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private", _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } })
      : { protocolVersion, capabilities: { tools: {} }, serverInfo },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || !method) return;
  if (method === "tools/call") return tools[params.name](id);
  if (methods[method]) return send({ id, result: methods[method](params) });
  send({ id, error: { code: -32601, message: `no method ${method}` } });
});
