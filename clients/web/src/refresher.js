// SPDX-License-Identifier: Apache-2.0
import { backOff } from './core/back-off.js';
import { plazaError, ReplyCode } from './core/errors.js';
import { passes } from './core/reply-policy.js';

/** Over how many milliseconds reads are spread that many clients make for the same reason. */
const spread = 5000;
/** How often a read is tried again whose error does not pass by itself; others are tried until they succeed. */
const maxRetries = 5;

/**
 * Reads snapshots: each at most once at a time, again after a failure, and spread over time where all viewers of a live
 * would read at the same moment.
 */
export class Refresher {
  #clock;
  #random;
  #read;
  #isStarted = false;
  /** How often `stop` was called: reads of an earlier stay in a live are of no use any more. */
  #stay = 0;
  /** @type {Map<string, unknown>} */
  #timers = new Map();
  /** @type {Map<string, Promise<void>>} */
  #running = new Map();

  /**
   * @param {import('./connection/clock.js').Clock} clock
   * @param {() => number} random
   * @param {(name: string) => Promise<void>} read reads a snapshot
   */
  constructor(clock, random, read) {
    this.#clock = clock;
    this.#random = random;
    this.#read = read;
  }

  start() {
    this.#isStarted = true;
  }

  /** Forgets what is due. */
  stop() {
    this.#isStarted = false;
    this.#stay += 1;
    for (const timer of this.#timers.values()) this.#clock.clearTimeout(timer);
    this.#timers.clear();
    this.#running.clear();
  }

  /**
   * Reads a snapshot and waits for it. If it is being read already, it is read once more: the running read may show the
   * state before what the caller wants to see.
   *
   * @param {string} name
   * @returns {Promise<void>}
   * @throws {import('./core/errors.js').PlazaError} `notInRoom` if the live is left before the end
   */
  now(name) {
    const stay = this.#stay;
    const before = this.#running.get(name) ?? Promise.resolve();
    const read = before.catch(() => {}).then(async () => {
      if (stay === this.#stay) await this.#read(name);
      // A read does not end as well as it began if there is nothing any more to show it in.
      if (stay !== this.#stay) throw leftMeanwhile();
    });
    this.#running.set(name, read);
    const done = () => {
      if (this.#running.get(name) === read) this.#running.delete(name);
    };
    read.then(done, done);
    return read;
  }

  /**
   * Reads a snapshot at once, and again if that fails.
   *
   * @param {string} name
   */
  soon(name) {
    this.#attempt(name, 0);
  }

  /**
   * Reads a snapshot within the next five seconds, once however often this is called until then.
   *
   * @param {string} name
   */
  later(name) {
    this.#schedule(name, this.#random() * spread, 0);
  }

  /**
   * @param {string} name
   * @param {number} failures
   */
  #attempt(name, failures) {
    const stay = this.#stay;
    this.now(name).catch((error) => {
      const isWorthwhile = failures < maxRetries || (error && passes(error));
      if (stay === this.#stay && isWorthwhile && error?.code !== ReplyCode.unknownMethod) {
        const pause = backOff(failures, this.#random(), 1000, 30_000);
        this.#schedule(name, Math.max(pause, error?.retryAfter ?? 0), failures + 1);
      }
    });
  }

  /**
   * @param {string} name
   * @param {number} delay
   * @param {number} failures
   */
  #schedule(name, delay, failures) {
    if (!this.#isStarted || this.#timers.has(name)) return;
    this.#timers.set(name, this.#clock.setTimeout(() => {
      this.#timers.delete(name);
      this.#attempt(name, failures);
    }, delay));
  }
}

/** The error of what is about a live that was left before its end. */
export function leftMeanwhile() {
  return plazaError('notInRoom', 'the live was left meanwhile');
}
