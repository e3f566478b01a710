// SPDX-License-Identifier: Apache-2.0

/**
 * How long to wait before the next attempt: full jitter, so that the clients of a gateway that died do not come back at
 * the same moment (PROTOCOL.md, section 7).
 *
 * @param {number} failures how many attempts failed in a row, from 0
 * @param {number} random from 0 to below 1
 * @param {number} [first] the longest wait after the first failure, in milliseconds
 * @param {number} [most] the longest wait of all, in milliseconds
 * @returns {number} milliseconds, from 0 to min(most, first · 2^failures)
 */
export function backOff(failures, random, first = 100, most = 5000) {
  return random * Math.min(most, first * 2 ** Math.min(failures, 20));
}
