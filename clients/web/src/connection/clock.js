// SPDX-License-Identifier: Apache-2.0

/**
 * @typedef {object} Clock
 * @property {() => number} now milliseconds of a clock that never goes back
 * @property {() => number} wall milliseconds since 1970
 * @property {(action: () => void, delay: number) => unknown} setTimeout
 * @property {(timer: any) => void} clearTimeout
 */

/**
 * The clock and the timers of the system.
 *
 * @type {Clock}
 */
export const systemClock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  // A timer holds at most 2³¹ − 1 ms; a longer pause would end at once.
  setTimeout: (action, delay) => setTimeout(action, Math.min(delay, 0x7fffffff)),
  clearTimeout: (timer) => clearTimeout(timer),
};
