/**
 * What a question leaves behind when it ended without this person: a note that says how, and leaves by itself, but not
 * while it is read.
 */
import { cross, h, words } from "./draw.js";

/** How long a note stays, in milliseconds. */
const MOMENT = 8000;

export class Note {
  /** A live region: it stands before it speaks. */
  node = h("div", { role: "status", part: "note" });
  /** @type {{state: string, question: unknown} | undefined} */
  #told;
  #timer = 0;
  #gone;

  /** @param {() => void} gone  it was put away, or left */
  constructor(gone) {
    this.#gone = gone;
    for (const reading of ["pointerenter", "focusin"]) this.node.addEventListener(reading, () => clearTimeout(this.#timer));
    for (const read of ["pointerleave", "focusout"]) this.node.addEventListener(read, () => this.#linger());
  }

  /** @param {string} state  of the catalog @param {unknown} question */
  tell(state, question) {
    this.#told = { state, question };
    this.#linger();
  }

  clear() {
    clearTimeout(this.#timer);
    this.#told = undefined;
    this.node.replaceChildren();
  }

  /** @param {import("./draw.js").Voice} voice @param {string} server */
  draw({ say }, server) {
    if (!this.#told) return;
    const { state, question } = this.#told;
    this.node.replaceChildren(
      h("div", {}, h("p", {}, h("strong", {}, words(server, 60)), " ", say("state." + state)), h("p", { part: "help" }, words(question, 80))),
      cross(say("action.close"), this.#gone, "close"),
    );
  }

  #linger() {
    clearTimeout(this.#timer);
    if (this.#told) this.#timer = setTimeout(this.#gone, MOMENT);
  }
}
