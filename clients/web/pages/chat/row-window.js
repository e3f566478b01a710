// SPDX-License-Identifier: Apache-2.0

/**
 * Calculates which rows of a long list are in view. Rows may have different heights.
 *
 * The list keeps the last `capacity` rows. The height of a row is estimated until it is measured. The class is pure:
 * the caller passes heights and scroll positions, in pixels.
 */
export class RowWindow {
  #rows = [];
  #total = 0;

  constructor({ capacity = 1000, estimate = 28 } = {}) {
    this.capacity = capacity;
    this.estimate = estimate;
  }

  /** The total height of all rows. */
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
   * @returns {number} the height of the rows that were removed at the beginning
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

  /** Stores the measured height of a row, and returns the difference from the previous value. */
  measured(row, height) {
    const change = height - row.height;
    row.height = height;
    row.isMeasured = true;
    this.#total += change;
    return change;
  }

  /** Marks all heights as estimates, because the width has changed. */
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
   * @returns {{ first: number, end: number, top: number }} the indices from `first` up to, but not including, `end`; `top`
   *   is the position of the first row
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
