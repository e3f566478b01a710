// SPDX-License-Identifier: Apache-2.0

/** Widths are rounded up to this, so that a canvas fits the next text of about the same length. */
const step = 64;

/**
 * Canvases that texts are drawn into once, and that are used again for later texts.
 *
 * A pool has one height. It keeps at most `limit` canvases that are not in use; more are given to the collector.
 */
export class BitmapPool {
  #free = new Map();
  #kept = 0;

  /**
   * @param {(width: number, height: number) => HTMLCanvasElement | OffscreenCanvas} make
   * @param {number} limit
   */
  constructor(make, limit = 160) {
    this.make = make;
    this.limit = limit;
  }

  /** How many canvases wait for a text. */
  get idle() {
    return this.#kept;
  }

  /** A canvas of at least this width, in device pixels. What it shows is undefined. */
  take(width, height) {
    const bucket = Math.max(1, Math.ceil(width / step));
    const list = this.#free.get(bucket);
    const canvas = list?.pop();
    if (canvas) {
      this.#kept -= 1;
      if (canvas.height === height) return canvas;
    }
    return this.make(bucket * step, height);
  }

  /** Gives a canvas back. */
  give(canvas) {
    if (this.#kept >= this.limit) return;
    const bucket = canvas.width / step;
    const list = this.#free.get(bucket) ?? [];
    this.#free.set(bucket, list);
    list.push(canvas);
    this.#kept += 1;
  }
}
