// Clients that come back over HTTP by other ways than they went: what they were given to come back by is all that counts.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { postModern } from "./visitor.mjs";
import { AT_ONCE, listen, plain } from "./world.mjs";

const FORM = { elicitation: { form: {} } };
const LEGACY = ["--server-era", "legacy"];
const CALL = { name: "ask", arguments: {} };
const text = ({ result }) => JSON.parse(result.content[0].text);
const word = (said) => ({ action: "accept", content: { word: said } });
const called = (name) => ({ "io.modelcontextprotocol/clientInfo": { name, version: "1" } });

/** A call in which a client is asked: the state that it is to come back with, and the answers. */
async function asked(url, said = "here") {
  const { result } = await postModern(url, 1, "tools/call", CALL, { capabilities: FORM });
  assert.equal(result.resultType, "input_required", JSON.stringify(result));
  const inputResponses = Object.fromEntries(Object.keys(result.inputRequests).map((key) => [key, word(said)]));
  return { requestState: result.requestState, inputResponses };
}

describe("clients that come back", { concurrency: AT_ONCE }, () => {
  for (const [what, capabilities, _meta] of [
    ["other capabilities", { elicitation: { form: {}, url: {} }, sampling: {} }, {}],
    ["no capabilities", {}, {}],
    ["another name", FORM, called("another")],
    ["capabilities in other words", { elicitation: { form: {}, url: null } }, called("another")],
  ]) {
    test(`a retry with ${what} is the same call`, async () => {
      const { url } = await listen(plain(), ...LEGACY);
      const back = await asked(url);
      const answer = await postModern(url, 2, "tools/call", { ...CALL, ...back, _meta }, { capabilities });
      assert.equal(text(answer)[0].result.content.word, "here");
      // And again, with what is kept.
      const again = await postModern(url, 3, "tools/call", { ...CALL, ...back }, { capabilities: FORM });
      assert.deepEqual(again.result, answer.result);
    });
  }

  test("a state is good for its own call only, and an unknown one is answered alike", async () => {
    const { url } = await listen(plain(), ...LEGACY);
    const back = await asked(url);
    const refused = async (change) => (await postModern(url, 9, "tools/call", { ...CALL, ...back, ...change }, { capabilities: {} })).error;
    const errors = [
      await refused({ arguments: { count: 2 } }),
      await refused({ name: "length" }),
      await refused({ requestState: `${back.requestState}x` }),
      await refused({ requestState: back.requestState.replace(/.$/, (last) => (last === "A" ? "B" : "A")) }),
      await refused({ requestState: "" }),
      await refused({ requestState: { of: "nothing" } }),
    ];
    assert.equal(errors[0].code, -32602);
    for (const error of errors) assert.deepEqual(error, errors[0]);
    const answer = await postModern(url, 10, "tools/call", { ...CALL, ...back }, { capabilities: {} });
    assert.equal(text(answer)[0].result.content.word, "here");
  });
});
