// A client, the gateway and a server, and a person beside them.
import { Person } from "../peers/person.mjs";
import { Client, listen, wrap } from "../peers/world.mjs";
import { JUNE, isModern } from "./peers.mjs";
import { placeOf, serves } from "./places.mjs";

export class Trio {
  #calls = 0;

  /** Starts a pair with the gateway between them; `direct` without it, and then without a person. */
  static async start({ client, server, transport }, { direct, flags = [] } = {}) {
    const trio = Object.assign(new Trio(), { client, server, direct });
    const [from, to] = transport.split("-");
    const place = to === "http" ? { url: await placeOf(server) } : server.command;
    const between = { "http-stdio": listen, "http-http": serves }[transport] ?? wrap;
    const { announce, gateway, command, url } = direct ? { command: place, url: place.url } : await between(place, ...flags);
    trio.gateway = gateway;
    const job = { ...(from === "http" ? { url } : { command }), declare: client.declare, also: ["sampling", "roots"] };
    trio.running = new Client(client.command, job);
    trio.asksPage = flags.includes("page");
    await trio.told("tools"); // before, there may be the gateway of a client that only looks who is there
    if (!direct) trio.person = await Person.at(announce);
    return trio;
  }

  /** Names a thing that no other trio does: they may have their server in common. */
  names(thing) {
    return `${thing}-${this.running.pid}`;
  }

  /** Whether the client asks such questions by itself. */
  shows(mode) {
    const { declare, revision } = this.client;
    return !this.asksPage && declare !== "nothing" && (mode === "form" || revision !== JUNE);
  }

  /** Lets the client hear that its question has ended. A modern one cannot be told before it comes with an answer. */
  async hearsEnd(name) {
    if (!isModern(this.client.wire)) return this.told("withdrawn");
    await this.brings({ tool: "after", arguments: { name: `${name}-over` } });
    this.running.gives({ action: "accept", content: { sure: true } });
  }

  /** What the client tells under that name next. */
  told(name) {
    return this.running.tells(name);
  }

  /** Calls a tool or another method: the line that tells how it went. */
  calls(step) {
    const call = `${++this.#calls}`;
    this.running.send({ call, ...step });
    const response = this.running.told.next((line) => line.call === call && ("result" in line || "error" in line));
    response.catch(() => {}); // a story that failed before does not wait for it
    return Object.assign(response, { call });
  }

  /** What the questions of a tool brought its server. */
  brought({ result, error }) {
    if (error || result.isError) throw new Error(`the call ended with ${JSON.stringify(error ?? result)}`);
    return JSON.parse(result.content[0].text);
  }

  async brings(step) {
    return this.brought(await this.calls(step));
  }

  /** Calls a tool that asks. Answers are given by the client where it can, else by the person. */
  async asks(step, answers) {
    const [own, persons] = [[], []];
    const url = step.tool === "link" || step.tool === "linked";
    for (const answer of answers) (this.shows(url ? "url" : "form") ? own : persons).push(answer);
    const calling = this.calls({ ...step, answers: own.map(({ finished, ...answer }) => answer) });
    for (const answer of persons) await this.#answers(answer, url);
    const response = await calling;
    for (const { message } of own) {
      await this.running.told.next(({ asked }) => asked?.params.message === message);
    }
    return this.brought(response);
  }

  async #answers({ message, action, content, finished }, url) {
    const { id } = await this.person.sees(message);
    if (action === "decline") return this.person.decline(id);
    if (action === "cancel") return this.person.cancel(id);
    if (!url) return this.person.accept(id, content);
    await this.person.opens(id);
    if (finished) await this.person.accept(id);
  }

  /** Lets the client end, and with it the others. */
  async end() {
    this.person?.leave();
    this.running.process.stdin.end();
    await this.running.done();
    this.gateway?.process.kill();
    await this.gateway?.end();
  }
}
