/**
 * The time that is left, told in the last seconds only: earlier it would hurry people for
 * nothing.
 *
 * It decides nothing: this clock may be wrong, and whoever takes the answer has its own.
 */

const LAST = 30; // seconds
const URGENT = 10;
const LONGEST = 2 ** 31 - 1; // a timer set for more milliseconds fires at once

/**
 * @param {number} deadline                    in milliseconds, as `Date.now()` counts
 * @param {{clock: HTMLElement, countdown: HTMLElement}} dialog   where it is shown, and where it is spoken
 * @param {(seconds: number) => string} text   for 0: the time is over
 * @param {() => void} end                     once, at the deadline
 * @returns {() => void}                       stops it
 */
export function countdown(deadline, { clock, countdown }, text, end) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const step = () => {
    const left = deadline - Date.now();
    if (left <= 0) {
      tell(0);
      return end();
    }
    const silent = left - LAST * 1000;
    if (silent <= 0) tell(Math.ceil(left / 1000));
    timer = setTimeout(step, silent > 0 ? Math.min(silent, LONGEST) : left % 1000 || 1000);
  };
  /** @param {number} seconds */
  const tell = (seconds) => {
    if (seconds === URGENT || !seconds || clock.hidden) countdown.textContent = text(seconds); // each second would drown all else
    clock.hidden = false;
    clock.textContent = text(seconds);
    clock.classList.toggle("urgent", seconds <= URGENT);
  };
  step();
  return () => clearTimeout(timer);
}
