// SPDX-License-Identifier: Apache-2.0
import { fill, h } from '../lib/dom.js';
import { onLanguage, t } from '../lib/i18n.js';
import { chatRow } from './chat-row.js';
import { RowWindow } from './row-window.js';

/** The distance from the end, in pixels, within which the list counts as following the newest message. */
const nearEnd = 40;
/** The pause between two drawings of new rows, in milliseconds. Each costs a layout, and nobody reads faster. */
const pause = 200;
/** The pause between two announcements to a screen reader, in milliseconds, so that it can finish reading each. */
const announcePause = 2500;

/**
 * The list of messages: up to 1,000 rows, of which only those in view have elements.
 *
 * Messages that arrive between two drawings are shown together. All new rows are written first, then their heights are
 * read once.
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
  /** The scroll position that the last drawing has set. */
  #drawnTop = 0;
  #unsaid = [];
  #announceTimer = 0;
  #endLanguage;

  /** @param {(user: object) => void} [onUser] called with the sender whom the user has chosen */
  constructor(onUser) {
    this.onUser = onUser;
    this.list = h('div', { class: 'chat-rows', role: 'presentation' });
    // A one-pixel element is moved to the end of the list, so that the list can scroll that far. A transform moves it
    // without a layout; a change of the list's height would lay out every row again (6 ms instead of 0.5).
    this.end = h('div', { class: 'chat-end', 'aria-hidden': 'true' });
    // Screen readers read new messages in an element with aria-live. That is the element for announcements below, and
    // not this list, because rows that return by scrolling are not new.
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

  /** The rows of the list, including those that are not in view. */
  get messages() {
    return this.#rows.rows.map(({ value }) => value);
  }

  /** @param {...object} messages as `chatRow` takes them */
  add(...messages) {
    this.#incoming.push(...messages);
    // If there are more new rows than the list keeps, the oldest would be removed again, so they are skipped.
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
   * Whether the list is hidden, for example while another tab is shown. All heights and positions in it are then 0. So
   * new rows are only kept, and drawn when the list has a height again. A resize is reported after the drawing of the
   * frame, so both are checked.
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
      // Not every browser keeps the scroll position of a hidden element, and rows above it may have been removed.
      this.#moveEnd();
      this.view.scrollTop = this.#drawnTop;
    }
    this.#wake();
  }

  /** Draws in the next frame, or when the pause since the last drawing is over. */
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
    // A page in the background gets no frames; `add` limits the number of waiting rows.
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #scrolled() {
    if (this.#isHidden) return;
    const { scrollTop } = this.view;
    // The browser also reports the scrolling that the last drawing has caused; its rows are already there.
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
      // The measured heights may have changed the position of the end.
      scrollTop = Math.max(0, this.#rows.total - this.#viewHeight);
      this.#render(scrollTop);
      scrollTop = Math.max(0, this.#rows.total - this.#viewHeight);
    }
    this.#drawnTop = scrollTop;
    if (Math.abs(this.view.scrollTop - scrollTop) > 0.5) this.view.scrollTop = scrollTop;
    this.more.hidden = this.#unseen === 0;
    if (this.#unseen > 0) this.more.textContent = t('chat.new', { count: this.#unseen });
  }

  /** Draws the rows in view, and returns by how much the rows above the first visible one have grown. */
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

  /** Sets the scrollable height to the height of all rows. The end element itself is one pixel high. */
  #moveEnd() {
    this.end.style.transform = `translateY(${this.#rows.total - 1}px)`;
  }

  #recycle() {
    this.#shown.clear();
    fill(this.list);
  }

  /** Announces the last two messages, then pauses; nobody can follow more than two. */
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
