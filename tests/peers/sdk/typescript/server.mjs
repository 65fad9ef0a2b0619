// A server on `@modelcontextprotocol/sdk` 1.x: argv is the version's name in package.json.
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gate } from "../gates.mjs";

const version = process.argv[2];
const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { Server } = require(`${version}/server/index.js`);
const { StdioServerTransport } = require(`${version}/server/stdio.js`);
const { CallToolRequestSchema, ListToolsRequestSchema, UrlElicitationRequiredError } = require(`${version}/types.js`);

const server = new Server({ name: version, version: "1.0.0" }, { capabilities: { tools: {} } });

/** Longer than anything here takes: the SDK's own minute is over too soon on a machine that is busy. */
const timeout = 600_000;

/** What a question brought, the error included. */
const brings = (question) => question.catch(({ code, message }) => ({ error: { code, message } }));

/** Asks. The file MIDCALL_HEARD is told of what it brought, a line each. */
async function ask(params, options) {
  const brought = await brings(server.elicitInput(params, { timeout, ...options }));
  if (process.env.MIDCALL_HEARD) appendFileSync(process.env.MIDCALL_HEARD, `${brought.action ?? "error"}
`);
  return brought;
}

const form = (message, properties, required = Object.keys(properties)) =>
  ({ message, requestedSchema: { type: "object", properties, required } });
const text = (title) => ({ type: "string", title, minLength: 1 });

const CONFIRM = form("Delete 3 files?", { sure: { type: "boolean", title: "Delete them" } });
const BOOK = form("Which table?", {
  name: text("Name"),
  email: { type: "string", format: "email" },
  guests: { type: "integer", minimum: 1, maximum: 12 },
  table: { type: "string", enum: ["window", "garden", "bar"], enumNames: ["By the window", "In the garden", "At the bar"] },
}, ["name", "guests"]);
const LARGE = form("Thirty things", Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`field${n}`, text(`Field ${n}`)])));

const SOON = { "dev.midcall/timeoutMs": 100 };
const HELLO = { role: "user", content: { type: "text", text: "Say hello" } };

/** How often each tool ran: a call that is made again shows here. */
const ran = {};

/** Links that were asked for, so that they are asked for once. */
const asked = new Set();

const complete = (elicitationId) => server.notification({ method: "notifications/elicitation/complete", params: { elicitationId } });

const tools = {
  confirm: async () => [await ask(CONFIRM)],
  form: async () => [await ask(BOOK)],
  large: async () => [await ask(LARGE)],
  async wizard({ steps = 5 }) {
    const brought = [];
    for (let step = 1; step <= steps && (brought.at(-1)?.action ?? "accept") === "accept"; step++) {
      brought.push(await ask(form(`Step ${step}`, { value: text(`Value ${step}`) })));
    }
    return brought;
  },
  both: () => Promise.all([ask(form("Which town?", { town: text("Town") })), ask(form("Which day?", { day: text("Day") }))]),
  async insist({ hurry }) {
    const brought = hurry ? [await ask({ ...BOOK, _meta: SOON })] : [];
    while (brought.length < 3 && brought.at(-1)?.action !== "accept") brought.push(await ask(BOOK));
    return brought;
  },
  async impatient({ name, table }) {
    const taking = new AbortController();
    gate(name).then(() => taking.abort(new Error("enough")));
    const brought = await ask(table ? BOOK : CONFIRM, { signal: taking.signal });
    gate.opens(`${name}-over`);
    return [brought];
  },
  async link() {
    const elicitationId = "link-1";
    const brought = await ask({ mode: "url", message: "Sign in", url: "https://example.com/sign-in", elicitationId });
    if (brought.action === "accept") await complete(elicitationId);
    return [brought];
  },
  async steps({ steps, name }, extra) {
    const { progressToken } = extra._meta ?? {};
    for (let progress = 1; progress <= steps && progressToken !== undefined; progress++) {
      await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: steps } });
    }
    await gate(name); // this SDK's client drops progress that comes together with the result
    return [];
  },
  look: async () => [await ask(form("Look closer?", { closer: { type: "boolean" } }))],
  erase: async ({ path }) => (path ? [] : [await ask(form("Which file?", { path: text("Path") }))]),
  secret: async () => [await ask(form("Who are you?", { password: text("Password") }))],
  priced: async () => [await ask(form("How many?", { count: { type: "integer", minimum: 1 } }))],
  empty: async () => [await ask(form("Anything to add?", { note: { type: "string" } }, []))],
  linked: async () => [],
  async finish({ id }) {
    await complete(id);
    return [];
  },
  numbered: async ({ number }) => [await ask(form(`Number ${number}`, { value: text("Value") }))],
  async brief({ name }) {
    const brought = await ask({ ...CONFIRM, _meta: SOON });
    gate.opens(`${name}-over`);
    return [brought];
  },
  async after({ name }) {
    await gate(name);
    return [];
  },
  async enough({ name }) {
    gate.opens(name);
    return [];
  },
  sample: async () => [await brings(server.createMessage({ messages: [HELLO], maxTokens: 100 }, { timeout }))],
  roots: async () => [await brings(server.listRoots({}, { timeout }))],
  ran: async () => ran,
};
if (version === "sdk-1.20") for (const name of ["link", "linked", "finish"]) delete tools[name];

const MORE = {
  look: { annotations: { readOnlyHint: true } },
  erase: { annotations: { destructiveHint: true } },
  ran: { annotations: { readOnlyHint: true } },
  priced: { outputSchema: { type: "object", properties: { price: { type: "number" } }, required: ["price"] } },
};

/** The links that a call needs first; for ever, if they are `stubborn`. */
function needs({ links, stubborn }) {
  const key = links.join();
  if (asked.has(key) && !stubborn) return void asked.delete(key);
  asked.add(key);
  const needed = links.map((id) => ({ mode: "url", message: `Open ${id}`, url: `https://example.com/${id}`, elicitationId: id }));
  throw new UrlElicitationRequiredError(needed, "Sign in first");
}

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" }, ...MORE[name] })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }, extra) => {
  if (name === "linked") needs(given);
  ran[name] = (ran[name] ?? 0) + 1;
  const brought = await tools[name](given, extra);
  const result = { content: [{ type: "text", text: JSON.stringify(brought) }] };
  if (name === "priced") result.structuredContent = { price: 2.5 * (brought[0].content?.count ?? 0) };
  return result;
});
if (process.argv[1] === import.meta.filename) await server.connect(new StdioServerTransport());
export { server }; // to be connected otherwise
