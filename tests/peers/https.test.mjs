// A server by HTTPS whose certificate is its owner's own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { createServer } from "node:tls";
import { BOOKED, STEPS } from "./jobs.mjs";
import { Client, Wire, serve, wrap } from "./world.mjs";

const file = (name) => join(import.meta.dirname, "tls", name);

/** The same server behind TLS. */
async function secured({ url }) {
  const { hostname, port, pathname } = new URL(url);
  const options = { key: readFileSync(file("localhost.key")), cert: readFileSync(file("localhost.pem")) };
  const server = createServer(options, (client) => {
    const inner = connect(port, hostname);
    client.pipe(inner).pipe(client);
    for (const [one, other] of [[client, inner], [inner, client]]) one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  server.on("tlsClientError", () => {}); // whoever does not trust it hangs up
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  after(() => server.close());
  return { url: `https://localhost:${server.address().port}${pathname}` };
}

test("whoever is told whom to trust gets its answer", async () => {
  const { command } = await wrap(await secured(await serve("sdk-1")), "--ca", file("authority.pem"));
  const client = new Client("sdk-1", { command, declare: "form+url", steps: [STEPS.accept] });
  assert.deepEqual((await client.brought())[0].content, BOOKED);
  await client.done();
});

test("whoever is not hears why, and how to", async () => {
  const { command } = await wrap(await secured(await serve("sdk-1")));
  const wire = new Wire(command);
  wire.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } } });
  const { error } = await wire.told.next(({ id }) => id === 1);
  assert.match(error.message, /localhost.* was not reached: .*certificate.*--ca FILE/);
});
