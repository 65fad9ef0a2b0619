// A client without an SDK that comes over HTTP, one request at a time.
import { Told, within } from "./world.mjs";

export const MODERN = "2026-07-28";

/** A field of an event; its first, if it has several. */
export function field(event, name) {
  // Only these end a line: a regular expression would also take U+2028 for an end.
  const line = event.split(/\r\n|\n|\r/).find((line) => line.startsWith(`${name}:`));
  return line?.slice(name.length + 1).replace(/^ /, "");
}

/** The events of a response, as they come: `{id, data}`. */
export async function* events(response) {
  let text = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const whole = (text + piece).split("\n\n");
    text = whole.pop();
    for (const event of whole) {
      const data = field(event, "data");
      if (data !== undefined) yield { id: field(event, "id"), data: data && JSON.parse(data) };
    }
  }
}

/** The messages of a response, whichever kind it is. */
export async function* messages(response) {
  if (response.headers.get("content-type") === "application/json") yield await response.json();
  else for await (const { data } of events(response)) if (data) yield data;
}

/** A client with a session. */
export class Guest {
  id = 0;
  told = new Told();

  static async at(url, capabilities = {}, version = "2025-11-25") {
    const guest = Object.assign(new Guest(), { url, headers: {} });
    const clientInfo = { name: "guest", version: "1" };
    const response = await guest.post({ id: ++guest.id, method: "initialize", params: { protocolVersion: version, capabilities, clientInfo } });
    for await (const message of messages(response)) guest.opened = message;
    if (guest.opened.error) throw new Error(guest.opened.error.message);
    guest.headers = { "mcp-session-id": response.headers.get("mcp-session-id"), "mcp-protocol-version": version };
    await guest.post({ method: "notifications/initialized" });
    return guest;
  }

  post(message, { signal, headers } = {}) {
    const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...this.headers, ...headers };
    const body = typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message });
    return within(fetch(this.url, { method: "POST", headers: all, body, signal }), `a response to ${body.slice(0, 200)}`);
  }

  get({ signal, headers } = {}) {
    return within(fetch(this.url, { headers: { accept: "text/event-stream", ...this.headers, ...headers }, signal }), "a response to GET");
  }

  leave() {
    return fetch(this.url, { method: "DELETE", headers: this.headers });
  }

  /** Calls, and gives the answer. Questions on the way are answered by `answer`. */
  async call(method, params = {}, answer = () => undefined) {
    const id = ++this.id;
    for await (const message of messages(await this.post({ id, method, params }))) {
      if (message.id === id && !message.method) return message;
      if (message.method && "id" in message) await this.post({ id: message.id, result: await answer(message) });
      this.told.push(message);
    }
    throw new Error("the stream ended without an answer");
  }

  tool(name, given = {}, answer) {
    return this.call("tools/call", { name, arguments: given }, answer);
  }
}

/** A request of the modern era: message, and headers that say the same. */
export function modern(id, method, params = {}, capabilities = {}) {
  const _meta = { ...params._meta, "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": capabilities };
  const name = params.name ?? params.uri;
  return {
    message: { id, method, params: { ...params, _meta } },
    headers: { "mcp-protocol-version": MODERN, "mcp-method": method, ...(name !== undefined && { "mcp-name": name }) },
  };
}

/** One request of the modern era: its answer. */
export async function postModern(url, id, method, params, { capabilities = {}, signal, news = () => {} } = {}) {
  const guest = Object.assign(new Guest(), { url, headers: {} });
  const { message, headers } = modern(id, method, params, capabilities);
  let answered;
  for await (const told of messages(await guest.post(message, { headers, signal }))) {
    if (told.method) news(told);
    else answered = told;
  }
  return answered;
}

/** Calls as a client of the modern era, and comes back with what `answer` says until there is a result. */
export async function callModern(url, id, method, params, { answer, ...more } = {}) {
  let retry = {};
  for (;;) {
    const answered = await postModern(url, id, method, { ...params, ...retry }, more);
    if (answered?.result?.resultType !== "input_required") return answered;
    const { inputRequests = {}, requestState } = answered.result;
    const responses = await Promise.all(Object.entries(inputRequests).map(async ([key, asked]) => [key, await answer(asked)]));
    retry = { requestState, ...(responses.length && { inputResponses: Object.fromEntries(responses) }) };
  }
}
