/**
 * What `format: email` asks of a text, as the `jsonschema` crate has it. The only format in so
 * many forms that it is always here; the others are in `formats`.
 */

const label = "[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?";
const atom = "[\\w!#$%&'*+/=?^`{|}~-]+";
const EMAIL = RegExp(`^(?=.{1,64}@)(?:${atom}(?:\\.${atom})*|"(?:[^"\\\\\\s]|[ \\t]|\\\\[!-~ ])*")@(?:(${label}(?:\\.${label})*)|\\[(.+)\\])$`, "i");

/** @param {string} text */
export function isEmail(text) {
  const [found, host, address] = EMAIL.exec(text) ?? [];
  if (!address) return !!found && host.length < 254;
  return /^ipv6:/i.test(address) ? isIpv6(address.slice(5)) : isIpv4(address);
}

/** @param {string} text */
export const isIpv6 = (text) => /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`);

/** @param {string} text */
export const isIpv4 = (text) => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
