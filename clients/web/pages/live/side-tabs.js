// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';

/** The column beside the stage: tabs with panels, and the input line below. On a phone it lies over the stage. */
export class SideTabs {
  #current = 0;
  /** The button that has opened the panel, on a phone. */
  #opener;

  /** @param {{ key: string, element: HTMLElement, opened?: () => void }[]} panels @param {HTMLElement} composer */
  constructor(panels, composer) {
    this.panels = panels;
    this.tabs = panels.map(({ key }, index) => h('button', {
      class: 'side-tab', type: 'button', role: 'tab', id: `side-tab-${index}`, 'aria-controls': `side-panel-${index}`,
      t: key,
      on: { click: () => this.open(index), keydown: (event) => this.#move(event, index) },
    }));
    this.bodies = panels.map(({ element }, index) => h('div', {
      class: 'side-body', role: 'tabpanel', id: `side-panel-${index}`, 'aria-labelledby': `side-tab-${index}`,
    }, element));
    this.composer = composer;
    this.element = h('aside', { class: 'side panel', label: 'live.more', on: { keydown: ({ key }) => key === 'Escape' && this.#opener && this.open(0) } },
      h('div', { class: 'side-tabs', role: 'tablist', label: 'live.more' }, ...this.tabs), ...this.bodies, composer);
    this.open(0);
  }

  /**
   * Shows a panel. On a phone the chat lies over the stage, and the other panels open as sheets; when a sheet is
   * closed, the focus returns to the button that has opened it.
   */
  open(index, opener) {
    this.#current = index;
    this.tabs.forEach((tab, number) => {
      tab.setAttribute('aria-selected', String(number === index));
      tab.tabIndex = number === index ? 0 : -1;
    });
    this.bodies.forEach((body, number) => { body.hidden = number !== index; });
    this.composer.hidden = index !== 0;
    this.element.classList.toggle('open', index !== 0);
    this.panels[index].opened?.();
    if (opener) {
      this.#opener = opener;
      this.tabs[index].focus();
    } else if (index === 0) {
      this.#opener?.focus();
      this.#opener = undefined;
    }
  }

  setVisible(index, isVisible) {
    this.tabs[index].hidden = !isVisible;
    if (!isVisible && this.#current === index) this.open(0);
  }

  #move(event, index) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const shown = this.tabs.filter((tab) => !tab.hidden);
    const next = shown[(shown.indexOf(this.tabs[index]) + step + shown.length) % shown.length];
    this.open(this.tabs.indexOf(next));
    next.focus();
  }
}
