/**
 * Formats that JSON Schema knows beyond the protocol's four, for forms that name them.
 *
 * International names and addresses, IRIs and `regex` are left to the gateway: they need tables
 * or a grammar that a page need not carry.
 */
import { FORMATS, isIpv4, isIpv6, isTime } from "./format.js";

/** @type {import("./format.js").Formats} */
export const formats = {
  time: isTime,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uuid: (text) => /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i.test(text),
  hostname: (text) => text.length < 254 && /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i.test(text),
  "uri-reference": (text) => FORMATS.uri(text) || (!/^[^/?#]*:/.test(text) && FORMATS.uri("x:" + text)),
  "json-pointer": (text) => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text),
  "relative-json-pointer": (text) => /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/.test(text),
  duration: (text) =>
    /^P(?=.)(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?=.)(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/.test(text),
};
