/**
 * What `format` asks of a text: what the `jsonschema` crate says it does.
 *
 * The protocol's four are here. Further ones come with `schema.js`, for forms that name them.
 *
 * @typedef {{ [format: string]: (text: string) => boolean }} Formats
 */
import { has } from "./json.js";

/**
 * The name of the problem that a text has with a format, if it has one.
 * @param {string} format @param {string} text @param {Formats} [more]
 */
export function faultOf(format, text, more = {}) {
  if (has(FORMATS, format)) return FORMATS[format](text) ? undefined : format.replace("-", "_");
  if (has(more, format) && !more[format](text)) return "format";
}

const label = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";
const atom = "[\\w!#$%&'*+/=?^`{|}~-]+";
const EMAIL = RegExp(`^(?=.{1,64}@)(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\s]|[ \\t]|\\\\[!-~ ])*")@(?:(${label}(?:\\.${label})*)|\\[(.+)\\])$`, "i");
const escape = "%[\\da-f]{2}";
const sub = "\\w.~!$&'()*+,;=\\-";
const URI = RegExp(
  `^[a-z][a-z\\d+.-]*:(?:(?!//)|//(?:(?:[${sub}:]|${escape})*@)?(?:\\[([\\da-f:.]+|v[\\da-f]+\\.[${sub}:]+)\\]|(?:[${sub}]|${escape})*)(?::\\d*)?(?=[/?#]|$))` +
    `(?:[${sub}:@/]|${escape})*(?:\\?(?:[${sub}:@/?]|${escape})*)?(?:#(?:[${sub}:@/?]|${escape})*)?$`,
  "i",
);
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|([+-])([01]\d|2[0-3]):([0-5]\d))$/i;

/** @param {string} text */
export const isIpv6 = (text) => /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`);

/** @param {string} text */
export const isIpv4 = (text) => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);

/** @type {Formats} */
export const FORMATS = {
  email(text) {
    const [found, host, address] = EMAIL.exec(text) ?? [];
    if (!address) return !!found && host.length < 254;
    return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address);
  },
  uri(text) {
    const [found, address] = URI.exec(text) ?? [];
    return found !== undefined && (!address || /^v/i.test(address) || isIpv6(address));
  },
  date(text) {
    const day = /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text + "T00:00Z");
    return !!day && !isNaN(+day) && day.toISOString().startsWith(text);
  },
  "date-time": (text) => /^.{10}t/i.test(text) && FORMATS.date(text.slice(0, 10)) && isTime(text.slice(11)),
};

/** @param {string} text */
export function isTime(text) {
  const [found, hour, minute, second, sign, hours = 0, minutes = 0] = TIME.exec(text) ?? [];
  if (second !== "60") return !!found;
  // Seconds leap at the end of a day in UTC only.
  const offset = (sign === "-" ? -1 : 1) * (+hours * 60 + +minutes);
  return (+hour * 60 + +minute - offset + 2880) % 1440 === 1439;
}
