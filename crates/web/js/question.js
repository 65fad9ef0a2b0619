/**
 * What a request asks: a form or a link, with everything that it takes to show it.
 *
 * @typedef {{form?: import("./form.js").Form, link?: import("./link.js").Verdict}} Question   neither: it can only be refused
 */
import { FormError, open, openAtOnce } from "./form.js";
import { LIMITS } from "./limits.js";
import * as locale from "./locale.js";
import { load, more } from "./more.js";

/** At once, if nothing has to be loaded for it, as for most. @param {any} request @param {boolean} destructive @returns {Question | undefined} */
export function atOnce(request, destructive) {
  const form = destructive || isLink(request) || isLong(request) ? undefined : openAtOnce(schemaOf(request));
  return form && { form };
}

/**
 * @param {any} request
 * @param {string} tag      the language it is shown in
 * @param {{asker?: string, allowed?: string[]}} from  what is known of the asking server: see `judge` in `link.js`
 * @param {boolean} destructive
 * @returns {Promise<Question>}
 */
export async function fetched(request, tag, from, destructive) {
  try {
    const texts = Promise.all([locale.load(tag), load(destructive ? ["danger"] : [])]);
    if (isLong(request)) throw new FormError("the message is too long");
    if (isLink(request)) {
      await Promise.all([texts, load(["link"])]);
      return { link: more.link?.judge(String(request.url), from) };
    }
    const [form] = await Promise.all([open(schemaOf(request)), texts]);
    return { form };
  } catch {
    await load(["notice"]).catch(() => {});
    return {};
  }
}

/** @param {any} request */
const isLink = ({ mode }) => mode === "url";

/** Nobody can be said to have read it. @param {any} request */
const isLong = ({ message }) => message?.length > LIMITS.message;

/** As the wire has it, or a ticket. @param {any} request */
const schemaOf = ({ requestedSchema, schema }) => requestedSchema ?? schema;
