// SPDX-License-Identifier: Apache-2.0

/**
 * Whether a live that runs is another one than what was asked for: who goes live again enters it as it was begun.
 *
 * @param {object} running LiveInfo of the live
 * @param {object} wanted the fields of LiveInfo that were asked for
 */
export function isOther(running, wanted) {
  return Object.entries(wanted).some(([name, value]) => JSON.stringify(running[name]) !== JSON.stringify(value));
}
