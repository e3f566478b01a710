// SPDX-License-Identifier: Apache-2.0

/** What can have the focus in a row: the row itself, or a part of it. */
const controlsOf = (row) => [row, ...row.querySelectorAll('a, button, input')];

/**
 * The rows of a list, each with a key. A row stays the same element for as long as it shows the same: a press on an element
 * that is replaced before it ends does nothing, and the focus falls to the page.
 */
export class KeyedList {
  #rows = new Map();

  constructor(element) {
    this.element = element;
  }

  /**
   * Shows these rows in their order, and no others.
   *
   * @param {[key: string, shown: unknown, make: () => HTMLElement][]} rows a row is made anew when `shown`, as JSON, or the
   *   language has changed; then the focus goes to the same place in the new row
   * @param {() => HTMLElement} [blank] the only row of a list that is empty
   */
  show(rows, blank) {
    if (rows.length === 0 && blank) rows = [['', '', blank]];
    let focused = this.element.contains(document.activeElement) && document.activeElement;
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
          const place = controlsOf(row.element).indexOf(focused);
          if (place >= 0) focused = controlsOf(element)[place];
          row.element.replaceWith(element);
        }
        row = { element, signature };
        this.#rows.set(key, row);
      }
      if (row.element === next) next = next.nextElementSibling;
      else this.element.insertBefore(row.element, next);
    }
    // Moving a row takes the focus away too.
    if (focused && focused !== document.activeElement) focused.focus({ preventScroll: true });
  }
}
