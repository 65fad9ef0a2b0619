/**
 * Host names as people read them (RFC 3492). `URL` only tells how the DNS knows them.
 */

/**
 * @param {string} host  as `URL` has it: in ASCII, lower case, valid
 */
export const toUnicode = (host) =>
  host
    .split(".")
    .map((label) => (label.startsWith("xn--") ? decode(label.slice(4)) ?? label : label))
    .join(".");

/** @param {string} encoded */
function decode(encoded) {
  const hyphen = encoded.lastIndexOf("-");
  const letters = hyphen > 0 ? [...encoded.slice(0, hyphen)] : [];
  let [code, bias, place, at] = [128, 72, 0, hyphen > 0 ? hyphen + 1 : 0];
  while (at < encoded.length) {
    const before = place;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = parseInt(encoded[at] ?? "", 36);
      if (isNaN(digit)) return;
      at++;
      const value = digit < 10 ? digit + 26 : digit - 10;
      place += value * weight;
      const threshold = Math.min(Math.max(k - bias, 1), 26);
      if (value < threshold) break;
      weight *= 36 - threshold;
    }
    const length = letters.length + 1;
    let delta = before === 0 ? Math.floor(place / 700) : (place - before) >> 1;
    delta += Math.floor(delta / length);
    let k = 0;
    for (; delta > 455; k += 36) delta = Math.floor(delta / 35);
    bias = k + Math.floor((36 * delta) / (delta + 38));
    code += Math.floor(place / length);
    place %= length;
    if (code > 0x10ffff) return;
    letters.splice(place++, 0, String.fromCodePoint(code));
  }
  return letters.join("");
}
