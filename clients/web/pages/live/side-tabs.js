// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';

/** The column beside the stage: panels under tabs, and the composer below. On a phone it opens over the stage. */
export class SideTabs {
  #current = 0;

  /** @param {{ key: string, icon: string, element: HTMLElement }[]} panels @param {HTMLElement} composer */
  constructor(panels, composer) {
    this.panels = panels;
    this.tabs = panels.map(({ key }, index) => h('button', {
      class: 'side-tab', type: 'button', role: 'tab', id: `side-tab-${index}`, 'aria-controls': `side-panel-${index}`, t: key,
      on: { click: () => this.open(index), keydown: (event) => this.#move(event, index) },
    }));
    this.bodies = panels.map(({ element }, index) => h('div', {
      class: 'side-body', role: 'tabpanel', id: `side-panel-${index}`, 'aria-labelledby': `side-tab-${index}`,
    }, element));
    this.composer = composer;
    this.element = h('aside', { class: 'side panel', label: 'live.more' },
      h('div', { class: 'side-tabs', role: 'tablist', label: 'live.more' }, ...this.tabs), ...this.bodies, composer);
    this.open(0);
  }

  /** Shows a panel. The chat lies over the stage on a phone; the others open as a sheet. */
  open(index) {
    this.#current = index;
    this.tabs.forEach((tab, number) => {
      tab.setAttribute('aria-selected', String(number === index));
      tab.tabIndex = number === index ? 0 : -1;
    });
    this.bodies.forEach((body, number) => { body.hidden = number !== index; });
    this.composer.hidden = index !== 0;
    this.element.classList.toggle('open', index !== 0);
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
