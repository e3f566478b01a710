// SPDX-License-Identifier: Apache-2.0

/**
 * Follows the numbers of the feed items that a client receives in one live, and finds repeats and gaps.
 */
export class FeedTracker {
  constructor() {
    /** @type {{ epoch: number, number: number } | undefined} */
    this.position = undefined;
    /**
     * The token of the last frame, for a resume.
     *
     * @type {string | undefined}
     */
    this.token = undefined;
    /** How many items were left out. */
    this.missing = 0;
  }

  /**
   * Continues at the position at which the server resumes the feed, without a replay.
   *
   * @param {{ epoch: number, number: number }} position
   */
  resume(position) {
    const known = this.position;
    // A position before the last item is possible: another gateway may have read less than the former one has sent.
    if (known !== undefined && known.epoch === position.epoch && position.number <= known.number) return;
    if (known !== undefined && known.epoch === position.epoch) this.missing += position.number - known.number;
    this.position = position;
    this.token = `${position.epoch}.${position.number}`;
  }

  /**
   * Records a frame.
   *
   * @param {import('./frames.js').FeedFrame} frame
   * @returns {{ items: import('./frames.js').FeedItem[], hasGap: boolean }} the items that are new, and whether items
   *   before them were left out
   */
  record(frame) {
    const known = this.position;
    const isEarlierLive = known !== undefined && frame.epoch < known.epoch;
    if (isEarlierLive) return { items: [], hasGap: false };
    if (known === undefined || frame.epoch > known.epoch) {
      this.#accept(frame);
      return { items: frame.items, hasGap: false };
    }
    if (frame.number < known.number) return { items: [], hasGap: false };
    // A history brings earlier messages; like a frame without items, it tells where the feed stands besides.
    const first = frame.isHistory || frame.items.length === 0 ? frame.number + 1 : frame.items[0].n;
    const left = first - known.number - 1;
    if (left > 0) this.missing += left;
    this.#accept(frame);
    const items = frame.isHistory ? frame.items : frame.items.filter((item) => item.n > known.number);
    return { items, hasGap: left > 0 };
  }

  /** @param {import('./frames.js').FeedFrame} frame */
  #accept(frame) {
    this.position = { epoch: frame.epoch, number: frame.number };
    this.token = frame.token;
  }
}
