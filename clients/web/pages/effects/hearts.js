// SPDX-License-Identifier: Apache-2.0
import { motion } from '../lib/theme.js';

const colours = ['#ff6b98', '#ffb35c', '#ff5252', '#c77dff', '#4dd0e1'];
const lasts = 2200;
const most = 40;

/** Draws rising hearts on a canvas. If the user prefers reduced motion, it draws none; only the number changes. */
export class Hearts {
  #canvas;
  #context;
  #hearts = [];
  #frame = 0;
  #observer;
  #shape = new Path2D('M0 7S-9 1-9-5A4.6 4.6 0 010-7a4.6 4.6 0 019 2C9 1 0 7 0 7z');

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d');
    this.#observer = new ResizeObserver(([{ contentRect }]) => {
      const ratio = Math.min(2, devicePixelRatio || 1);
      canvas.width = contentRect.width * ratio;
      canvas.height = contentRect.height * ratio;
      this.#context.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.width = contentRect.width;
      this.height = contentRect.height;
    });
    this.#observer.observe(canvas);
  }

  /** Starts hearts, at most five for each call. */
  add(count = 1) {
    if (motion.matches || document.hidden) return;
    const now = performance.now();
    for (let index = 0; index < Math.min(5, count) && this.#hearts.length < most; index += 1) {
      this.#hearts.push({
        from: now + index * 120, colour: colours[Math.floor(Math.random() * colours.length)],
        sway: Math.random() * 6.28, drift: (Math.random() - 0.5) * 50, size: 0.9 + Math.random() * 0.7,
      });
    }
    this.#frame ||= requestAnimationFrame((time) => this.#draw(time));
  }

  dispose() {
    this.#observer.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  #draw(now) {
    this.#frame = 0;
    const context = this.#context;
    context.clearRect(0, 0, this.width, this.height);
    this.#hearts = this.#hearts.filter(({ from }) => now - from < lasts);
    for (const heart of this.#hearts) {
      const part = (now - heart.from) / lasts;
      if (part < 0) continue;
      context.save();
      context.globalAlpha = Math.min(1, (1 - part) * 1.6);
      context.translate(this.width * 0.66 + heart.drift * part + Math.sin(heart.sway + part * 7) * 10, this.height - 14 - part * (this.height - 30));
      const scale = heart.size * Math.min(1, part * 8);
      context.scale(scale, scale);
      context.fillStyle = heart.colour;
      context.fill(this.#shape);
      context.restore();
    }
    if (this.#hearts.length > 0) this.#frame = requestAnimationFrame((time) => this.#draw(time));
  }
}
