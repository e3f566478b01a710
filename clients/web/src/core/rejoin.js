// SPDX-License-Identifier: Apache-2.0

/**
 * How long after its first sending a join is repeated, in milliseconds; the server recognises a repeated call for a
 * minute.
 */
const limit = 30_000;

/**
 * The repeat of a join whose connection was lost after the reply and before the first frame of the feed (R5.19).
 *
 * The server sends messages from before the join only after a join on a connection that is in no live. So the client
 * does not resume, but repeats the join with its id: the server then gives the reply that it has given before, and sends
 * the history.
 */
export class Rejoin {
  /**
   * The last join that has succeeded.
   *
   * @type {import('./call-queue.js').UnfinishedCall | undefined}
   */
  #join;
  /** Whether this join is among the unfinished calls again. */
  isRepeating = false;
  /** Whether the client reconnects after the reply to the ping that it has sent, to resume where its first join began. */
  resumesAfterPing = false;

  /** @param {import('./call-queue.js').UnfinishedCall} call a join that has succeeded */
  joined(call) {
    this.#join = call;
  }

  /** @param {import('./call-queue.js').UnfinishedCall} call */
  isRepeat(call) {
    return this.isRepeating && call.handle === this.#join?.handle;
  }

  /**
   * The connection is another one, or the repeated join has ended.
   *
   * @param {import('./call-queue.js').CallQueue} calls
   */
  end(calls) {
    if (this.isRepeating && this.#join) calls.removeHandle(this.#join.handle);
    this.isRepeating = false;
    this.resumesAfterPing = false;
  }

  /**
   * Begins to repeat the join, if the first feed frame of its live has not arrived and the join is not too long ago.
   *
   * @param {import('./live-membership.js').LiveMembership} membership
   * @param {import('./call-queue.js').CallQueue} calls
   * @param {number} now
   * @param {number} deadline
   */
  begin(membership, calls, now, deadline) {
    this.end(calls);
    const join = this.#join;
    if (join === undefined || join.live !== membership.live || !membership.awaitsFirstFrame) return;
    if (now - (join.firstSent ?? -Infinity) >= limit) return;
    this.isRepeating = true;
    calls.addAgain(join, deadline);
  }

  /**
   * Whether the client must ping now: the history has begun to arrive, and its end shows in that the ping's reply comes
   * after it.
   *
   * @param {import('./live-membership.js').LiveMembership} membership
   */
  mustPing({ firstFrame }) {
    if (firstFrame !== 'received' || this.resumesAfterPing) return false;
    this.resumesAfterPing = true;
    return true;
  }
}
