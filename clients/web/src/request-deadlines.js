// SPDX-License-Identifier: Apache-2.0
import { isListed, listedRequests } from './core/listed-requests.js';
import { snapshotOf } from './core/requests.js';

/** How long the notice of an end may take, in milliseconds. */
const noticeDelay = 5000;

/**
 * Tells when the open requests must be read again, because a request that a list still shows must have ended (R1.26).
 *
 * Usually a notice reports the end. The server sends none to the other devices of the user who has answered or withdrawn
 * a request.
 */
export class RequestDeadlines {
  #clock;
  #read;
  /**
   * Until when requests are open at most, and the notices of their ends take; by name.
   *
   * @type {Map<string, number>}
   */
  #deadlines = new Map();
  /** @type {unknown} the timer of the earliest of these times */
  #timer;

  /**
   * @param {import('./connection/clock.js').Clock} clock
   * @param {(names: string[]) => void} read gets the requests that must have ended
   */
  constructor(clock, read) {
    this.#clock = clock;
    this.#read = read;
  }

  /**
   * Remembers until when the requests are open that an input tells of.
   *
   * @param {import('./core/live-fold.js').Input} input
   * @param {string} selfID
   */
  remember(input, selfID) {
    const requests = listedRequests(input, selfID);
    if (input.type.startsWith('snapshot.')) {
      const snapshot = input.type.slice('snapshot.'.length);
      for (const name of this.#deadlines.keys()) if (snapshotOf(name) === snapshot) this.#deadlines.delete(name);
    } else if (requests.length === 0) return;
    for (const { name, remainingTime } of requests) {
      // Without this condition a request that the server lists after its end would be read again and again.
      if (remainingTime !== undefined && remainingTime > 0) this.#deadlines.set(name, this.#clock.now() + remainingTime + noticeDelay);
    }
    this.#schedule();
  }

  /** Forgets all requests: the live is left. */
  stop() {
    this.#deadlines.clear();
    this.#clock.clearTimeout(this.#timer);
  }

  #schedule() {
    this.#clock.clearTimeout(this.#timer);
    if (this.#deadlines.size === 0) return;
    const due = Math.min(...this.#deadlines.values());
    this.#timer = this.#clock.setTimeout(() => this.#check(), Math.max(0, due - this.#clock.now()));
  }

  #check() {
    const now = this.#clock.now();
    const ended = [...this.#deadlines].filter(([, end]) => end <= now).map(([name]) => name);
    // Each request leads to one read at most.
    for (const name of ended) this.#deadlines.delete(name);
    this.#read(ended);
    this.#schedule();
  }
}

/**
 * The snapshots that have requests which a list shows.
 *
 * @param {import('./core/live-fold.js').LiveStates} states
 * @param {string[]} names
 * @returns {Set<string>}
 */
export function snapshotsOfListed(states, names) {
  return new Set(names.filter((name) => isListed(states, name)).map(snapshotOf));
}
