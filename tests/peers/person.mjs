// A person at the announced API, as the page acts for one.
import { field } from "./visitor.mjs";
import { Told, announced, within } from "./world.mjs";

export class Person {
  /** Goes to the gateway that announces itself in a file. */
  static async at(file) {
    const person = new Person();
    const { api, page, launch } = await announced(file);
    Object.assign(person, { api, page, origin: new URL(page).origin, news: new Told() });
    const { bearer } = await (await person.#post("/launch", { token: new URL(launch).hash.slice(1) })).json();
    return person.#watches(bearer);
  }

  /** A script instead, which goes there by the key that is in the file. */
  static async script(file) {
    const script = new Person();
    const { api, page, bearer } = await announced(file);
    Object.assign(script, { api, page, origin: new URL(page).origin, news: new Told() });
    return script.#watches(bearer);
  }

  async #watches(bearer) {
    this.bearer = bearer;
    this.leaving = new AbortController();
    const events = await this.#call("GET", "/elicitation/events", undefined, this.leaving.signal);
    this.#read(events.body).catch(() => {}); // it ends with the gateway
    return this;
  }

  /** The question with this message, once it is there. */
  async sees(message) {
    return this.news.next(({ type, description, params }) => type === "elicitation/request" && (params?.message ?? description) === message);
  }

  /** How a ticket was closed, once it is. */
  async closed(id) {
    return this.news.next((told) => /closed|timeout/.test(told.type) && told.id === id);
  }

  async accept(id, content) {
    return this.#answer(id, "accept", content ? { content } : {});
  }

  async decline(id, reason) {
    return this.#answer(id, "reject", { reason });
  }

  async cancel(id) {
    return this.#answer(id, "cancel", {});
  }

  async opens(id) {
    return this.#answer(id, "opened", {});
  }

  async status(id) {
    return (await this.#call("GET", `/elicitation/status/${id}`)).json();
  }

  leave() {
    this.leaving.abort();
  }

  /** Posts an answer: the HTTP status, and what was said with it. */
  async #answer(id, how, body) {
    const response = await this.#post(`/elicitation/${id}/${how}`, body);
    return { status: response.status, ...(await response.json()) };
  }

  #post(path, body) {
    return this.#call("POST", path, JSON.stringify(body));
  }

  #call(method, path, body, signal) {
    const headers = { origin: this.origin, "content-type": "application/json" };
    if (this.bearer) headers.authorization = `Bearer ${this.bearer}`;
    return within(fetch(this.api + path, { method, headers, body, signal }), `${method} ${path}`);
  }

  async #read(stream) {
    let text = "";
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      const events = (text + piece).split("\n\n");
      text = events.pop();
      for (const event of events) {
        const data = field(event, "data");
        if (data) this.news.push({ type: field(event, "event"), ...JSON.parse(data) });
      }
    }
  }
}
