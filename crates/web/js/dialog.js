/**
 * The dialog around every question: who asks stays on top, what can be done at the bottom,
 * and only what lies between scrolls.
 *
 * A native modal dialog makes the rest of the page inert. Tab goes round inside, and the focus
 * returns to where it was. Esc is told to the owner, never acted upon: only the owner knows
 * what cancelling means.
 *
 * A question that has just come takes no answer for a moment: the click or the key was meant for
 * what stood there before.
 */
import { h } from "./draw.js";

/** How long what has just come is left alone, in milliseconds; a key that goes on makes it longer. */
const MOMENT = 700;

/** When a question was last taken from under a person's hands. */
let taken = -Infinity;

export class Dialog {
  header = h("header", { part: "header", role: "none" }); // no landmarks: those are the page's
  body = h("div", { part: "body" });
  footer = h("footer", { part: "footer", role: "none" });
  clock = h("span", { part: "until", hidden: true });
  form = h("form", { novalidate: true, autocomplete: "off" }, this.body, this.footer);

  // Live regions must stand before they speak, so they are never drawn again.
  errors = h("p", { "aria-live": "assertive" });
  countdown = h("p", { "aria-live": "polite" });
  news = h("p", { "aria-live": "polite" });

  node = h(
    "dialog",
    { part: "dialog", role: "dialog", "aria-modal": "true", "aria-labelledby": "asks title", "aria-describedby": "about warning message", tabindex: "-1" },
    this.header,
    this.form,
    h("div", { part: "quiet" }, this.errors, this.countdown, this.news),
  );

  /** @type {Element | null | undefined} */
  #before;
  #moment = 0;

  /** @param {() => void} escaped  the person pressed Esc, or a phone's back */
  constructor(escaped) {
    this.node.oncancel = (event) => {
      event.preventDefault();
      if (!this.#isNew) escaped();
    };
    this.node.addEventListener("keydown", (event) => this.#spare(event), true);
    this.node.onkeydown = (event) => {
      if (event.key === "Escape" && !event.isComposing) {
        event.preventDefault();
        escaped();
      }
      if (event.key === "Tab") this.#turn(event);
    };
  }

  open() {
    if (!this.node.open) this.#show();
    const { body } = this;
    const stops = body.querySelector("input, select, textarea, button");
    body.tabIndex = !stops && body.scrollHeight > body.clientHeight ? 0 : -1; // or the keyboard could not scroll it
  }

  #show() {
    this.#before = document.activeElement;
    while (this.#before?.shadowRoot?.activeElement) this.#before = this.#before.shadowRoot.activeElement;
    this.node.showModal();
  }

  /** Where the person starts. @param {"field" | "safe" | undefined} at  the first field, if that can be seen together with the message; or what changes nothing */
  begin(at) {
    const { node, body } = this;
    this.wait();
    node.focus(); // never on a button that does something: a question may appear while somebody types elsewhere
    body.scrollTop = node.scrollTop = 0;
    if (at === "safe") /** @type {HTMLElement | null} */ (node.querySelector(".reject"))?.focus();
    const first = at === "field" && performance.now() - taken > MOMENT && /** @type {HTMLElement | null} */ (body.querySelector("input, select, textarea"));
    if (first && first.getBoundingClientRect().bottom <= Math.min(body.getBoundingClientRect().bottom, innerHeight)) first.focus();
  }

  /** Whether an answer is on its way: no second one is given. */
  get busy() {
    return this.form.inert;
  }

  set busy(busy) {
    this.node.setAttribute("aria-busy", String(busy));
    this.form.inert = busy;
    if (busy) this.node.focus();
  }

  /** Closes though the person was not done with it. */
  take() {
    if (this.node.open && !this.busy) taken = performance.now();
    this.close();
  }

  close() {
    if (this.node.open) this.node.close();
    for (const region of [this.errors, this.countdown, this.news]) region.textContent = "";
    if (this.#before instanceof HTMLElement) this.#before.focus();
    this.#before = null;
  }

  get #isNew() {
    return this.node.classList.contains("new"); // its buttons cannot be pressed either
  }

  /** Takes no answer for a moment: a double click is one click. */
  wait() {
    clearTimeout(this.#moment);
    this.node.classList.add("new");
    this.#moment = setTimeout(() => this.node.classList.remove("new"), MOMENT);
  }

  /** Drops keys that were meant for something else, and an Enter or Esc that is still held down. @param {KeyboardEvent} event */
  #spare(event) {
    const held = event.repeat && (event.key === "Escape" || (event.key === "Enter" && !(event.target instanceof HTMLTextAreaElement)));
    if (!held && !this.#isNew) return;
    if (this.#isNew) this.wait();
    event.preventDefault();
    event.stopPropagation();
  }

  /** The first and the last stop are buttons: the one that closes, and the one that sends. @param {KeyboardEvent} event */
  #turn(event) {
    const stops = [...this.node.querySelectorAll("button")].filter((stop) => stop.checkVisibility());
    const [from, to] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
    const focused = /** @type {ShadowRoot} */ (this.node.getRootNode()).activeElement;
    if (focused !== from && !(event.shiftKey && focused === this.node)) return;
    event.preventDefault();
    to?.focus();
  }
}
