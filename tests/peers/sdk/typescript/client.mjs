// A client on `@modelcontextprotocol/sdk` 1.x: argv is the version's name in package.json.
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";

const version = process.argv[2];
const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { Client } = require(`${version}/client/index.js`);
const { StdioClientTransport } = require(`${version}/client/stdio.js`);
const { ElicitRequestSchema } = require(`${version}/types.js`);

const DECLARED = { "form+url": { form: {}, url: {} }, form: { form: {} }, "{}": {} };
const tell = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const [line] = await once(createInterface({ input: process.stdin }), "line");
const { command: [command, ...args], declare, steps } = JSON.parse(line);

const elicitation = DECLARED[declare];
const client = new Client({ name: `${version}-client`, version: "1.0.0" }, { capabilities: elicitation ? { elicitation } : {} });
let answers = [];
if (elicitation) {
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { requestId, signal }) => {
    tell({ asked: { id: requestId, params } });
    const found = answers.findIndex(({ message }) => message === params.message);
    if (found >= 0) {
      const [{ message, ...answer }] = answers.splice(found, 1);
      return answer;
    }
    if (!signal.aborted) await once(signal, "abort");
    tell({ withdrawn: requestId });
    return { action: "cancel" };
  });
}
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
let revision;
transport.setProtocolVersion = (agreed) => (revision = agreed);
await client.connect(transport);
tell({ opened: { server: client.getServerVersion(), revision } });
tell({ tools: (await client.listTools()).tools.map(({ name }) => name) });
for (const { tool, arguments: given = {}, answers: prepared = [] } of steps) {
  answers = prepared;
  const options = { timeout: 30_000, onprogress: (progress) => tell({ progress }) };
  await client.callTool({ name: tool, arguments: given }, undefined, options).then(
    (result) => tell({ result }),
    ({ code, message }) => tell({ error: { code, message } }),
  );
}
await client.close();
tell({ closed: true });
process.exit();
