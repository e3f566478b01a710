// SPDX-License-Identifier: Apache-2.0

/**
 * @typedef {object} UnfinishedCall
 * @property {number} id
 * @property {string} method
 * @property {object} params
 * @property {string | undefined} live the live that the call is about
 * @property {number} deadline when it fails, in milliseconds of the core's clock
 * @property {number | undefined} firstSent when it was first sent; a later copy states its age
 * @property {boolean} isSent whether it waits for its reply on the present connection
 * @property {number} notBefore a rejected call is not repeated before this time
 * @property {number} repeats how often it was repeated because the server was busy
 */

/**
 * The calls without an outcome, in the order in which they were made. A call keeps its id for as long as it is here, so
 * that the server applies it at most once.
 */
export class CallQueue {
  /** @type {Map<number, UnfinishedCall>} */
  #calls = new Map();
  #maxOpen;

  /** @param {number} maxOpen how many calls may wait for their replies at once; the server allows a session 16 */
  constructor(maxOpen) {
    this.#maxOpen = maxOpen;
  }

  get size() {
    return this.#calls.size;
  }

  /** @param {UnfinishedCall} call */
  add(call) {
    this.#calls.set(call.id, call);
  }

  /**
   * @param {number} id
   * @returns {UnfinishedCall | undefined}
   */
  get(id) {
    return this.#calls.get(id);
  }

  /** @param {number} id */
  remove(id) {
    this.#calls.delete(id);
  }

  /**
   * The first unfinished call of a method.
   *
   * @param {string} method
   * @param {string} live
   * @returns {UnfinishedCall | undefined}
   */
  find(method, live) {
    for (const call of this.#calls.values()) if (call.method === method && call.live === live) return call;
    return undefined;
  }

  /** Marks all calls as not sent, because the connection is lost. */
  connectionLost() {
    for (const call of this.#calls.values()) call.isSent = false;
  }

  /**
   * Takes the calls to send now, in order, and marks them as sent. Calls behind an unanswered `live.join` wait: before
   * its reply the server would refuse them with `notInRoom`.
   *
   * @param {number} now
   * @returns {UnfinishedCall[]}
   */
  takeSendable(now) {
    const sendable = [];
    let open = 0;
    for (const call of this.#calls.values()) if (call.isSent) open += 1;
    for (const call of this.#calls.values()) {
      if (open >= this.#maxOpen) break;
      if (!call.isSent && call.notBefore <= now) {
        call.isSent = true;
        open += 1;
        sendable.push(call);
      }
      if (call.method === 'live.join') break;
    }
    return sendable;
  }

  /**
   * Removes the calls whose deadline is over.
   *
   * @param {number} now
   * @returns {UnfinishedCall[]}
   */
  takeExpired(now) {
    const expired = [...this.#calls.values()].filter((call) => call.deadline <= now);
    for (const call of expired) this.#calls.delete(call.id);
    return expired;
  }

  /** @returns {UnfinishedCall[]} all calls, which are removed */
  takeAll() {
    const all = [...this.#calls.values()];
    this.#calls.clear();
    return all;
  }

  /**
   * When the next call expires or may be repeated.
   *
   * @returns {number} infinite if nothing is due
   */
  dueAt() {
    let due = Infinity;
    for (const call of this.#calls.values()) {
      due = Math.min(due, call.deadline);
      if (!call.isSent && call.repeats > 0) due = Math.min(due, call.notBefore);
    }
    return due;
  }
}
