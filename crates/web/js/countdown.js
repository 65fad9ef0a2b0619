/**
 * The time that is left, told in the last seconds only: earlier it would hurry people for
 * nothing.
 */

const LAST = 30; // seconds
const LONGEST = 2 ** 31 - 1; // a timer set for more milliseconds fires at once

/**
 * @param {number} deadline             in milliseconds, as `Date.now()` counts
 * @param {(seconds: number) => void} tick   each of the last seconds
 * @param {() => void} end              once, at the deadline
 * @returns {() => void}                stops it
 */
export function countdown(deadline, tick, end) {
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const step = () => {
    const left = deadline - Date.now();
    if (left <= 0) return end();
    const silent = left - LAST * 1000;
    if (silent <= 0) tick(Math.ceil(left / 1000));
    timer = setTimeout(step, silent > 0 ? Math.min(silent, LONGEST) : left % 1000 || 1000);
  };
  step();
  return () => clearTimeout(timer);
}
