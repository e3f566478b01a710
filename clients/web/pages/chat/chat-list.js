// SPDX-License-Identifier: Apache-2.0
import { fill, h } from '../lib/dom.js';
import { onLanguage, t } from '../lib/i18n.js';
import { chatRow } from './chat-row.js';
import { RowWindow } from './row-window.js';

/** How near to the end, in pixels, counts as following it. */
const nearEnd = 40;
/** The pause between two drawings of new rows, in milliseconds: each costs a layout, and nobody reads faster. */
const pause = 200;
/** The pause between two announcements to a screen reader, in milliseconds: each is to be read to its end. */
const announcePause = 2500;

/**
 * The list of messages: up to 1,000 rows, of which those in view are elements.
 *
 * Messages that arrive between two drawings are shown together: one frame reads the heights of the new rows once, after
 * all of them are written.
 */
export class ChatList {
  #rows = new RowWindow();
  #incoming = [];
  #shown = new Map();
  #frame = 0;
  #timer = 0;
  #drawnAt = -Infinity;
  #isFollowing = true;
  #unseen = 0;
  #viewHeight = 0;
  /** Where the last drawing has scrolled to. */
  #drawnTop = 0;
  #unsaid = [];
  #announceTimer = 0;
  #endLanguage;

  /** @param {(user: object) => void} [onUser] hears which sender was chosen */
  constructor(onUser) {
    this.onUser = onUser;
    this.list = h('div', { class: 'chat-rows', role: 'presentation' });
    // The end of the list is an element that is moved there, and no parent grows with the list: a transform reaches as
    // far as a height does, but a change of height lays out every row again (6 ms instead of 0.5).
    this.end = h('div', { class: 'chat-end', 'aria-hidden': 'true' });
    // A log is read aloud politely as it grows. Rows that scrolling brings back are not new: aria-live is on the log of
    // announcements below, not here.
    this.view = h('div', { class: 'chat-view', tabindex: '0', role: 'log', 'aria-live': 'off', label: 'chat.title' }, this.list, this.end);
    this.announcer = h('div', { class: 'only-read', 'aria-live': 'polite', 'aria-atomic': 'false' });
    this.more = h('button', { class: 'button tight primary chat-new', type: 'button', hidden: true, on: { click: () => this.follow() } });
    this.element = h('div', { class: 'chat' }, this.view, this.announcer, this.more);
    this.view.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    this.observer = new ResizeObserver(([entry]) => this.#resized(entry.contentRect.height));
    this.observer.observe(this.view);
    this.#endLanguage = onLanguage(() => {
      this.#recycle();
      this.#wake();
    });
  }

  /** What the list has, also what is not in view. */
  get messages() {
    return this.#rows.rows.map(({ value }) => value);
  }

  /** @param {...object} messages as `chatRow` takes them */
  add(...messages) {
    this.#incoming.push(...messages);
    // More than a whole list at once: the oldest would fall out again.
    if (this.#incoming.length > this.#rows.capacity) this.#incoming.splice(0, this.#incoming.length - this.#rows.capacity);
    this.#wakeSoon();
  }

  clear() {
    this.#rows.clear();
    this.#incoming.length = 0;
    this.#recycle();
    this.#wake();
  }

  follow() {
    this.#isFollowing = true;
    this.#unseen = 0;
    this.#wake();
  }

  dispose() {
    this.observer.disconnect();
    this.#endLanguage();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    clearTimeout(this.#announceTimer);
  }

  /**
   * Whether the list has no place on the page, as while another tab is shown. Then every height and place in it is 0:
   * rows are only kept, and drawn when its new height is known. That is told after the frame's drawing, so both are
   * asked.
   */
  get #isHidden() {
    return this.#viewHeight === 0 || this.view.clientHeight === 0;
  }

  #resized(height) {
    const wasHidden = this.#viewHeight === 0;
    this.#viewHeight = height;
    if (height === 0) return;
    this.#rows.forgetHeights();
    this.#recycle();
    if (wasHidden) {
      // Not every browser keeps the place of what was hidden, and rows may have fallen out above it.
      this.#moveEnd();
      this.view.scrollTop = this.#drawnTop;
    }
    this.#wake();
  }

  /** Draws with the next frame, or once the pause since the last drawing is over. */
  #wakeSoon() {
    if (this.#frame || this.#timer) return;
    const wait = this.#drawnAt + pause - performance.now();
    if (wait <= 0) return this.#wake();
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#wake();
    }, wait);
  }

  #wake() {
    // A page in the background gets no frames; `add` keeps what waits from growing without limit.
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #scrolled() {
    if (this.#isHidden) return;
    const { scrollTop } = this.view;
    // The browser reports the scrolling of the last drawing too, whose rows are there already.
    if (Math.abs(scrollTop - this.#drawnTop) <= 1) return;
    this.#drawnTop = scrollTop;
    const atEnd = this.#rows.total - scrollTop - this.#viewHeight < nearEnd;
    this.#isFollowing = atEnd;
    if (atEnd) this.#unseen = 0;
    this.#wake();
  }

  #draw() {
    this.#frame = 0;
    this.#drawnAt = performance.now();
    const added = this.#incoming.splice(0);
    const removed = this.#rows.add(added);
    if (!this.#isFollowing) this.#unseen += added.filter((message) => message.kind === 'text' || message.kind === 'gift').length;
    if (this.#isHidden) {
      this.#drawnTop = Math.max(0, this.#drawnTop - removed);
      return;
    }
    this.#announce(added);
    let scrollTop = this.#isFollowing ? Math.max(0, this.#rows.total - this.#viewHeight) : Math.max(0, this.view.scrollTop - removed);
    scrollTop += this.#render(scrollTop);
    if (this.#isFollowing) {
      // Measuring may have moved the end.
      scrollTop = Math.max(0, this.#rows.total - this.#viewHeight);
      this.#render(scrollTop);
      scrollTop = Math.max(0, this.#rows.total - this.#viewHeight);
    }
    this.#drawnTop = scrollTop;
    if (Math.abs(this.view.scrollTop - scrollTop) > 0.5) this.view.scrollTop = scrollTop;
    this.more.hidden = this.#unseen === 0;
    if (this.#unseen > 0) this.more.textContent = t('chat.new', { count: this.#unseen });
  }

  /** Shows the rows in view, and returns by how much rows above the first visible one have grown. */
  #render(scrollTop) {
    const { first, end, top } = this.#rows.range(scrollTop, this.#viewHeight);
    const visible = this.#rows.rows.slice(first, end);
    const wanted = new Set(visible);
    for (const [row, element] of this.#shown) {
      if (wanted.has(row)) continue;
      element.remove();
      this.#shown.delete(row);
    }
    const fresh = [];
    for (const row of visible) {
      if (!this.#shown.has(row)) {
        const element = chatRow(row.value, this.onUser);
        this.#shown.set(row, element);
        this.list.append(element);
      }
      if (!row.isMeasured) fresh.push(row);
    }
    let grownAbove = 0;
    let y = top;
    const heights = fresh.map((row) => this.#shown.get(row).offsetHeight);
    const heightOf = new Map(fresh.map((row, index) => [row, heights[index]]));
    for (const row of visible) {
      if (heightOf.get(row) > 0) {
        const change = this.#rows.measured(row, heightOf.get(row));
        if (y + row.height <= scrollTop) grownAbove += change;
      }
      this.#shown.get(row).style.transform = `translateY(${y}px)`;
      y += row.height;
    }
    this.#moveEnd();
    return this.#isFollowing ? 0 : grownAbove;
  }

  /** Makes the list as long as all its rows are high. The end is a pixel high itself. */
  #moveEnd() {
    this.end.style.transform = `translateY(${this.#rows.total - 1}px)`;
  }

  #recycle() {
    this.#shown.clear();
    fill(this.list);
  }

  /** Reads out the last two messages, and then pauses: more than that nobody can follow. */
  #announce(messages) {
    const spoken = messages.filter((message) => message.kind === 'text' || message.kind === 'gift' || message.kind === 'note');
    this.#unsaid = [...this.#unsaid, ...spoken].slice(-2);
    if (!this.#announceTimer) this.#say();
  }

  #say() {
    this.#announceTimer = 0;
    if (this.#unsaid.length === 0) return;
    for (const message of this.#unsaid.splice(0)) this.announcer.append(h('p', {}, chatRow(message).textContent));
    while (this.announcer.childElementCount > 6) this.announcer.firstElementChild.remove();
    this.#announceTimer = setTimeout(() => this.#say(), announcePause);
  }
}
