// SPDX-License-Identifier: Apache-2.0
import { backOff } from './back-off.js';

/** How long before its end a token is renewed at the latest, if its life allows; in milliseconds. */
const margin = 60_000;

/**
 * Reads when a token ends, without verifying it: that is the server's task.
 *
 * @param {string} token a JWT in compact form
 * @returns {number | undefined} milliseconds since 1970; undefined if it cannot be read
 */
export function tokenEnd(token) {
  try {
    const { exp } = JSON.parse(atob(token.split('.')[1].replace(/-/g, '+').replace(/_/g, '/')));
    return typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

/**
 * How long to wait before a newer token is asked for: until a minute before the end, or four fifths of what is left.
 * Spread over as much time before that, so that clients whose tokens were issued together do not ask together.
 *
 * @param {number} left milliseconds until the token ends
 * @param {number} random from 0 to below 1
 * @returns {number} milliseconds
 */
export function renewalDelay(left, random) {
  const early = Math.min(margin, Math.max(0, left) / 5);
  return Math.max(0, left - early - early * random);
}

/** The token of a client, and when it is renewed. */
export class TokenKeeper {
  /** @type {string | undefined} */
  text;
  /** When a newer token is asked for; infinite without a provider, and while one is asked for. */
  renewAt = Infinity;
  #hasProvider;
  #random;
  #failures = 0;
  /** Whether a token was refused since the last login; a second refusal is final. */
  #wasRefused = false;

  /**
   * @param {boolean} hasProvider
   * @param {() => number} random
   */
  constructor(hasProvider, random) {
    this.#hasProvider = hasProvider;
    this.#random = random;
  }

  get hasProvider() {
    return this.#hasProvider;
  }

  /**
   * Takes a token.
   *
   * @param {{ text: string, left: number }} token and for how many milliseconds it is valid yet
   * @param {number} now
   */
  use(token, now) {
    this.#failures = 0;
    this.text = token.text;
    this.renewAt = this.#hasProvider ? now + renewalDelay(token.left, this.#random()) : Infinity;
  }

  /**
   * Whether a login needs another token than the present one.
   *
   * @param {number} now
   */
  needsNew(now) {
    return this.#hasProvider && (this.text === undefined || this.renewAt <= now);
  }

  /**
   * The provider has failed.
   *
   * @param {number} now
   * @returns {number} for how many milliseconds it is left alone
   */
  failed(now) {
    const pause = backOff(this.#failures, this.#random(), 1000, 30_000);
    this.#failures += 1;
    if (this.text !== undefined) this.renewAt = now + Math.max(1000, pause);
    return pause;
  }

  /** A login has succeeded. */
  accepted() {
    this.#wasRefused = false;
  }

  /**
   * The server has refused the token, or it has ended.
   *
   * @returns {boolean} whether another one may be tried
   */
  refused() {
    if (!this.#hasProvider || this.#wasRefused) return false;
    this.#wasRefused = true;
    this.text = undefined;
    return true;
  }
}
