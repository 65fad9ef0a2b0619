/**
 * Moments, which have an offset, in a `datetime-local` control, which has none.
 */

/**
 * A moment as the control shows it: in the person's own time.
 * @param {string} moment
 */
export function local(moment) {
  const date = new Date(moment);
  if (isNaN(+date)) return "";
  const shifted = new Date(+date - date.getTimezoneOffset() * 60_000).toISOString();
  return shifted.slice(0, date.getSeconds() || date.getMilliseconds() ? 19 : 16);
}

/**
 * What the control gives has no offset yet: the person's own is meant.
 * @param {string} text
 */
export function zoned(text) {
  const [found, seconds] = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d+)?)?$/.exec(text) ?? [];
  const offset = -new Date(text).getTimezoneOffset();
  if (!found || isNaN(offset)) return text;
  /** @param {number} part */
  const two = (part) => String(Math.floor(part)).padStart(2, "0");
  const size = Math.abs(offset);
  return text + (seconds ? "" : ":00") + (offset < 0 ? "-" : "+") + two(size / 60) + ":" + two(size % 60);
}
