// SPDX-License-Identifier: Apache-2.0

/**
 * Whether a running live differs from the requested one. A host who goes live again enters the live as it was created.
 *
 * @param {object} running the LiveInfo of the running live
 * @param {object} wanted the requested fields of LiveInfo
 */
export function isOther(running, wanted) {
  return Object.entries(wanted).some(([name, value]) => JSON.stringify(running[name]) !== JSON.stringify(value));
}
