/**
 * Dates and times as this person writes them: in the language of the screen, by the rules of their region.
 */

/**
 * A moment; the day is left out where it is today. What is no moment says nothing.
 * @param {string} tag  the language of the screen @param {number | string} stamp
 */
export function moment(tag, stamp) {
  const date = new Date(stamp);
  if (isNaN(+date)) return "";
  const isToday = date.toDateString() === new Date().toDateString();
  return format(tag, date, isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

/** @param {string} tag @param {Date} date @param {Intl.DateTimeFormatOptions} how */
export const format = (tag, date, how) => writer(tag, how).format(date);

/** What this person calls the time that their clock shows. @param {string} tag */
export const zone = (tag) => writer(tag, { timeZoneName: "long" }).formatToParts().find(({ type }) => type === "timeZoneName")?.value ?? "";

/** @param {string} tag @param {Intl.DateTimeFormatOptions} how */
function writer(tag, how) {
  const [language] = tag.split("-");
  const region = navigator.languages.find((one) => one.split("-")[0] === language);
  return new Intl.DateTimeFormat(region ?? tag, how);
}
