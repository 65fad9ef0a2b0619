// A client on `@modelcontextprotocol/sdk` 1.x: argv is the version's name in package.json.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { answered, give, prepare } from "../answers.mjs";

const version = process.argv[2];
const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { Client } = require(`${version}/client/index.js`);
const { StdioClientTransport } = require(`${version}/client/stdio.js`);
const { StreamableHTTPClientTransport } = require(`${version}/client/streamableHttp.js`);
const { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ResultSchema } = require(`${version}/types.js`);

/** Longer than anything here takes: the SDK's own minute is over too soon on a machine that is busy. */
const TIMEOUT = 600_000;
const DECLARED = { "form+url": { form: {}, url: {} }, form: { form: {} }, "{}": {} };
const tell = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const { url, command: [command, ...args] = [], declare, also = [], lists = true, steps } = JSON.parse((await input.next()).value);

const elicitation = DECLARED[declare];
const capabilities = { ...(elicitation && { elicitation }), ...Object.fromEntries(also.map((name) => [name, {}])) };
// It makes tasks of questions that want to be some.
if (also.includes("tasks")) capabilities.tasks = { requests: { elicitation: { create: {} } } };
const taskStore = also.includes("tasks") ? new (require(`${version}/experimental/tasks`).InMemoryTaskStore)() : undefined;
const client = new Client({ name: `${version}-client`, version: "1.0.0" }, { capabilities, taskStore });
if (elicitation) {
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { requestId, signal, taskStore }) => {
    tell({ asked: { id: requestId, params } });
    if (params.task && taskStore) {
      const task = await taskStore.createTask(params.task);
      answered(params.message, signal).then((said = { action: "cancel" }) => taskStore.storeTaskResult(task.taskId, "completed", said));
      return { task };
    }
    const said = await answered(params.message, signal);
    if (!said) tell({ withdrawn: requestId });
    return said ?? { action: "cancel" };
  });
}
if (also.includes("sampling")) {
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    tell({ sampled: params });
    return { model: "parrot", role: "assistant", content: { type: "text", text: "Hello" } };
  });
}
if (also.includes("roots")) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///home" }] }));
const transport = url ? new StreamableHTTPClientTransport(new URL(url)) : new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
let revision;
const agree = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => agree?.((revision = agreed)) ?? (revision = agreed);
await client.connect(transport, { timeout: TIMEOUT });
tell({ opened: { server: client.getServerVersion(), revision } });
if (lists) tell({ tools: (await client.listTools({}, { timeout: TIMEOUT })).tools.map(({ name }) => name) });

/** What takes a call back. */
const taking = new Map();

/** Calls a tool or another method, and tells how that went. */
async function call({ call, method, tool, arguments: given = {}, answers = [], quiet, timeout = TIMEOUT, resetTimeoutOnProgress, answer, takeBack }) {
  if (answer) return give(answer);
  if (takeBack) return taking.get(takeBack).abort("taken back");
  prepare(answers, call !== undefined);
  taking.set(call, new AbortController());
  const options = { timeout, resetTimeoutOnProgress, signal: taking.get(call).signal, ...(quiet ? {} : { onprogress: (progress) => tell({ call, progress }) }) };
  const calling = method ? client.request({ method }, ResultSchema, options) : client.callTool({ name: tool, arguments: given }, undefined, options);
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
if (url) await transport.terminateSession();
await client.close();
tell({ closed: true });
process.exit();
