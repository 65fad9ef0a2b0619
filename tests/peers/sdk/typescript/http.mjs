// The server of this folder by HTTP, one for each session. It tells where it is: {url}.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const version = process.argv[2];
const require = createRequire(join(process.env.MIDCALL_PEERS, "package.json"));
const { StreamableHTTPServerTransport } = require(`${version}/server/streamableHttp.js`);

/** What was said on which stream, so that one that was cut can be gone on with. */
function kept() {
  const events = [];
  return {
    async storeEvent(stream, message) {
      events.push({ stream, message });
      return `${events.length}`;
    },
    async getStreamIdForEventId(id) {
      return events[id - 1]?.stream;
    },
    async replayEventsAfter(id, { send }) {
      const { stream } = events[id - 1];
      for (const [place, event] of [...events.entries()].slice(id)) {
        if (event.stream === stream && event.message.jsonrpc) await send(`${place + 1}`, event.message);
      }
      return stream;
    },
  };
}

const sessions = new Map();
let count = 0;

async function open() {
  const onsessioninitialized = (id) => sessions.set(id, transport);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized, eventStore: kept() });
  const { server } = await import(`./server.mjs?${++count}`);
  await server.connect(transport);
  return transport;
}

const http = createServer(async (request, response) => {
  const id = request.headers["mcp-session-id"];
  const transport = id ? sessions.get(id) : await open();
  if (transport) await transport.handleRequest(request, response);
  else response.writeHead(404).end();
});
http.keepAliveTimeout = 0; // else a server that stood still closes connections that are in use
const port = Number(process.env.MIDCALL_PEER_PORT ?? 0);
http.listen(port, "127.0.0.1", () => console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` })));
