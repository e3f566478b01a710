// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';

const lasts = 4500;
const most = 3;

/** Short messages over the page, which a screen reader announces. */
export class Toasts {
  constructor() {
    this.element = h('div', { class: 'toasts', role: 'status', 'aria-live': 'polite' });
  }

  /**
   * Shows a message.
   *
   * @param {string} text
   * @param {{ actions?: { text: string, isPrimary?: boolean, run: () => void }[], lasts?: number, gone?: () => void }} [options]
   *   with actions, the message stays until the user chooses one or its time is over; `gone` is called when it is removed
   * @returns {() => void} removes the message
   */
  show(text, { actions = [], lasts: time = actions.length > 0 ? 15_000 : lasts, gone } = {}) {
    const toast = h('div', { class: 'toast' }, h('span', {}, text));
    const remove = () => {
      clearTimeout(timer);
      toast.remove();
      gone?.();
    };
    const timer = setTimeout(remove, time);
    for (const { text: label, isPrimary, run } of actions) {
      toast.append(h('button', { class: `button tight${isPrimary ? ' primary' : ''}`, type: 'button', on: { click: () => { remove(); run(); } } }, label));
    }
    const old = [...this.element.children].filter((child) => !child.querySelector('button'));
    // The same message is not shown twice at once.
    old.filter((child, index) => index < old.length - (most - 1) || child.textContent === toast.textContent).forEach((child) => child.remove());
    this.element.append(toast);
    return remove;
  }
}
