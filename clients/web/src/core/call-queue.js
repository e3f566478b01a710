// SPDX-License-Identifier: Apache-2.0
import { backOff } from './back-off.js';
import { callFrame } from './frames.js';
import { isRetriable } from './reply-policy.js';

/** How many calls the server answers at once for a session. */
const maxOpen = 16;
/** How many calls are sent in any second. The server closes a connection that sends 200 frames in one. */
const maxRate = 100;
/** How many timed-out calls are kept. */
const maxTimedOut = 16;
/** How often a call is repeated because the server was busy. */
const maxRepeats = 3;

/**
 * @typedef {object} UnfinishedCall
 * @property {number} handle by which the client knows the call
 * @property {number | undefined} id by which the server knows it, from its first sending on
 * @property {string} method
 * @property {string} params a JSON object
 * @property {string | undefined} live the live that the call is about
 * @property {number} deadline when it fails, in milliseconds of the core's clock
 * @property {number | undefined} firstSent when it was first sent; a later copy states its age
 * @property {boolean} isSent whether it waits for its reply on the present connection
 * @property {number} notBefore a rejected call is not repeated before this time
 * @property {boolean} isJoining whether it makes the caller join the live; the calls behind it wait
 * @property {number} repeats how often it was repeated because the server was busy
 */

/**
 * The calls without an outcome, in the order in which they were made. A call that was sent keeps its id, so that the
 * server applies it at most once.
 */
export class CallQueue {
  /**
   * By handle.
   *
   * @type {Map<number, UnfinishedCall>}
   */
  #calls = new Map();
  /**
   * Those that were sent, by id.
   *
   * @type {Map<number, UnfinishedCall>}
   */
  #sent = new Map();
  /**
   * The last joins, leaves and ends of lives that have timed out on the present connection, where their replies may
   * still come; by id.
   *
   * @type {Map<number, UnfinishedCall>}
   */
  #timedOut = new Map();
  #random;
  /**
   * When the last calls were sent, at most `maxRate` of them.
   *
   * @type {number[]}
   */
  #sendTimes = [];

  /** @param {() => number} random gives numbers from 0 to below 1 */
  constructor(random) {
    this.#random = random;
  }

  get size() {
    return this.#calls.size;
  }

  /**
   * @param {number} handle
   * @param {string} method
   * @param {string} params a JSON object
   * @param {string | undefined} live
   * @param {number} deadline
   * @param {boolean} isJoining
   */
  add(handle, method, params, live, deadline, isJoining) {
    const call = {
      handle, id: undefined, method, params, live, deadline, isJoining,
      firstSent: undefined, isSent: false, notBefore: 0, repeats: 0,
    };
    this.#calls.set(handle, call);
  }

  /**
   * Adds a call once more after its reply, before all others.
   *
   * @param {UnfinishedCall} call
   * @param {number} deadline
   */
  addAgain(call, deadline) {
    const again = { ...call, deadline, isSent: false, notBefore: 0, repeats: 0 };
    this.#calls = new Map([[call.handle, again], ...this.#calls]);
  }

  /**
   * Removes the call with a handle, if there is one.
   *
   * @param {number} handle
   */
  removeHandle(handle) {
    const call = this.#calls.get(handle);
    if (call !== undefined) this.remove(call);
  }

  /**
   * The call that a reply with this id answers.
   *
   * @param {number} id
   * @returns {UnfinishedCall | undefined}
   */
  get(id) {
    return this.#sent.get(id);
  }

  /** @param {UnfinishedCall} call */
  remove(call) {
    this.#calls.delete(call.handle);
    if (call.id !== undefined) this.#sent.delete(call.id);
  }

  /**
   * Whether an unfinished call about a live matches.
   *
   * @param {string} live
   * @param {(call: UnfinishedCall) => boolean} isMatch
   */
  contains(live, isMatch) {
    for (const call of this.#calls.values()) if (call.live === live && isMatch(call)) return true;
    return false;
  }

  /**
   * Takes the timed-out call that a reply with this id answers.
   *
   * @param {number} id
   * @returns {UnfinishedCall | undefined}
   */
  takeTimedOut(id) {
    const call = this.#timedOut.get(id);
    this.#timedOut.delete(id);
    return call;
  }

  /** The join that was sent and has no reply yet; there is at most one, because calls behind a join wait. */
  sentJoin() {
    for (const call of this.#calls.values()) if (call.isJoining && call.isSent) return call;
    return undefined;
  }

  /** Marks all calls as not sent, because the connection is lost. */
  connectionLost() {
    this.#timedOut.clear();
    for (const call of this.#calls.values()) call.isSent = false;
  }

  /**
   * Puts a call off that the server was too busy for, to send it again with the same id.
   *
   * @param {UnfinishedCall} call
   * @param {import('./errors.js').PlazaError} error
   * @param {number} now
   * @returns {boolean} whether it is sent again
   */
  repeatsLater(call, error, now) {
    if (!isRetriable(error) || call.repeats >= maxRepeats) return false;
    const at = now + (error.retryAfter ?? 1000) + backOff(call.repeats, this.#random(), 200);
    if (at >= call.deadline) return false;
    call.isSent = false;
    call.repeats += 1;
    call.notBefore = at;
    return true;
  }

  /**
   * Takes the frames to send now, in the order of the calls. Calls behind an unanswered join wait: before its reply
   * the server would reject them with `notInRoom`. A call gets its id when it is first sent, because each new call of a
   * session, a login too, needs a higher one than those before.
   *
   * @param {number} now
   * @param {() => number} makeID
   * @returns {string[]}
   */
  takeFrames(now, makeID) {
    const frames = [];
    let open = this.#openCount();
    for (const call of this.#calls.values()) {
      if (open >= maxOpen || this.#freeAt() > now) break;
      if (!call.isSent && call.notBefore <= now) {
        const age = call.firstSent === undefined ? undefined : Math.max(0, Math.round(now - call.firstSent));
        call.firstSent ??= now;
        call.id ??= makeID();
        this.#sent.set(call.id, call);
        call.isSent = true;
        open += 1;
        this.#sendTimes = [...this.#sendTimes, now].slice(-maxRate);
        frames.push(callFrame(call.id, call.method, call.params, age));
      }
      if (call.isJoining) break;
    }
    return frames;
  }

  /**
   * Removes the calls whose deadline is over.
   *
   * @param {number} now
   * @returns {UnfinishedCall[]}
   */
  takeExpired(now) {
    const expired = [...this.#calls.values()].filter((call) => call.deadline <= now);
    for (const call of expired) {
      this.remove(call);
      const movesUser = call.isJoining || call.method === 'live.leave' || call.method === 'live.end';
      if (call.isSent && movesUser && call.id !== undefined) this.#timedOut.set(call.id, call);
    }
    for (const id of this.#timedOut.keys()) {
      if (this.#timedOut.size <= maxTimedOut) break;
      this.#timedOut.delete(id);
    }
    return expired;
  }

  /** @returns {UnfinishedCall[]} all calls, which are removed */
  takeAll() {
    const all = [...this.#calls.values()];
    this.#calls.clear();
    this.#sent.clear();
    return all;
  }

  /**
   * When the next call expires or, on an open connection, may be sent again.
   *
   * @param {boolean} isOpen
   * @returns {number} infinite if nothing is due
   */
  dueAt(isOpen) {
    let due = Infinity;
    let isBlocked = !isOpen || this.#openCount() >= maxOpen;
    for (const call of this.#calls.values()) {
      due = Math.min(due, call.deadline);
      if (!isBlocked && !call.isSent) due = Math.min(due, Math.max(call.notBefore, this.#freeAt()));
      if (call.isJoining) isBlocked = true;
    }
    return due;
  }

  /** When the next call may be sent without too many of them in a second. */
  #freeAt() {
    return this.#sendTimes.length < maxRate ? -Infinity : this.#sendTimes[0] + 1000;
  }

  #openCount() {
    let open = 0;
    for (const call of this.#calls.values()) if (call.isSent) open += 1;
    return open;
  }
}
