// SPDX-License-Identifier: Apache-2.0
import { BitmapPool } from './bitmap-pool.js';
import { LaneScheduler } from './lanes.js';

const laneHeight = 34;
const fontSize = 18;
/** The maximum number of characters of a text: a very long message would cross too fast to be read. */
const maxSigns = 60;

/**
 * Draws the messages that cross the stage.
 *
 * Each text is drawn once, into a bitmap of a pool; each frame only copies bitmaps. The page is measured only when its
 * size changes. While there is nothing to draw, no frame is requested.
 */
export class BarrageRenderer {
  #canvas;
  #context;
  #scheduler;
  #pool = new BitmapPool((width, height) => {
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    return canvas;
  });
  #measure = document.createElement('canvas').getContext('2d');
  #frame = 0;
  #ratio = 1;
  #observer;
  #isShown = true;
  #font;
  /** For measurements: the number of drawn frames, and the longest drawing time of a frame since it was last read. */
  statistics = { frames: 0, slowest: 0, shown: 0 };

  /** @param {HTMLCanvasElement} canvas covers the part of the stage that messages cross */
  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d');
    this.#font = `600 ${fontSize}px ${getComputedStyle(document.body).fontFamily}`;
    this.#scheduler = new LaneScheduler({ lanes: 1, width: 1 });
    this.#observer = new ResizeObserver((entries) => this.#resize(entries[0].contentRect));
    this.#observer.observe(canvas);
  }

  get dropped() {
    return this.#scheduler.dropped;
  }

  /** The number of gifts that wait for a lane. */
  get waitingGifts() {
    return this.#scheduler.waitingGifts;
  }

  /** Shows or hides messages. */
  set isShown(value) {
    this.#isShown = value;
    if (!value) this.clear();
  }

  get isShown() {
    return this.#isShown;
  }

  /**
   * Queues a message for a lane.
   *
   * @param {string} text
   * @param {{ isGift?: boolean, isOwn?: boolean }} [kind]
   */
  show(text, { isGift = false, isOwn = false } = {}) {
    // A page in the background draws nothing, and would show old messages when it returns. The chat has all of them.
    if (!this.#isShown || document.hidden) return;
    const signs = [...text.replace(/\s+/g, ' ')];
    const short = signs.length > maxSigns ? `${signs.slice(0, maxSigns).join('')}…` : signs.join('');
    this.#measure.font = this.#font;
    const width = Math.ceil(this.#measure.measureText(short).width) + (isGift || isOwn ? 28 : 8);
    this.#scheduler.offer({ text: short, width, isGift, isOwn }, performance.now());
    this.#wake();
  }

  clear() {
    for (const item of this.#scheduler.clear()) this.#release(item);
    this.#context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
  }

  dispose() {
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
    this.clear();
  }

  #resize({ width, height }) {
    if (width < 1 || height < 1) return;
    this.#ratio = Math.min(2, devicePixelRatio || 1);
    this.#canvas.width = Math.round(width * this.#ratio);
    this.#canvas.height = Math.round(height * this.#ratio);
    this.#scheduler.resize({ lanes: Math.max(1, Math.floor(height / laneHeight)), width });
    this.#wake();
  }

  #wake() {
    this.#frame ||= requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now) {
    this.#frame = 0;
    const begun = performance.now();
    for (const { item } of this.#scheduler.expire(now)) this.#release(item);
    for (const { item } of this.#scheduler.advance(now)) item.bitmap = this.#bitmap(item);
    const context = this.#context;
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    for (const { item, lane, startedAt, startX, speed } of this.#scheduler.onScreen) {
      const x = startX - Math.max(0, now - startedAt) * speed;
      context.drawImage(item.bitmap, Math.round(x * this.#ratio), Math.round(lane * laneHeight * this.#ratio));
    }
    this.statistics.frames += 1;
    this.statistics.shown = this.#scheduler.onScreen.length;
    this.statistics.slowest = Math.max(this.statistics.slowest, performance.now() - begun);
    if (this.#scheduler.onScreen.length > 0 || this.#scheduler.waiting > 0) this.#wake();
  }

  #release(item) {
    if (item.bitmap) this.#pool.give(item.bitmap);
    item.bitmap = undefined;
  }

  #bitmap(item) {
    const height = Math.ceil(laneHeight * this.#ratio);
    const bitmap = this.#pool.take(Math.ceil(item.width * this.#ratio), height);
    const context = bitmap.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, bitmap.width, bitmap.height);
    context.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    context.font = this.#font;
    context.textBaseline = 'middle';
    const middle = laneHeight / 2;
    if (item.isGift || item.isOwn) {
      context.fillStyle = item.isGift ? 'rgba(190, 24, 93, 0.85)' : 'rgba(0, 0, 0, 0.35)';
      context.beginPath();
      context.roundRect(1, 3, item.width - 2, laneHeight - 6, 14);
      context.fill();
    }
    if (item.isOwn) {
      context.strokeStyle = 'rgba(255, 255, 255, 0.8)';
      context.lineWidth = 1.5;
      context.stroke();
    }
    const left = item.isGift || item.isOwn ? 14 : 4;
    context.lineJoin = 'round';
    context.lineWidth = 3;
    context.strokeStyle = 'rgba(0, 0, 0, 0.55)';
    if (!item.isGift) context.strokeText(item.text, left, middle);
    context.fillStyle = '#fff';
    context.fillText(item.text, left, middle);
    return bitmap;
  }
}
