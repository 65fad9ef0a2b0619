// A model behind a client: it reads what results say, and calls what they tell it to.
import assert from "node:assert/strict";
import { Client, MODERN_CLIENTS } from "./world.mjs";

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
  constructor(sdk, command, declare = "nothing", env = {}, also = []) {
    super(sdk, { command, declare, also }, env);
    this.isModern = sdk in MODERN_CLIENTS;
  }

  /** Calls a tool: the `{result}` or `{error}`. */
  call(tool, given = {}, more = {}) {
    const call = ++this.#calls;
    this.send({ call, tool, arguments: given, ...more });
    return this.told.next((line) => line.call === call && ("result" in line || "error" in line));
  }

  /** Plays a step of `jobs.mjs`, with a client that can be asked: the `{result}` or `{error}`. */
  async plays({ tool, arguments: given, answers = [] }) {
    const response = this.call(tool, given, { answers });
    const own = this.#calls;
    if (tool === "impatient") {
      await this.tells("asked");
      await this.call("enough", { name: given.name });
      if (this.isModern) {
        // It hears that a question was taken back once it comes with an answer.
        await this.call("after", { name: `${given.name}-over` });
        this.gives({ action: "cancel" });
      } else {
        await this.tells("withdrawn");
      }
    }
    if (tool === "steps") {
      for (let step = 1; step <= given.steps; step++) await this.told.next(({ call, progress }) => call === own && progress?.progress === step);
      await this.call("enough", { name: given.name });
    }
    await response;
    for (const _ of answers) await this.tells("asked");
    return response;
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
