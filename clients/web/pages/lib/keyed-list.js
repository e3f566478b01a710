// SPDX-License-Identifier: Apache-2.0

/** What can have the focus in a row: the row itself, or a part of it. */
const controlsOf = (row) => [row, ...row.querySelectorAll('a, button, input')];

/**
 * The rows of a list, each with a key. A row stays the same element for as long as it shows the same: a press on an
 * element that is replaced before it ends does nothing, and the focus falls to the page.
 */
export class KeyedList {
  #rows = new Map();

  constructor(element) {
    this.element = element;
    // Rows move up under the focus: a key that is held would press the button of one after another.
    element.addEventListener('keydown', (event) => {
      if (event.repeat && /^(Enter| )$/.test(event.key)) event.preventDefault();
    });
  }

  /**
   * Shows these rows in their order, and no others.
   *
   * @param {[key: string, shown: unknown, make: () => HTMLElement][]} rows a row is made anew when `shown`, as JSON, or
   * the
   *   language has changed. The focus stays in the row that has it, or goes to the row in its place
   * @param {() => HTMLElement} [blank] the only row of a list that is empty
   */
  show(rows, blank) {
    if (rows.length === 0 && blank) rows = [['', '', blank]];
    const focus = this.#focus();
    const keys = new Set(rows.map(([key]) => key));
    for (const [key, { element }] of this.#rows) {
      if (keys.has(key)) continue;
      element.remove();
      this.#rows.delete(key);
    }
    let next = this.element.firstElementChild;
    for (const [key, shown, make] of rows) {
      const signature = JSON.stringify([shown, document.documentElement.lang]);
      let row = this.#rows.get(key);
      if (row?.signature !== signature) {
        const element = make();
        if (row) {
          if (next === row.element) next = element;
          row.element.replaceWith(element);
        }
        row = { element, signature };
        this.#rows.set(key, row);
      }
      if (row.element === next) next = next.nextElementSibling;
      else this.element.insertBefore(row.element, next);
    }
    if (focus) this.#setFocus(focus);
  }

  /** Where the focus is: in the row of which key, which row of the list that is, and at which of its controls. */
  #focus() {
    const { activeElement } = document;
    if (!this.element.contains(activeElement)) return undefined;
    const [key, row] = [...this.#rows].find(([, { element }]) => element.contains(activeElement)) ?? [];
    return row && { key, index: [...this.element.children].indexOf(row.element), control: controlsOf(row.element).indexOf(activeElement) };
  }

  /**
   * Gives the focus back: moving or replacing a row takes it away. If the row is gone it goes to the one in its place,
   * else to the last one, else to the list, or to what is around it if the list is not shown any more.
   */
  #setFocus({ key, index, control }) {
    const { children } = this.element;
    const row = this.#rows.get(key)?.element ?? children[Math.min(index, children.length - 1)];
    const controls = row ? controlsOf(row) : [];
    const around = this.element.closest('[hidden]')?.parentElement ?? this.element;
    for (const place of [controls[control], controls.at(-1), around]) {
      if (this.element.contains(document.activeElement)) return;
      if (place === around) place.tabIndex = -1;
      place?.focus({ preventScroll: true });
    }
  }
}
