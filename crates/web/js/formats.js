/**
 * What `format` asks of a text, for forms that name one: what the `jsonschema` crate says it does.
 *
 * International names and addresses, IRIs and `regex` are left to the gateway: they need tables
 * or a grammar that a page need not carry.
 */
import { isEmail, isIpv4, isIpv6 } from "./email.js";

export { local, zoned } from "./moment.js";

/**
 * The name of the problem that a text has with a format, if it has one. The protocol's own
 * formats have texts of their own.
 * @param {string} format @param {string} text
 */
export function faultOf(format, text) {
  if (!Object.hasOwn(FORMATS, format) || FORMATS[format](text)) return;
  return /^(email|uri|date|date-time)$/.test(format) ? format.replace("-", "_") : "format";
}

const escape = "%[\\da-f]{2}";
const sub = "\\w.~!$&'()*+,;=\\-";
const URI = RegExp(
  `^[a-z][a-z\\d+.-]*:(?:(?!//)|//(?:(?:[${sub}:]|${escape})*@)?(?:\\[([\\da-f:.]+|v[\\da-f]+\\.[${sub}:]+)\\]|(?:[${sub}]|${escape})*)(?::\\d*)?(?=[/?#]|$))` +
    `(?:[${sub}:@/]|${escape})*(?:\\?(?:[${sub}:@/?]|${escape})*)?(?:#(?:[${sub}:@/?]|${escape})*)?$`,
  "i",
);
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/** @type {{ [format: string]: (text: string) => boolean }} */
export const FORMATS = {
  email: isEmail,
  uri: isUri,
  date: isDate,
  "date-time": (text) => /^.{10}t/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  time: isTime,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uuid: (text) => /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text),
  hostname: (text) => text.length < 254 && /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i.test(text),
  "uri-reference": (text) => isUri(text) || (!/^[^/?#]*:/.test(text) && isUri("x:" + text)),
  "json-pointer": (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  "relative-json-pointer": (text) => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text),
  duration: (text) =>
    /^P(?=.)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=.)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/.test(text),
};

/** @param {string} text */
function isUri(text) {
  const [found, address] = URI.exec(text) ?? [];
  return found !== undefined && (!address || /^v/i.test(address) || isIpv6(address));
}

/** @param {string} text */
function isDate(text) {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text + "T00:00Z");
  return !!day && !isNaN(+day) && day.toISOString().startsWith(text);
}

/** @param {string} text */
function isTime(text) {
  const [found, hour, minute, second, sign, hours = 0, minutes = 0] = TIME.exec(text) ?? [];
  if (second !== "60") return !!found;
  // Seconds leap at the end of a day in UTC only.
  const offset = (sign === "-" ? -1 : 1) * (+hours * 60 + +minutes);
  return (+hour * 60 + +minute - offset + 2880) % 1440 === 1439;
}
