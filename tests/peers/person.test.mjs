// A client that declares nothing: a person answers beside it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKED, DELETE, LARGE, SIGN_IN, TABLE, THIRTY } from "./jobs.mjs";
import { Model, brought as read } from "./model.mjs";
import { Person } from "./person.mjs";
import { ALL, AT_ONCE, SERVERS, wrap } from "./world.mjs";

const OWN = ["sdk-1", "sdk-1.20", "python", "fastmcp"];
/** Every server and every client. */
const PAIRS = ALL
  ? [...OWN.map((server) => ["sdk-1", server]), ...OWN.slice(1).map((sdk) => [sdk, sdk])]
  : [["sdk-1", "sdk-1"], ["python", "sdk-1.20"], ["sdk-1.20", "python"], ["fastmcp", "fastmcp"]];

/** A client that declares nothing, and a person beside it. */
async function meet(client, server, ...flags) {
  const { announce, command } = await wrap(SERVERS[server], ...flags);
  const model = new Model(client, command);
  return [model, await Person.at(announce)];
}

/** The TypeScript servers tell what stood in `_meta` too. */
function outcome(server, brought) {
  const told = brought._meta?.["dev.midcall/outcome"];
  if (server.startsWith("sdk")) assert.ok(told, "the outcome is told");
  return told;
}

describe("a client that declares nothing", { concurrency: AT_ONCE }, () => {
  for (const [client, server] of PAIRS) {
    test(`${client} and ${server}`, async () => {
      const [model, person] = await meet(client, server);
      const by = { route: "page", human: true };

      // An answer that does not fit, then one that does.
      let call = model.call("form");
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
      let [brought] = read(await call);
      assert.equal(brought.action, "accept");
      assert.deepEqual(brought.content, BOOKED);
      if (outcome(server, brought)) assert.deepEqual(outcome(server, brought), { state: "answered", by });

      call = model.call("confirm");
      ticket = await person.sees(DELETE);
      await person.decline(ticket.id, "Not on a Monday");
      [brought] = read(await call);
      assert.equal(brought.action, "decline");
      if (outcome(server, brought)) assert.equal(outcome(server, brought).reason, "Not on a Monday");

      call = model.call("confirm");
      ticket = await person.sees(DELETE);
      await person.cancel(ticket.id);
      assert.equal(read(await call)[0].action, "cancel");

      call = model.call("large");
      ticket = await person.sees(THIRTY);
      assert.equal(Object.keys(ticket.params.requestedSchema.properties).length, 30);
      await person.accept(ticket.id, LARGE);
      assert.deepEqual(read(await call)[0].content, LARGE);

      call = model.call("wizard");
      for (const step of [1, 2, 3, 4, 5]) await person.accept((await person.sees(`Step ${step}`)).id, { value: `value ${step}` });
      assert.deepEqual(read(await call).map(({ content }) => content.value), [1, 2, 3, 4, 5].map((step) => `value ${step}`));

      call = model.call("both");
      const [town, day] = [await person.sees("Which town?"), await person.sees("Which day?")];
      await person.accept(day.id, { day: "Monday" });
      await person.accept(town.id, { town: "Olinda" });
      assert.deepEqual(read(await call).map(({ content }) => content), [{ town: "Olinda" }, { day: "Monday" }]);

      // The server takes its question back.
      call = model.call("impatient", { name: "question" });
      ticket = await person.sees(DELETE);
      await model.call("enough", { name: "question" });
      const { state, reason } = await person.closed(ticket.id);
      assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_server" });
      assert.equal((await person.accept(ticket.id, { sure: true })).status, 409);
      assert.ok(read(await call)[0].error);

      // Opening is consent; that it is done, the server says.
      if (server !== "sdk-1.20") {
        call = model.call("link");
        ticket = await person.sees(SIGN_IN);
        assert.equal(ticket.url, "https://example.com/sign-in");
        assert.equal((await person.opens(ticket.id)).status, 200);
        assert.equal(read(await call)[0].action, "accept");
        assert.equal((await person.closed(ticket.id)).state, "answered");
      }

      const told = await model.leaves();
      assert.ok(!told.some((line) => "asked" in line), "the client is not asked");
      person.leave();
    });
  }

  for (const server of OWN) {
    test(`nobody answers ${server} in time`, async () => {
      const [model, person] = await meet("sdk-1", server, "--timeout", "100ms");
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
