// SPDX-License-Identifier: Apache-2.0

/** The selector of elements in a row that can have the focus: the row itself, or a part of it. */
const controlsOf = (row) => [row, ...row.querySelectorAll('a, button, input')];

/**
 * The rows of a list, each with a key. A row keeps its element while its content stays the same. If an element were
 * replaced during a click, the click would have no effect and the page would lose the focus.
 */
export class KeyedList {
  #rows = new Map();

  constructor(element) {
    this.element = element;
    // When a row is removed, the next one moves under the focus. A held key would then press the button of each row.
    element.addEventListener('keydown', (event) => {
      if (event.repeat && /^(Enter| )$/.test(event.key)) event.preventDefault();
    });
  }

  /**
   * Shows these rows in their order, and no others.
   *
   * @param {[key: string, shown: unknown, make: () => HTMLElement][]} rows a row is made again if the JSON of `shown`,
   *   or the language, has changed. The focus stays in its row, or moves to the row at the same place
   * @param {() => HTMLElement} [blank] makes the only row of an empty list
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

  /** The place of the focus: the key and index of its row, and the index of the control in the row. */
  #focus() {
    const { activeElement } = document;
    if (!this.element.contains(activeElement)) return undefined;
    const [key, row] = [...this.#rows].find(([, { element }]) => element.contains(activeElement)) ?? [];
    return row && { key, index: [...this.element.children].indexOf(row.element), control: controlsOf(row.element).indexOf(activeElement) };
  }

  /**
   * Restores the focus after rows were moved or replaced. If the row is gone, the focus goes to the row at its place,
   * otherwise to the last row, otherwise to the list, or to the element around a list that is hidden.
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
