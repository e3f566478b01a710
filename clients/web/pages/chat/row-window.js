// SPDX-License-Identifier: Apache-2.0

/**
 * Which rows of a long list are in view, for rows of different heights.
 *
 * Keeps the last `capacity` rows. A row has an estimated height until it was measured once. Pure: heights and scroll
 * positions are passed in, in pixels.
 */
export class RowWindow {
  #rows = [];
  #total = 0;

  constructor({ capacity = 1000, estimate = 28 } = {}) {
    this.capacity = capacity;
    this.estimate = estimate;
  }

  /** The height of all rows. */
  get total() {
    return this.#total;
  }

  get rows() {
    return this.#rows;
  }

  /**
   * Adds rows at the end.
   *
   * @param {object[]} values
   * @returns {number} the height of the rows that fell out at the beginning
   */
  add(values) {
    for (const value of values) this.#rows.push({ value, height: this.estimate, isMeasured: false });
    this.#total += values.length * this.estimate;
    const over = Math.max(0, this.#rows.length - this.capacity);
    let removed = 0;
    for (const row of this.#rows.splice(0, over)) removed += row.height;
    this.#total -= removed;
    return removed;
  }

  /** Notes a row's height, and returns by how much it differs from what was assumed. */
  measured(row, height) {
    const change = height - row.height;
    row.height = height;
    row.isMeasured = true;
    this.#total += change;
    return change;
  }

  /** Forgets the heights, for a new width. The old ones remain as estimates. */
  forgetHeights() {
    for (const row of this.#rows) row.isMeasured = false;
  }

  clear() {
    this.#rows.length = 0;
    this.#total = 0;
  }

  /**
   * The rows in view.
   *
   * @returns {{ first: number, end: number, top: number }} from `first` to before `end`; the first one's top is `top`
   */
  range(scrollTop, viewHeight, overscan = 200) {
    const from = scrollTop - overscan;
    const to = scrollTop + viewHeight + overscan;
    let first = 0;
    let top = 0;
    while (first < this.#rows.length && top + this.#rows[first].height < from) top += this.#rows[first++].height;
    let end = first;
    let bottom = top;
    while (end < this.#rows.length && bottom < to) bottom += this.#rows[end++].height;
    return { first, end, top };
  }
}
