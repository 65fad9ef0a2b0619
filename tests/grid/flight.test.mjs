// Many calls of one client in flight, each with a question: every answer reaches its own call.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client, MODERN_SERVERS, SERVERS, wrap } from "../peers/world.mjs";

const CALLS = Array.from({ length: 200 }, (_, number) => number);

describe("200 calls in flight", () => {
  const pairs = [
    ["sdk-2", "sdk-1", SERVERS["sdk-1"]],
    ["sdk-1", "sdk-2", MODERN_SERVERS["sdk-2"]],
    ["sdk-2", "sdk-2", MODERN_SERVERS["sdk-2"]],
  ];
  for (const [client, name, server] of pairs) {
    test(`${client} and ${name}`, async () => {
      const { command } = await wrap(server);
      const running = new Client(client, { command, declare: "form+url" });
      await running.tells("tools");
      for (const number of CALLS) running.send({ call: `${number}`, tool: "numbered", arguments: { number }, quiet: true });
      const message = (number) => `Number ${number}`;
      for (const number of CALLS) await running.told.next(({ asked }) => asked?.params.message === message(number));
      // Once all are open, the last is answered first.
      for (const number of CALLS.toReversed()) running.gives({ message: message(number), action: "accept", content: { value: `value ${number}` } });
      for (const number of CALLS) {
        const { result, error } = await running.told.next((line) => line.call === `${number}` && ("result" in line || "error" in line));
        assert.ok(result, `call ${number}: ${JSON.stringify(error)}`);
        assert.deepEqual(JSON.parse(result.content[0].text), [{ action: "accept", content: { value: `value ${number}` } }]);
      }
      running.process.stdin.end();
      await running.done();
    });
  }
});
