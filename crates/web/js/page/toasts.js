/**
 * What has just happened, told for a moment in the corner: each note names what it is about, follows the language,
 * and leaves by itself, but not while the person reads it.
 */
import { h } from "../draw.js";

/** How long a note stays, in milliseconds. */
const MOMENT = 6_000;

export class Toasts {
  /** It stands before anything is said: only then is that heard. */
  node = h("div", { class: "toasts", role: "status" });
  /** @type {(() => Node[]) | undefined} */
  #content;
  #timer = 0;

  constructor() {
    this.node.onpointerenter = () => clearTimeout(this.#timer);
    this.node.onpointerleave = () => this.#linger();
  }

  /** One note at a time: the newest. @param {() => Node[]} content */
  show(content) {
    this.#content = content;
    this.draw();
    this.#linger();
  }

  draw() {
    this.node.replaceChildren(...(this.#content?.() ?? []));
  }

  #linger() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.clear(), MOMENT);
  }

  clear() {
    this.#content = undefined;
    this.draw();
  }
}
