// @ts-check
/** Times in the reader's own zone and language; the server writes them in UTC, for those without a script. */

/**
 * Today by the clock, this year by the day, before that with the year; where there is little room by month and year.
 * @param {Date} date
 * @param {Date} now
 * @param {string} locale
 * @param {string} [timeZone]
 * @param {boolean} [narrow]
 */
export function short(date, now, locale, timeZone, narrow = false) {
  const day = (/** @type {Date} */ when) => when.toLocaleDateString("en-CA", { timeZone });
  const year = (/** @type {Date} */ when) => day(when).slice(0, 4);
  if (day(date) === day(now)) return date.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone });
  if (year(date) === year(now)) return date.toLocaleDateString(locale, { day: "numeric", month: "short", timeZone });
  return date.toLocaleDateString(locale, { day: narrow ? undefined : "numeric", month: "short", year: "numeric", timeZone });
}

/**
 * @param {ParentNode} root
 * @param {Date} now
 */
export function localiseTimes(root, now) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const date = new Date(/** @type {HTMLTimeElement} */ (element).dateTime);
    if (Number.isNaN(date.getTime())) continue;
    element.textContent = short(date, now, document.documentElement.lang, undefined, element.closest(".entry") !== null);
    /** @type {HTMLElement} */ (element).title = date.toLocaleString(document.documentElement.lang);
  }
}
