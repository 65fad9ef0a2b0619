/**
 * Whether a link may be opened, and what a person should hear first.
 *
 * The rules are those of `crates/core/src/link.rs`; the browser's `URL` parses alike, and both
 * sides run `fixtures/link/`. A link is never fetched, only shown and opened on a click.
 *
 * In: `judge`. Elsewhere: one host dressed up as another (`look-alike`).
 *
 * @typedef {{ key: string, params: { [name: string]: string } }} Reason
 *
 * @typedef {object} Verdict
 * @property {string} sent  the URL as it came, its hidden characters written out: to look at
 * @property {string} [url]  the URL as it will be opened; absent when the link is refused
 * @property {string} [host]  its host as people read it. Right-to-left names reorder what stands beside them: give it a line of its own
 * @property {string} [ascii]  its host as the DNS knows it, where that differs
 * @property {Reason} [refused]  why it does not open; the first of `reasons`
 * @property {Reason[]} warnings  what a person should be told before it opens
 * @property {Reason[]} reasons  all refusals, else all warnings
 */
import { imitates } from "./look-alike.js";
import { toUnicode } from "./punycode.js";
import { mixesScripts } from "./script.js";

/**
 * @param {string} sent  as the server sent it
 * @param {{ asker?: string, allowed?: string[] }} [from]  that server's own host, if it has one, and the origins that it
 *   may lead to although they aren't encrypted (`http://jira.corp`)
 * @returns {Verdict}
 */
export function judge(sent, { asker, allowed = [] } = {}) {
  const shown = visible(sent);
  if (new TextEncoder().encode(sent).length > TOO_LONG) return refuse(shown, [reason("too_long", "limit", TOO_LONG)]);
  const url = parse(sent);
  const host = url && hostOf(url);
  const ascii = host && host !== url.hostname ? url.hostname : undefined;
  let refusals = findRefusals(sent, url, host);
  const exempt = refusals.length === 1 && refusals[0].key === INSECURE && allowed.includes(url?.origin ?? "") ? refusals : [];
  if (exempt.length) refusals = [];
  if (!url || !host || refusals.length) return { ...refuse(shown, refusals), host, ascii };
  const warnings = [...exempt, ...findWarnings(sent, url, host, asker)];
  return { sent: shown, url: url.href, host, ascii, warnings, reasons: warnings };
}

/** Why an `http:` link is refused. */
const INSECURE = "mcp.elicitation.link.insecure";
/** Bytes a URL may have. */
const TOO_LONG = 8 * 1024;
/** Characters of a URL that a person is still expected to read. */
const LONG = 300;
/** Characters shown of what a server sent. */
const SHOWN = 1024;
/** Characters a host may have: no longer name exists in the DNS. */
const HOST = 253;

/** @param {string} sent @param {Reason[]} reasons @returns {Verdict} */
const refuse = (sent, reasons) => ({ sent, refused: reasons[0], reasons, warnings: [] });

/** @param {string} name @param {string} [param] @param {unknown} [value] @returns {Reason} */
const reason = (name, param, value) => ({
  key: "mcp.elicitation.link." + name,
  params: param ? { [param]: String(value) } : {},
});

/**
 * Chromium takes a space in a host and escapes it, though the standard wants it refused.
 * @param {string} text
 */
function parse(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && isWeb(url) && /[%\s<>^|]/.test(url.hostname) ? undefined : url;
}

/** @param {URL} url */
const isWeb = ({ protocol }) => protocol === "https:" || protocol === "http:";

/** @param {URL} url */
const isAddress = ({ hostname }) => /^\[|^\d+(\.\d+){3}$/.test(hostname);

/** @param {URL} url */
const isLoopback = ({ hostname }) => /^(\[::1\]|127(\.\d+){3}|(.*\.)?localhost\.?)$/.test(hostname);

/** @param {URL} url */
function hostOf(url) {
  const { hostname } = url;
  if (!isWeb(url) || !hostname || hostname.length > HOST) return;
  return isAddress(url) ? hostname : toUnicode(hostname);
}

/** @param {string} sent @param {URL | undefined} url @param {string | undefined} host */
function findRefusals(sent, url, host) {
  const found = [];
  const [hidden] = sent.match(HIDDEN) ?? [];
  if (hidden) found.push(reason("hidden_characters", "character", codePoint(hidden)));
  if (sent.includes("\\")) found.push(reason("backslash"));
  if (url && !isWeb(url)) found.push(reason("scheme", "scheme", url.protocol.slice(0, -1).slice(0, 32)));
  else if (!url || !host || !authority(sent)) found.push(reason("unreadable"));
  else if (url.protocol === "http:" && !isLoopback(url)) found.push(reason("insecure"));
  return found;
}

/** @param {string} sent @param {URL} url @param {string} host @param {string} [from] */
function findWarnings(sent, url, host, from) {
  // Read as a URL's host is, so that case, Punycode and a port make no difference.
  const asker = from === undefined ? undefined : parse("https://" + from);
  const askerHost = asker && hostOf(asker);
  const loopback = isLoopback(url);
  const found = [];
  if (url.username || url.password) found.push(reason("user_info", "host", host));
  // A local address in its usual spelling is no riddle; `http://2130706433` is.
  if (isAddress(url) && !(loopback && isSpelledOut(sent, host))) found.push(reason("ip_address", "address", host));
  // Web pages normally can't open these. A server on stdio has no host, and is no exception.
  if (loopback && !(asker && isLoopback(asker))) found.push(reason("local"));
  if (host !== url.hostname) found.push(reason("punycode", "ascii", url.hostname));
  const mixed = host.split(".").find(mixesScripts);
  if (mixed) found.push(reason("mixed_scripts", "label", mixed));
  if (asker && askerHost && !isAddress(url) && !isAddress(asker) && imitates(host, askerHost)) {
    found.push(reason("look_alike", "asker", askerHost));
  }
  if (url.port && !loopback) found.push(reason("port", "port", url.port));
  if (url.href.length > LONG) found.push(reason("long", "length", url.href.length));
  return found;
}

/** What is not seen, or reads as nothing. */
const HIDDEN = /[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u{2800}]/gu;

/** @param {string} sent */
function visible(sent) {
  const characters = [...sent.slice(0, 2 * SHOWN + 2)];
  const start = characters.slice(0, SHOWN).join("");
  return start.replace(HIDDEN, (hidden) => `<${codePoint(hidden)}>`) + (characters.length > SHOWN ? "…" : "");
}

/** @param {string} character */
const codePoint = (character) => "U+" + (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/**
 * What stands between `scheme://` and the path. Parsers also take `https:host` and
 * `https:///host`, but people and other programs read those differently.
 * @param {string} sent
 */
const authority = (sent) => /^[^:]*:\/\/([^/?#]+)/.exec(sent)?.[1];

/**
 * Whether the server spelled the host as it will be opened.
 * @param {string} sent @param {string} host
 */
function isSpelledOut(sent, host) {
  const written = authority(sent)?.split("@").at(-1) ?? "";
  return written === host || written.startsWith(host + ":");
}
