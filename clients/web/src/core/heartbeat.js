// SPDX-License-Identifier: Apache-2.0

/**
 * When to send a ping, and when a connection is taken as lost. A browser shows a page neither the server's pings nor
 * its own answers, so the client sends a call: after a silence of either side.
 */
export class Heartbeat {
  #interval;
  #answerTimeout;
  #lastSent = 0;
  #lastReceived = 0;
  /** When the ping was sent that nothing came after. */
  #pingSent = Infinity;

  /**
   * @param {number} interval after how long a silence a ping is sent, in milliseconds
   * @param {number} answerTimeout how long anything may take to come after it
   */
  constructor(interval, answerTimeout) {
    this.#interval = interval;
    this.#answerTimeout = answerTimeout;
  }

  get isWaiting() {
    return this.#pingSent !== Infinity;
  }

  /** @param {number} now */
  start(now) {
    this.#lastSent = this.#lastReceived = now;
    this.#pingSent = Infinity;
  }

  /** @param {number} now */
  sent(now) {
    this.#lastSent = now;
  }

  /** @param {number} now */
  received(now) {
    this.#lastReceived = now;
    this.#pingSent = Infinity;
  }

  /** @param {number} now */
  pinged(now) {
    this.#pingSent = now;
  }

  /** When a ping is due; infinite while one is not answered. */
  pingAt() {
    return this.isWaiting ? Infinity : Math.min(this.#lastSent, this.#lastReceived) + this.#interval;
  }

  /** When the connection is taken as lost. */
  lostAt() {
    return this.#pingSent + this.#answerTimeout;
  }
}
