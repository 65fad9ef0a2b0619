// A model behind a client: it reads what results say, and calls what they tell it to.
import assert from "node:assert/strict";
import { Client, until } from "./world.mjs";

/** The words of a result. */
export const words = ({ result }) => result.content.map(({ text }) => text).join("\n");

/** What the questions of a tool brought its server. */
export function brought(response) {
  if (response.error || response.result.isError) throw new Error(JSON.stringify(response));
  return JSON.parse(words(response));
}

/** That a call ended with an error of the tool's, in such words. */
export function isError(response, said) {
  assert.equal(response.result?.isError, true, JSON.stringify(response));
  assert.match(words(response), said);
}

/**
 * What a call brings in less than the quarter of a second in which nobody reads a question.
 * On a busy machine not every call is over by then, and of those nothing can be said.
 */
export function atOnce(call) {
  return until(async () => {
    const since = performance.now();
    const response = await call();
    return performance.now() - since < 250 && response;
  }, "a call at once");
}

/** What a result tells a model to do next: a tool, and the question or the claim to call it with. */
export function next(response) {
  const [, tool, elicitId] = words(response).match(/call the tool (\S+) with elicitId (\S+) and action accept/) ?? [];
  if (tool) return { tool, elicitId };
  const [, later, claim] = words(response).match(/all the tool (\S+) with the claim (\S+) to/) ?? [];
  return later ? { tool: later, claim } : {};
}

export class Model extends Client {
  #calls = 0;

  /** Behind a client of some SDK, which starts a command and declares what it can. */
  constructor(sdk, command, declare = "nothing", env = {}) {
    super(sdk, { command, declare }, env);
  }

  /** Calls a tool: the `{result}` or `{error}`. */
  call(tool, given = {}, more = {}) {
    const call = ++this.#calls;
    this.send({ call, tool, arguments: given, ...more });
    return this.told.next((line) => line.call === call && ("result" in line || "error" in line));
  }

  /** Takes back the call that was made last. */
  takesBack() {
    this.send({ takeBack: this.#calls });
  }

  /** Answers the question in a result, as the result says. */
  answers(response, action, content) {
    const { tool, elicitId } = next(response);
    if (!elicitId) throw new Error(`no question in ${JSON.stringify(response)}`);
    return this.call(tool, { elicitId, action, content });
  }

  /** Collects what a result tells to wait for, as long as it says so. */
  async collects(response, more = {}) {
    let told = response;
    for (let { tool, claim } = next(told); claim; { tool, claim } = next(told)) told = await this.call(tool, { claim }, more);
    return told;
  }

  /** How often the server ran each tool. */
  async ran() {
    return brought(await this.call("ran"));
  }

  /** Ends it, and what it started. */
  leaves() {
    this.process.stdin.end();
    return this.done();
  }
}
