// A client and a trivial server on the SDK that most have, with nothing, with us and with two cats in
// between, which is the least that anything there can cost.
// Prints a line a figure: {name, ours, direct, cats, before?}, medians in nanoseconds.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { MIDCALL_BEFORE, MIDCALL_BIN, MIDCALL_PEERS } = process.env;
const require = createRequire(`${MIDCALL_PEERS}/package.json`);
const load = (path) => import(pathToFileURL(require.resolve(`sdk-1/${path}`)));

if (process.argv[2] === "serve") {
  const [{ Server }, { StdioServerTransport }, types] = await Promise.all([load("server/index.js"), load("server/stdio.js"), load("types.js")]);
  const server = new Server({ name: "trivial", version: "1.0.0" }, { capabilities: { tools: {} } });
  const requestedSchema = { type: "object", properties: { word: { type: "string", title: "Word" } }, required: ["word"] };
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
    const text = params.name === "echo" ? params.arguments.text : (await server.elicitInput({ message: "Which word?", requestedSchema })).content.word;
    return { content: [{ type: "text", text }] };
  });
  await server.connect(new StdioServerTransport());
} else {
  const [{ Client }, { StdioClientTransport }, types] = await Promise.all([load("client/index.js"), load("client/stdio.js"), load("types.js")]);
  const serve = [process.execPath, import.meta.filename, "serve"];
  async function open([command, ...args]) {
    const client = new Client({ name: "bench", version: "1.0.0" }, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: "accept", content: { word: "yes" } }));
    await client.connect(new StdioClientTransport({ command, args, env: process.env }));
    return client;
  }
  const sides = {
    direct: await open(serve),
    ours: await open([MIDCALL_BIN, "wrap", "--no-open", "--", ...serve]),
    cats: await open(["sh", "-c", `cat | "${serve.join('" "')}" | cat`]),
  };
  if (MIDCALL_BEFORE) sides.before = await open([MIDCALL_BEFORE, "wrap", "--no-open", "--", ...serve]);
  const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
  for (const [name, call, times] of [
    ["tools/call", { name: "echo", arguments: { text: "x".repeat(500) } }, 300],
    ["elicitation", { name: "ask", arguments: {} }, 150],
  ]) {
    const took = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
    for (let turn = 0; turn < 12; turn++) {
      for (const [side, client] of Object.entries(sides)) {
        for (let n = 0; n < times; n++) {
          const start = process.hrtime.bigint();
          await client.callTool(call);
          if (turn > 1) took[side].push(Number(process.hrtime.bigint() - start)); // the first turns warm up
        }
      }
    }
    const medians = Object.entries(took).map(([side, times]) => [side, median(times)]);
    console.log(JSON.stringify({ name, ...Object.fromEntries(medians) }));
  }
  await Promise.all(Object.values(sides).map((client) => client.close()));
  process.exit();
}
