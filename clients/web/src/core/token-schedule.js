// SPDX-License-Identifier: Apache-2.0

/**
 * Reads when a token was issued and when it ends, without verifying it: that is the server's task.
 *
 * @param {string} token a JWT in compact form
 * @returns {{ expiresAt: number } | undefined} milliseconds since 1970; undefined if it cannot be read
 */
export function tokenTimes(token) {
  try {
    const part = token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/');
    const { exp } = JSON.parse(atob(part));
    return typeof exp === 'number' && Number.isFinite(exp) ? { expiresAt: exp * 1000 } : undefined;
  } catch {
    return undefined;
  }
}

/** How long before its end a token is renewed at the latest, if its life allows. */
const margin = 60_000;

/**
 * How long to wait before a newer token is asked for: until a minute before the end, or four fifths of what is left.
 * Spread over as much time before that, so that the clients whose tokens were issued together do not ask together.
 *
 * @param {number} left milliseconds until the token ends
 * @param {number} random from 0 to below 1
 * @returns {number} milliseconds
 */
export function renewalDelay(left, random) {
  const early = Math.min(margin, Math.max(0, left) / 5);
  return Math.max(0, left - early - early * random);
}
