/**
 * Numbers compared and divided exactly: 2^53 + 1 is not 2^53, and 0.3 is three tenths.
 *
 * JavaScript compares a bigint with a number without rounding either, so order needs no help.
 */

/**
 * @param {unknown} value
 * @returns {value is number | bigint}
 */
export const isNumber = (value) => typeof value === "bigint" || (typeof value === "number" && isFinite(value));

/**
 * Whether JSON Schema calls it an integer: `3`, and `3.0` too.
 * @param {unknown} value
 */
export const isInteger = (value) => typeof value === "bigint" || Number.isInteger(value);

/**
 * Whether an integer lies outside what the gateway keeps digit by digit: 64 bits.
 * @param {number | bigint} integer
 */
export const isRounded = (integer) =>
  integer >= 2 ** 64 || (typeof integer === "bigint" ? integer < -(2 ** 63) : integer <= -(2 ** 63));

/**
 * @param {number | bigint} number
 * @param {number | bigint} of
 */
export function isMultiple(number, of) {
  const [a, aScale] = decimal(number);
  const [b, bScale] = decimal(of);
  const scale = Math.min(aScale, bScale);
  return (a * 10n ** BigInt(aScale - scale)) % (b * 10n ** BigInt(bScale - scale)) === 0n;
}

/**
 * A number as digits and a power of ten.
 * @param {number | bigint} number
 * @returns {[bigint, number]}
 */
function decimal(number) {
  if (isInteger(number)) return [BigInt(number), 0];
  const [mantissa, exponent = 0] = String(number).split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
