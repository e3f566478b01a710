// SPDX-License-Identifier: Apache-2.0

/** Widths are rounded up to a multiple of this, so that a canvas fits a later text of about the same length. */
const step = 64;

/**
 * A pool of canvases. A text is drawn into a canvas once, and the canvas is reused for a later text.
 *
 * All canvases of a pool have the same height. The pool keeps at most `limit` unused canvases and drops others.
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

  /** The number of unused canvases. */
  get idle() {
    return this.#kept;
  }

  /** Returns a canvas of at least this width, in device pixels. Its content is undefined. */
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

  /** Returns a canvas to the pool. */
  give(canvas) {
    if (this.#kept >= this.limit) return;
    const bucket = canvas.width / step;
    const list = this.#free.get(bucket) ?? [];
    this.#free.set(bucket, list);
    list.push(canvas);
    this.#kept += 1;
  }
}
