/**
 * What is about to be sent, to be read once more.
 */
import { clean, h, words } from "./draw.js";
import { look } from "./style.js";
import { format } from "./when.js";

/**
 * @param {import("./form.js").Field[]} fields
 * @param {any} content   what will be sent
 * @param {Set<string>} unchecked   paths of fields that can't be checked here
 * @param {import("./draw.js").Voice} voice
 * @returns {HTMLElement}
 */
export function review(fields, content, unchecked, voice) {
  return h("dl", { part: "review" }, ...fields.map((field) => {
    const value = content && Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    const inner = field.fields && value && review(field.fields, value, unchecked, voice);
    const note = unchecked.has(field.path) && h("dd", { part: "unchecked" }, voice.say("label.unchecked"));
    return h("div", {}, h("dt", {}, words(field.label, 200)), inner ? h("dd", {}, inner) : shown(field, value, voice), note);
  }));
}

/** @param {import("./form.js").Field} field @param {any} value @param {import("./draw.js").Voice} voice */
function shown(field, value, { say, tag }) {
  if (value === undefined || value === null || value === "") return h("dd", { part: "empty" }, say("label.left_empty"));
  if (field.secret) return h("dd", {}, "••••••••");
  /** @param {any} one @returns {string} */
  const text = (one) => {
    const offer = field.offers?.find((offer) => offer.value === one);
    if (offer) return clean(offer.label, 200);
    const { format: kind } = field.text ?? {};
    if (kind === "date" && !isNaN(Date.parse(one))) return format(tag, new Date(one), { dateStyle: "long", timeZone: "UTC" });
    if (kind === "date-time" && !isNaN(Date.parse(one))) return format(tag, new Date(one), { dateStyle: "long", timeStyle: "long" });
    if (typeof one === "boolean") return say(one ? "label.yes" : "label.no");
    return clean(typeof one === "string" ? one : JSON.stringify(one, (_, member) => (typeof member === "bigint" ? String(member) : member), 2));
  };
  const several = Array.isArray(value) && field.kind !== "json";
  return h("dd", { dir: "auto" }, several ? value.map(text).join(", ") || say("label.left_empty") : text(value));
}

look(`
dl > div { padding-block: .5rem; border-block-start: 1px solid var(--hair); display: grid; grid-template-columns: 2fr 3fr; gap: 0 1rem; }
dl > div:first-child { border: 0; }
div:has(> dd > dl) { display: block; }
dd dl { padding-inline-start: 1rem; }
dt, .empty, dd.unchecked { color: var(--muted); }
dd.unchecked { grid-column: 2; font-size: .875rem; }
dd { white-space: pre-wrap; }
.empty { font-style: italic; }
@media (max-width: 26rem) { dl > div { grid-template-columns: 100%; } dd.unchecked { grid-column: 1; } }
`);
