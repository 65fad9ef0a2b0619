// What is played with each pair, and what must come of it. A story that the protocol has no words for
// says so (`lacks`), and so do one that a peer cannot do (`fails`) and one that needs the gateway (`ours`).
import assert from "node:assert/strict";
import { BOOKED, DELETE, SIGN_IN, TABLE } from "../peers/jobs.mjs";
import { JUNE, NOVEMBER, isModern } from "./peers.mjs";

const accept = (message, content) => ({ message, action: "accept", content });
const no = (action) => ({ message: DELETE, action });
const accepted = (brought) => brought.map(({ action, content }) => (assert.equal(action, "accept"), content));

/** What rmcp's client says of links without an id: nothing. Midcall passes on the id of a server that has one. */
const dropsLinks = ({ client, server }) => client.sdk === "rmcp-modern" && isModern(server.revision) && "rmcp's client drops links without `elicitationId`, which 2026-07-28 does not have";

/** A tool that asks; the answers; and what its server must hear. */
const asking = (step, answers, check) => async (trio) => check(await trio.asks(step, answers));

export const STORIES = {
  form: {
    play: asking({ tool: "form" }, [accept(TABLE, BOOKED)], (brought) => assert.deepEqual(accepted(brought), [BOOKED])),
  },

  url: {
    lacks: ({ server }) => server.revision === JUNE && "2025-06-18 has no links",
    fails: ({ client, server }) => server.sdk !== "rmcp-rounds" && dropsLinks({ client, server }),
    play: asking({ tool: "link" }, [{ message: SIGN_IN, action: "accept" }], (brought) => assert.equal(brought[0].action, "accept")),
  },

  "-32042": {
    lacks: ({ server }) => server.revision !== NOVEMBER && "only 2025-11-25 has that error",
    fails: ({ client, server }) => (server.sdk === "fastmcp" && "fastmcp makes a text of that error") || dropsLinks({ client, server }),
    async play(trio) {
      const link = trio.names("first");
      const step = { tool: "linked", arguments: { links: [link] } };
      if (trio.client.wire === NOVEMBER && trio.shows("url")) {
        // The client is told, follows the link in its own way and calls again.
        const { error } = await trio.calls(step);
        assert.equal(error.code, -32042);
        assert.equal(error.data.elicitations[0].url, `https://example.com/${link}`);
        assert.deepEqual(await trio.brings(step), []);
      } else {
        assert.deepEqual(await trio.asks(step, [{ message: `Open ${link}`, action: "accept", finished: true }]), []);
      }
      if (trio.server.sdk === "sdk-1") assert.equal((await trio.brings({ tool: "ran" })).linked, 1);
    },
  },

  "three rounds": {
    play: asking({ tool: "wizard", arguments: { steps: 3 } }, [1, 2, 3].map((step) => accept(`Step ${step}`, { value: `value ${step}` })), (brought) =>
      assert.deepEqual(accepted(brought), [1, 2, 3].map((step) => ({ value: `value ${step}` })))),
  },

  "two at once": {
    play: asking({ tool: "both" }, [accept("Which day?", { day: "Monday" }), accept("Which town?", { town: "Olinda" })], (brought) =>
      assert.deepEqual(accepted(brought), [{ town: "Olinda" }, { day: "Monday" }])),
  },

  decline: {
    play: asking({ tool: "confirm" }, [no("decline")], (brought) => assert.equal(brought[0].action, "decline")),
  },

  cancel: {
    play: asking({ tool: "confirm" }, [no("cancel")], (brought) => assert.equal(brought[0].action, "cancel")),
  },

  timeout: {
    ours: "how long a question waits is told in words of Midcall's own",
    // Between peers of one era a client's question passes through, and the server's own patience counts.
    flags: ({ client, server }) => client.declare !== "nothing" && isModern(client.wire) === isModern(server.revision) && ["--ask", "page"],
    fails: ({ client, server }) => server.sdk === "sdk-2-dual" && !isModern(client.wire) && "the SDK's own shim asks without saying how long",
    async play(trio) {
      const name = trio.names("brief");
      const calling = trio.calls({ tool: "brief", arguments: { name } });
      if (!trio.shows("form")) {
        assert.equal((await trio.person.closed((await trio.person.sees(DELETE)).id)).state, "timed_out");
      } else {
        await trio.told("asked");
        await trio.hearsEnd(name);
      }
      assert.equal(trio.brought(await calling)[0].action, "cancel");
    },
  },

  "server cancels": {
    lacks: ({ server }) => isModern(server.revision) && "2026-07-28 has no way to take a question back",
    async play(trio) {
      const name = trio.names("question");
      const calling = trio.calls({ tool: "impatient", arguments: { name } });
      const enough = { tool: "enough", arguments: { name } };
      if (!trio.shows("form")) {
        const { id } = await trio.person.sees(DELETE);
        await trio.brings(enough);
        const { state, reason } = await trio.person.closed(id);
        assert.deepEqual({ state, reason }, { state: "withdrawn", reason: "by_server" });
      } else {
        await trio.told("asked");
        await trio.brings(enough);
        await trio.hearsEnd(name);
      }
      assert.ok(trio.brought(await calling)[0].error);
    },
  },

  sampling: {
    async play(trio) {
      const [brought] = await trio.brings({ tool: "sample" });
      assert.equal(brought.model, "parrot");
      assert.equal((await trio.told("sampled")).messages[0].content.text, "Say hello");
    },
  },

  roots: {
    play: async (trio) => assert.deepEqual((await trio.brings({ tool: "roots" }))[0].roots, [{ uri: "file:///home" }]),
  },

  progress: {
    async play(trio) {
      const name = trio.names("steps");
      const calling = trio.calls({ tool: "steps", arguments: { steps: 2, name } });
      for (const step of [1, 2]) {
        const { progress } = await trio.running.told.next(({ call, progress }) => call === calling.call && progress);
        assert.deepEqual([progress.progress, progress.total], [step, 2]);
      }
      await trio.brings({ tool: "enough", arguments: { name } });
      trio.brought(await calling);
    },
  },

  "waiting rounds": {
    lacks: ({ server }) => !isModern(server.revision) && "only 2026-07-28 has rounds without questions",
    play: async (trio) => assert.deepEqual(await trio.brings({ tool: "wait" }), []),
  },

  "unknown method": {
    async play(trio) {
      const { code, message } = (await trio.calls({ method: "x/unknown" })).error;
      // Of HTTP's 404, TypeScript's 2.x makes an error of its own, with the other in it.
      if (code === "CLIENT_HTTP_NOT_IMPLEMENTED") assert.match(message, /"code":-32601/);
      else assert.equal(code, -32601);
    },
  },
};
