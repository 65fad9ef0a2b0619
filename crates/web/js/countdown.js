/**
 * The time that is left: until when, and in the last seconds how many. To count them earlier would hurry
 * people for nothing.
 *
 * It decides nothing: this clock may be wrong, and whoever takes the answer has its own.
 */

const LAST = 30; // seconds
const URGENT = 10;
const LONGEST = 2 ** 31 - 1; // a timer set for more milliseconds fires at once

/**
 * @param {number} deadline                    in milliseconds, as `Date.now()` counts
 * @param {{clock: HTMLElement, countdown: HTMLElement}} dialog   where it is shown, and where it is spoken
 * @param {(seconds?: number) => string} text  for 0: the time is over; for nothing: until when
 * @param {() => void} end                     once, at the deadline
 * @returns {() => void}                       stops it
 */
export function countdown(deadline, { clock, countdown }, text, end) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  let isTold = false;
  /** @param {string} part @param {string} words */
  const show = (part, words) => {
    clock.hidden = false;
    clock.className = part;
    clock.setAttribute("part", part.split(" ")[0]);
    clock.textContent = words;
  };
  const step = () => {
    const left = deadline - Date.now();
    if (left <= 0) {
      tell(0);
      return end();
    }
    const silent = left - LAST * 1000;
    if (silent <= 0) tell(Math.ceil(left / 1000));
    else show("until", text());
    timer = setTimeout(step, silent > 0 ? Math.min(silent, LONGEST) : left % 1000 || 1000);
  };
  /** @param {number} seconds */
  const tell = (seconds) => {
    if (seconds === URGENT || !seconds || !isTold) countdown.textContent = text(seconds); // each second would drown all else
    isTold = true;
    show(seconds <= URGENT ? "countdown urgent" : "countdown", text(seconds));
  };
  step();
  return () => clearTimeout(timer);
}
