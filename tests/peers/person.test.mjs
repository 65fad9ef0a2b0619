// A client that declares nothing: a person answers beside it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKED, DELETE, LARGE, SIGN_IN, TABLE, THIRTY } from "./jobs.mjs";
import { Model, brought as read } from "./model.mjs";
import { Person } from "./person.mjs";
import { Client, SERVERS, wrap } from "./world.mjs";

const OWN = ["sdk-1", "sdk-1.20", "python", "fastmcp"];
/** Every server, and every client once. */
const PAIRS = [...OWN.map((server) => ["sdk-1", server]), ...OWN.slice(1).map((sdk) => [sdk, sdk])];

/** A client that declares nothing calls these tools; a person is there. */
async function meet(client, server, tools) {
  const { announce, command } = await wrap(SERVERS[server]);
  const steps = tools.map((tool) => (typeof tool === "string" ? { tool } : tool));
  const running = new Client(client, { command, declare: "nothing", steps });
  return [running, await Person.at(announce)];
}

/** The TypeScript servers tell what stood in `_meta` too. */
function outcome(server, brought) {
  const told = brought._meta?.["dev.midcall/outcome"];
  if (server.startsWith("sdk")) assert.ok(told, "the outcome is told");
  return told;
}

describe("a client that declares nothing", { concurrency: 2 }, () => {
  for (const [client, server] of PAIRS) {
    test(`${client} and ${server}`, async () => {
      const links = server !== "sdk-1.20";
      const [running, person] = await meet(client, server, [
        "form", "confirm", "confirm", "large", "wizard", "both", { tool: "impatient", arguments: { ms: 1000 } }, ...(links ? ["link"] : []), "confirm",
      ]);
      const by = { route: "page", human: true };

      // An answer that does not fit, then one that does.
      let ticket = await person.sees(TABLE);
      assert.equal(ticket.server.name, server);
      assert.equal(ticket.server.version, "1.0.0");
      assert.equal(ticket.tool, "form");
      const refused = await person.accept(ticket.id, { name: "Ana", guests: 4.5, table: "roof" });
      assert.equal(refused.status, 422);
      assert.deepEqual(refused.problems.map(({ path }) => path).sort(), ["/guests", "/table"]);
      assert.equal((await person.status(ticket.id)).state, "open");
      assert.equal((await person.accept(ticket.id, BOOKED)).status, 200);
      assert.deepEqual((await person.closed(ticket.id)).by, by);
      let [brought] = await running.brought();
      assert.equal(brought.action, "accept");
      assert.deepEqual(brought.content, BOOKED);
      if (outcome(server, brought)) assert.deepEqual(outcome(server, brought), { state: "answered", by });

      ticket = await person.sees(DELETE);
      await person.decline(ticket.id, "Not on a Monday");
      [brought] = await running.brought();
      assert.equal(brought.action, "decline");
      if (outcome(server, brought)) assert.equal(outcome(server, brought).reason, "Not on a Monday");

      ticket = await person.sees(DELETE);
      await person.cancel(ticket.id);
      assert.equal((await running.brought())[0].action, "cancel");

      ticket = await person.sees(THIRTY);
      assert.equal(Object.keys(ticket.params.requestedSchema.properties).length, 30);
      await person.accept(ticket.id, LARGE);
      assert.deepEqual((await running.brought())[0].content, LARGE);

      for (const step of [1, 2, 3, 4, 5]) await person.accept((await person.sees(`Step ${step}`)).id, { value: `value ${step}` });
      assert.deepEqual((await running.brought()).map(({ content }) => content.value), [1, 2, 3, 4, 5].map((step) => `value ${step}`));

      const [town, day] = [await person.sees("Which town?"), await person.sees("Which day?")];
      await person.accept(day.id, { day: "Monday" });
      await person.accept(town.id, { town: "Olinda" });
      assert.deepEqual((await running.brought()).map(({ content }) => content), [{ town: "Olinda" }, { day: "Monday" }]);

      // The server takes its question back.
      ticket = await person.sees(DELETE);
      const { state, reason } = await person.closed(ticket.id);
      assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_server" });
      assert.equal((await person.accept(ticket.id, { sure: true })).status, 409);
      assert.ok((await running.brought())[0].error);

      // Opening is consent; that it is done, the server says.
      if (links) {
        ticket = await person.sees(SIGN_IN);
        assert.equal(ticket.url, "https://example.com/sign-in");
        assert.equal((await person.opens(ticket.id)).status, 200);
        assert.equal((await running.brought())[0].action, "accept");
        assert.equal((await person.closed(ticket.id)).state, "answered");
      }

      // Up to here, the client had a reason to stay.
      await person.decline((await person.sees(DELETE)).id);
      assert.equal((await running.brought())[0].action, "decline");
      const told = await running.done();
      assert.ok(!told.some((line) => "asked" in line), "the client is not asked");
      person.leave();
    });
  }

  for (const server of OWN) {
    test(`nobody answers ${server} in time`, async () => {
      const { announce, command } = await wrap(SERVERS[server], "--timeout", "1s");
      const model = new Model("sdk-1", command);
      const person = await Person.at(announce);
      const call = model.call("confirm"); // now that somebody is there to see it
      const ticket = await person.sees(DELETE);
      assert.equal((await person.closed(ticket.id)).state, "timed_out");
      const [answer] = read(await call);
      assert.equal(answer.action, "cancel");
      if (outcome(server, answer)) assert.equal(outcome(server, answer).state, "timed_out");
      await model.leaves();
    });
  }
});
