// What `midcall install` writes is started by a real client, as its own reader of the format understands it.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import { after, describe, test } from "node:test";
import { AT_ONCE, BINARY, Client, Process, SERVERS, folder, serve } from "./world.mjs";

const PYTHON = join(process.env.MIDCALL_PEERS, "python/bin/python");
const [command, ...args] = SERVERS.everything;
const json = JSON.stringify;
const python = (code, text) => JSON.parse(execFileSync(PYTHON, ["-c", `import sys, json; ${code}`], { input: text }));

/** Readers that are not Midcall's. JSON with comments and trailing commas is an expression of JavaScript. */
const READERS = {
  json: JSON.parse,
  jsonc: (text) => new Function(`return (${text})`)(),
  toml: (text) => python("import tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))", text),
  yaml: (text) => python("import yaml; print(json.dumps(yaml.safe_load(sys.stdin.read())))", text),
};

/** A client's file, its reader, and how it gets from there to what it starts. */
const CLIENTS = {
  "Claude Desktop": [".config/Claude/claude_desktop_config.json", "json", `{"mcpServers": {"it": ${json({ command, args, env: { SAYS: "yes" } })}}}\n`, (read) => read.mcpServers.it],
  "VS Code": [".config/Code/User/mcp.json", "jsonc", `// mine\r\n{"servers": {\r\n\t"it": {"type": "stdio", "command": ${json(command)}, // node\r\n\t\t"args": ${json(args)}, },\r\n},}\r\n`, (read) => read.servers.it],
  Codex: [".codex/config.toml", "toml", `# mine\n[mcp_servers.it]\ncommand = '${command}'\nargs = ${json(args)} # all\n\n[mcp_servers.it.env]\nSAYS = "yes"\n`, (read) => read.mcp_servers.it],
  Goose: [".config/goose/config.yaml", "yaml", `extensions:\n  it:\n    args:\n${args.map((word) => `    - ${word}\n`).join("")}    cmd: ${command}\n    envs:\n      SAYS: yes it does\n    type: stdio\n`, ({ extensions: { it } }) => ({ command: it.cmd, args: it.args, env: it.envs })],
  opencode: [".config/opencode/opencode.json", "jsonc", json({ mcp: { it: { type: "local", command: [command, ...args], environment: { SAYS: "yes" } } } }), ({ mcp: { it } }) => ({ command: it.command[0], args: it.command.slice(1), env: it.environment })],
  Zed: [".config/zed/settings.json", "jsonc", `{ "context_servers": { "it": { "command": { "path": ${json(command)}, "args": ${json(args)}, }, }, }, }\n`, ({ context_servers: { it } }) => ({ command: it.command.path, args: it.command.args })],
  Continue: [".continue/config.yaml", "yaml", `mcpServers:\n  - command: ${json(command)}\n    name: it\n    args: ${json(args)}\n`, (read) => read.mcpServers[0]],
};

async function midcall(home, ...words) {
  const running = new Process([BINARY, ...words, "--home", home], { cwd: home });
  const code = await running.end();
  assert.deepEqual([code, running.errors], [0, ""], running.lines.join("\n"));
}

/** A home with one file. */
async function having(file, text) {
  const home = folder();
  await mkdir(dirname(join(home, file)), { recursive: true });
  await writeFile(join(home, file), text);
  return { home, text: () => readFile(join(home, file), "utf8") };
}

/** What the tool `echo` says to a client that starts an entry as it is written. */
async function echo({ command, args, env }) {
  const client = new Client("sdk-1", { command: [command, ...args], steps: [{ call: 1, tool: "echo", arguments: { message: "hello" } }] }, env);
  const { result } = (await client.done()).find(({ call }) => call === 1);
  return result.content[0].text;
}

describe("install", { concurrency: AT_ONCE }, () => {
  for (const [name, [file, format, text, entry]] of Object.entries(CLIENTS)) {
    test(name, async () => {
      const before = await having(file, text);
      await midcall(before.home, "install", "--all", "--yes");
      const installed = entry(READERS[format](await before.text()));
      assert.deepEqual(installed.args.slice(0, 3), ["wrap", "--", command]);
      assert.equal(await echo(installed), "Echo: hello");
      await midcall(before.home, "uninstall", "--all", "--yes");
      assert.equal(await before.text(), text);
    });
  }

  test("a remote server gets its headers, and no argument shows them", async () => {
    const server = await serve("sdk-1");
    const keys = [];
    const door = createServer((asked, answer) => {
      keys.push(asked.headers["x-key"]);
      const { port, pathname } = new URL(server.url);
      const { host, ...headers } = asked.headers;
      const on = request({ port, host: "127.0.0.1", path: pathname, method: asked.method, headers }, (answered) => {
        answer.writeHead(answered.statusCode, answered.headers);
        answered.pipe(answer);
      });
      on.on("error", () => answer.destroy());
      asked.pipe(on);
    });
    await new Promise((resolve) => door.listen(0, "127.0.0.1", resolve));
    after(() => (door.close(), door.closeAllConnections()));
    const url = `http://127.0.0.1:${door.address().port}/mcp`;
    const text = json({ mcpServers: { it: { type: "http", url, headers: { "X-Key": "a secret: $1" } } } });
    const before = await having(".cursor/mcp.json", text);
    await midcall(before.home, "install", "--all", "--yes");
    const { it } = JSON.parse(await before.text()).mcpServers;
    assert.deepEqual([it.type, it.args], ["stdio", ["wrap", "--url", url]]);
    const client = new Client("sdk-1", { command: [it.command, ...it.args], steps: [] }, it.env);
    const told = await client.done();
    assert.ok(told.some(({ tools }) => tools?.includes("form")), json(told));
    assert.ok(keys.length > 1 && keys.every((key) => key === "a secret: $1"), json(keys));
  });
});
