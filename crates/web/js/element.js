/**
 * <mcp-elicitation> asks a person what an MCP server wants to know.
 *
 * @property {object} request    `elicitation/create` params, as the wire brought them; `null` asks nothing
 * @property {Problem[]} problems  what a server found wrong with the answer: the form opens again and shows it
 * @property {object} typed      what was typed so far, to be kept as a draft; secrets are left out
 * @property {boolean} opened    whether the link has been opened, here or elsewhere
 *
 * @attr locale        a language tag; otherwise the page's, otherwise the person's
 * @attr deadline      RFC 3339; it is shown, and the last 30 seconds are counted down
 * @attr server-name   who asks
 * @attr server-host   the asking server's host: it is shown, and tells links that imitate it
 * @attr server-links  origins that its links may lead to although they aren't encrypted, with spaces between: "http://jira.corp"
 * @attr tool          the tool it asks for
 * @attr queue         "1/3": the first of three questions
 * @attr again         the same tool asks the same in another call
 * @attr destructive   accepting destroys something; it is set before `request`
 *
 * @fires elicitation-answer    detail: an ElicitResult, as the wire wants it. The element then waits,
 *                              until `problems` is set, `close` or `dismiss` called, or another request comes
 * @fires elicitation-input     something was typed
 * @fires elicitation-open      detail: {url}; cancelable by a host that opens links its own way
 * @fires elicitation-finished  detail: {action}; "accept" or "cancel", after a link was opened
 * @fires elicitation-timeout   the deadline has passed by this clock, and the person is told so. It
 *                              closes when `close` says so: another clock may decide
 * @fires elicitation-closed    the note that `close` left is gone: the person has put it away, or it left by itself
 *
 * @slot aside         in the header: what a page lets people do besides, such as putting the question off
 *
 * @csspart dialog header who about tool until queue countdown close body title message field label help unchecked problem
 *          link host url notice review footer problems menu reason actions accept reject more cancel keep go note
 * @cssprop --mcp-elicitation-{accent,on-accent,background,text,danger,radius,font}
 */
import { Asked } from "./asked.js";
import { countdown } from "./countdown.js";
import { Dialog } from "./dialog.js";
import { h, voice } from "./draw.js";
import * as locale from "./locale.js";
import { load, more } from "./more.js";
import { Note } from "./note.js";
import { atOnce, fetched } from "./question.js";
import * as screen from "./screen.js";
import { style } from "./style.js";
import { moment } from "./when.js";

/** @typedef {import("./check.js").Problem} Problem */

export class McpElicitationElement extends HTMLElement {
  static observedAttributes = ["locale", "deadline", "server-name", "server-host", "server-links", "tool", "queue", "again"];

  /** A class may have one tag only, so each tag gets its own. */
  static define(tag = "mcp-elicitation") {
    customElements.define(tag, class extends this {});
  }

  #root = this.attachShadow({ mode: "open" });
  #dialog = new Dialog(() => this.#leave(true));
  #note = new Note(() => {
    this.dismiss();
    this.#fire("elicitation-closed");
  });
  #voice = voice("en-US");
  #spoken = false;
  #stop = () => {};

  #asked = new Asked();
  /** Where the person was when they were asked a second time. @type {Element | null} */
  #back = null;
  /** How often an answer was begun: only the latest is given. */
  #tries = 0;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [style()];
    this.#root.append(this.#dialog.node, this.#note.node);
    const { form } = this.#dialog;
    form.onsubmit = (event) => {
      event.preventDefault();
      this.#proceed();
    };
    form.oninput = form.onchange = ({ target, type }) => {
      this.#asked.filling?.change(target);
      this.#prepare();
      if (this.#asked.second && type === "input") this.#stay(false); // a change is told when the focus goes
      this.#update();
      this.#fire("elicitation-input");
    };
    form.onkeydown = (event) => this.#entered(event);
    form.addEventListener("focusout", (event) => {
      if (this.#asked.filling?.leave(event)) this.#update();
    });
  }

  connectedCallback() {
    for (const name of /** @type {const} */ (["request", "typed", "problems", "opened"])) {
      if (!Object.hasOwn(this, name)) continue; // set before the tag was defined
      const value = this[name];
      delete this[name];
      this[name] = /** @type {any} */ (value);
    }
    this.#speak();
    this.#count();
  }

  disconnectedCallback() {
    this.#stop();
    this.#note.clear();
    this.#dialog.close();
  }

  /** @param {string} name */
  attributeChangedCallback(name) {
    if (!this.isConnected) return;
    if (name === "locale") this.#speak();
    else if (name === "deadline") this.#count();
    else this.#drawHeader(); // the rest is the person's: half a date or a caret would be lost
  }

  get request() {
    return this.#asked.request;
  }

  set request(request) {
    this.dismiss();
    if (!request) return;
    const asked = (this.#asked = new Asked(request));
    this.#count();
    /** @param {import("./question.js").Question} question */
    const begin = (question) => {
      if (asked !== this.#asked) return;
      asked.begin(question, this.#voice);
      this.#draw(true);
    };
    const destructive = this.hasAttribute("destructive");
    const question = atOnce(request, destructive);
    asked.rare = !question;
    if (question) begin(question);
    else fetched(request, this.#voice.tag, this.#origin, destructive).then(begin);
  }

  /** What links of the asking server are judged by. */
  get #origin() {
    const links = this.getAttribute("server-links");
    return { asker: this.getAttribute("server-host") ?? undefined, allowed: links?.split(" ") };
  }

  get typed() {
    return this.#asked.typed;
  }

  set typed(typed) {
    this.#asked.typed = typed;
    this.#draw();
  }

  get problems() {
    return this.#asked.filling?.told ?? [];
  }

  set problems(problems) {
    this.#dialog.busy = false;
    if (this.#asked.second) this.#stay(false);
    if (!this.#asked.ready || !this.#spoken || !this.isConnected) {
      this.#asked.found = [...problems];
      return;
    }
    if (this.#asked.step === "review") this.#go("ask");
    this.#dialog.open();
    const { tag, problem } = this.#voice;
    const tell = () => this.#complain(problems);
    if (problems.some((one) => problem(one) === one.key)) locale.load(tag).then(tell, tell); // one that this form cannot find itself
    else tell();
  }

  get opened() {
    return this.#asked.opened;
  }

  set opened(opened) {
    this.#dialog.busy = false;
    this.#go(opened ? "opened" : "ask");
  }

  /** Gives an opened link another address of the same site: some servers create a new one all the time. @param {string} url */
  renew(url) {
    if (!this.#asked.renew(url, this.#origin)) return;
    const { link, opened } = this.#asked;
    const shown = this.#dialog.body.querySelector(".link");
    if (link && more.link) shown?.replaceWith(more.link.consent(link, this.#voice, opened)); // the focus stays where it is
  }

  /** Sends what was typed, if it fits; opens a link. */
  async accept() {
    if (this.#dialog.busy) return;
    if (this.#asked.link) return this.#open();
    const content = await this.#fitting();
    if (content) this.#answer({ action: "accept", content });
  }

  /** @param {string} [reason] */
  decline(reason) {
    const words = reason?.trim();
    this.#answer({ action: "decline", ...(words && { _meta: { "dev.midcall/reason": words } }) });
  }

  cancel() {
    this.#answer({ action: "cancel" });
  }

  /** Puts the question away without a word to anybody. */
  dismiss() {
    this.#stop();
    this.#asked = new Asked();
    this.#dialog.busy = false;
    this.#note.clear();
    this.#dialog.close();
  }

  /**
   * Says how the question ended, and sends nothing.
   *
   * @param {string} state  of the catalog: answered, answered_before, timed_out, withdrawn, …
   */
  close(state) {
    const { title, message } = this.#asked.request ? this.#asked.words(this.#voice) : {};
    this.#dialog.take();
    this.dismiss();
    this.#note.tell(state, title ?? message);
    this.#note.draw(this.#voice, this.#server);
  }

  get #server() {
    return this.getAttribute("server-name") || this.#voice.say("label.a_server");
  }

  /** Draws in the person's language, as soon as its words are here. */
  #speak() {
    const page = /** @type {HTMLElement | null} */ (this.closest("[lang]"))?.lang;
    const tag = locale.negotiate([this.getAttribute("locale") ?? page ?? "", ...navigator.languages]);
    const draw = () => {
      const first = !this.#dialog.node.open;
      this.#voice = voice(tag);
      this.#spoken = true;
      this.#count();
      this.#draw(first);
      this.#note.draw(this.#voice, this.#server);
    };
    if (tag === "en-US" && !this.#asked.rare) draw(); // always there
    else locale.load(tag).then(draw, draw); // unreachable: in English
  }

  #count() {
    this.#stop();
    const deadline = Date.parse(this.getAttribute("deadline") ?? "");
    this.#dialog.clock.hidden = true;
    if (!this.#asked.request || !this.isConnected || !deadline) return;
    this.#stop = countdown(deadline, this.#dialog, (seconds) => {
      if (seconds === undefined) return this.#voice.say("label.until", { time: moment(this.#voice.tag, deadline) });
      return this.#voice.say(seconds ? "timeout_warning" : "timeout_over", { seconds });
    }, () => this.#fire("elicitation-timeout"));
  }

  /** Draws the whole dialog from its state. @param {boolean} [anew]  whether the person has to look at it first */
  #draw(anew = false) {
    if (!this.#asked.ready || !this.#spoken || !this.isConnected) return;
    const { body, node, news } = this.#dialog;
    const focused = this.#root.activeElement?.id;
    const voice = this.#voice;
    const { title, message } = this.#asked.words(voice);

    this.#drawHeader();
    body.replaceChildren(
      this.hasAttribute("destructive") && more.danger && this.#asked.next ? more.danger.warning(voice) : "",
      ...screen.question(title, message),
      this.#asked.content({ voice, server: this.#server, message: this.#asked.request.message, announce: (text) => void (news.textContent = text) }),
    );
    this.#drawFooter();
    node.lang = voice.tag;
    node.setAttribute("aria-labelledby", title ? "asks title" : "asks");

    this.#update();
    this.#dialog.open();
    if (anew) this.#dialog.begin(this.#start);
    else if (focused) this.#root.getElementById(focused)?.focus();
    if (this.#asked.found.length) this.problems = this.#asked.found.splice(0);
  }

  /** Where the person starts. */
  get #start() {
    const { step, isRisky, form } = this.#asked;
    if (step === "ask" && (isRisky || (this.hasAttribute("destructive") && !form?.fields.length))) return "safe";
    return step === "ask" ? "field" : undefined;
  }

  #drawFooter() {
    this.#dialog.footer.replaceChildren(...this.#asked.actions(this.#voice, this.hasAttribute("destructive"), {
      again: () => this.#open(),
      change: () => this.#go("ask"),
      cancel: () => this.cancel(),
      decline: () => this.decline(this.#asked.menu.open ? this.#asked.menu.reason : ""),
      more: () => this.#toggle(),
      stay: () => this.#stay(),
      go: () => (this.#asked.second === "open" ? this.#open() : this.cancel()),
    }));
  }

  #drawHeader() {
    if (!this.#asked.ready || !this.#spoken) return;
    const { header, clock } = this.#dialog;
    const isClosing = header.contains(this.#root.activeElement);
    const who = { server: this.#server, tool: this.getAttribute("tool"), host: this.getAttribute("server-host"), queue: this.getAttribute("queue"), again: this.hasAttribute("again") };
    header.replaceChildren(...screen.header(this.#voice, who, clock, () => this.#leave()));
    if (isClosing) /** @type {HTMLElement | null} */ (header.querySelector(".close"))?.focus();
  }

  /** @param {screen.Step} step */
  #go(step) {
    Object.assign(this.#asked, { step, second: undefined });
    this.#draw(true);
  }

  /** What the main button does, here and now. */
  async #proceed() {
    if (this.#asked.second && more.menu) return; // an Enter in a field says neither
    if (this.opened) return this.#finish("accept");
    if (this.#asked.isRisky) return this.#ask("open");
    if (this.#asked.next !== "review") return this.accept();
    const [content] = await Promise.all([this.#fitting(), this.#fetchReview()]);
    if (!content || !more.review) return;
    this.#asked.rare = true;
    this.#go("review");
  }

  /** Fetches what may come after somebody has typed, so that nobody waits for it. */
  #prepare() {
    if (!more.menu) this.#fetchMenu();
    if (!more.review && this.#asked.next === "review") this.#fetchReview();
  }

  #fetchReview() {
    return Promise.all([load(["review"]), locale.load(this.#voice.tag)]).catch(() => {}); // tried again on the next click
  }

  /**
   * Esc and the close button. While an answer is on its way they only stop the waiting. A double click is one click, so
   * only a second Esc discards what was typed.
   * @param {boolean} [isKey]  by Esc
   */
  #leave(isKey = false) {
    if (this.#dialog.busy) this.#dialog.close();
    else if ((isKey && this.#asked.second === "discard") || this.opened || !this.#asked.isDirty) this.cancel();
    else this.#ask("discard");
  }

  /** Asks whether the person means it, and keeps their place. @param {"discard" | "open"} what */
  async #ask(what) {
    const asked = this.#asked;
    const from = this.#root.activeElement;
    asked.second = what;
    await this.#fetchMenu();
    if (asked !== this.#asked || asked.second !== what) return;
    this.#drawFooter();
    this.#back = from;
    if (what === "open") this.#dialog.wait();
    this.#focus(".keep");
  }

  /** The person goes on with the form. @param {boolean} [back]  to where they were */
  #stay(back = true) {
    this.#asked.second = undefined;
    this.#drawFooter();
    this.#update();
    if (!back) return;
    if (this.#back?.isConnected) /** @type {HTMLElement} */ (this.#back).focus();
    else this.#focus(".accept");
  }

  /** Opens or closes the menu. */
  async #toggle() {
    const { menu } = this.#asked;
    menu.open = !menu.open;
    await this.#fetchMenu();
    if (menu !== this.#asked.menu) return;
    this.#drawFooter();
    this.#update();
    this.#focus(".more");
  }

  #fetchMenu() {
    return Promise.all([load(["menu"]), locale.load(this.#voice.tag)]).catch(() => {}); // the second Esc cancels all the same
  }

  /** @param {string} part */
  #focus(part) {
    /** @type {HTMLElement | null} */ (this.#root.querySelector(part))?.focus();
  }

  #open() {
    const url = this.#asked.link?.url; // none when it is refused
    if (!url) return;
    if (this.#fire("elicitation-open", { url }, true)) window.open(url, "_blank", "noopener,noreferrer");
    this.#dialog.news.textContent = this.#voice.say("url_mode.opening");
    if (this.opened) return;
    this.#go("opened");
    this.#fire("elicitation-answer", { action: "accept" }); // consent, not completion
  }

  /** @param {"accept" | "cancel"} action */
  #finish(action) {
    this.#dialog.busy = true;
    this.#fire("elicitation-finished", { action });
  }

  /** @param {{action: string, content?: object, _meta?: object}} detail */
  #answer(detail) {
    if (this.#dialog.busy || !this.#asked.ready) return;
    this.#tries++;
    if (this.opened) return this.#finish("cancel");
    this.#dialog.busy = true;
    this.#fire("elicitation-answer", detail);
  }

  /** @param {string} type @param {object} [detail] @param {boolean} [cancelable] */
  #fire(type, detail, cancelable = false) {
    return this.dispatchEvent(new CustomEvent(type, { detail, cancelable, bubbles: true, composed: true }));
  }

  /** An Enter meant for something else must not send a form nobody has looked at. @param {KeyboardEvent} event */
  #entered(event) {
    if (event.key !== "Enter" || event.defaultPrevented || !(event.target instanceof HTMLInputElement)) return;
    if (this.#asked.filling?.touched && !this.hasAttribute("destructive")) return; // what destroys takes its own button
    event.preventDefault();
  }

  /** The content if it fits the form; otherwise its problems are shown. */
  async #fitting() {
    const filling = this.#asked.filling;
    if (!filling) return;
    const tries = ++this.#tries;
    const { content, problems } = await filling.checked(); // patterns run in a worker
    if (filling !== this.#asked.filling || tries !== this.#tries) return;
    if (!problems.length) return content;
    if (this.#asked.step !== "ask") this.#go("ask");
    this.#complain(problems);
  }

  /** @param {Problem[]} problems */
  #complain(problems) {
    const { problem } = this.#voice;
    const list = this.#root.getElementById("problems");
    if (this.#asked.filling) this.#asked.filling.complain(problems);
    else list?.replaceChildren(...problems.map((one) => h("strong", {}, problem(one)))); // no field to go to
    this.#update();
    this.#dialog.errors.textContent = list?.firstChild?.textContent || problems.map(problem).join(" ");
  }

  #update() {
    const missing = this.#asked.filling?.update();
    if (this.#accept) this.#accept.ariaDisabled = missing ? "true" : null;
  }

  /** @returns {HTMLElement | null} */
  get #accept() {
    return this.#root.querySelector(".accept");
  }
}
