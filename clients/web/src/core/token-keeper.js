// SPDX-License-Identifier: Apache-2.0
import { backOff } from './back-off.js';

/** How long before its end a token is renewed at the latest, if its life allows; in milliseconds. */
const margin = 60_000;

/** How long the token provider may take, in milliseconds; then it is asked again. */
export const answerTimeout = 30_000;

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
 * How long before the end a newer token is asked for: a minute, or a fifth of what is left. Spread over as much time
 * before that, so that clients whose tokens were issued together do not ask together.
 *
 * @param {number} left milliseconds until the token ends
 * @param {number} random from 0 to below 1
 * @returns {number} milliseconds
 */
function renewalLead(left, random) {
  return Math.min(margin, Math.max(0, left) / 5) * (1 + random);
}

/**
 * How long to wait before a newer token is asked for.
 *
 * @param {number} left milliseconds until the token ends
 * @param {number} random from 0 to below 1
 * @returns {number} milliseconds
 */
export function renewalDelay(left, random) {
  return Math.max(0, left - renewalLead(left, random));
}

/** The token of a client, and when it is renewed. */
export class TokenKeeper {
  /** @type {string | undefined} */
  text;
  /**
   * When a newer token is asked for, or the provider counts as failed if it is being asked; infinite without a
   * provider.
   */
  renewAt = Infinity;
  /** Whether the provider was asked on an open connection, and has not answered yet. */
  isRequested = false;
  #hasProvider;
  #random;
  /**
   * When the token ends, in milliseconds since 1970 by the server's clock; undefined if it cannot be read.
   *
   * @type {number | undefined}
   */
  #end;
  /** How long before its end the token is renewed, and the number by which clients differ in that. */
  #lead = 0;
  #share = 0;
  #failures = 0;
  /** Whether a token was rejected since the last login; a second rejection is final. */
  #wasRejected = false;

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
    this.isRequested = false;
    this.text = token.text;
    if (!this.#hasProvider) return;
    this.#end = tokenEnd(token.text);
    this.#share = this.#random();
    this.#lead = renewalLead(token.left, this.#share);
    // A provider that gives tokens that have ended is not asked without a pause.
    this.renewAt = now + Math.max(1000, token.left - this.#lead);
  }

  /**
   * The server has told its time, by which tokens end. The clock of `now` may have stood still while the machine slept,
   * and before the first login the end was compared with the machine's own time, which may be wrong.
   *
   * @param {number} time milliseconds since 1970
   * @param {number} now
   */
  serverTime(time, now) {
    // While the provider is asked, or left alone after a failure, its answer or the pause decides.
    if (this.#end === undefined || this.isRequested || this.#failures > 0) return;
    const left = this.#end - time;
    // What is left shrinks; the lead follows from the whole of it.
    this.#lead = Math.max(this.#lead, renewalLead(left, this.#share));
    this.renewAt = now + Math.max(0, left - this.#lead);
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
   * The provider is being asked on an open connection.
   *
   * @param {number} now
   */
  requested(now) {
    this.isRequested = true;
    this.renewAt = now + answerTimeout;
  }

  /**
   * The provider has failed, or has not answered in time.
   *
   * @param {number} now
   * @returns {number} for how many milliseconds it is left alone
   */
  failed(now) {
    const pause = backOff(this.#failures, this.#random(), 1000, 30_000);
    this.#failures += 1;
    this.isRequested = false;
    if (this.text !== undefined) this.renewAt = now + Math.max(1000, pause);
    return pause;
  }

  /** A login has succeeded. */
  accepted() {
    this.#wasRejected = false;
  }

  /**
   * The server has rejected the token, or it has ended.
   *
   * @returns {boolean} whether another one may be tried
   */
  rejected() {
    if (!this.#hasProvider || this.#wasRejected) return false;
    this.#wasRejected = true;
    this.text = undefined;
    return true;
  }
}
