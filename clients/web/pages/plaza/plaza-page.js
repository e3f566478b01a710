// SPDX-License-Identifier: Apache-2.0
import { Disposer, fill, h, setText } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { words } from '../session/session.js';
import { card, updateCard } from './card.js';
import { categories, categoryName, matches } from './search.js';

/** The interval between two reads of the shown lives, in milliseconds. */
const refreshTime = 5000;
const pageSize = 24;

/** The page with the list of lives as cards: filtered by category and search; scrolling loads more. */
export class PlazaPage extends Disposer {
  #cards = new Map();
  /** The lives that have ended since the list was read. */
  #gone = new Set();
  #category;
  /** How often a category was chosen; a page that was read for an earlier choice is ignored. */
  #choice = 0;
  #isLoading = false;
  #hasMore = true;
  #query = '';

  constructor(shell) {
    super();
    this.shell = shell;
    this.list = shell.session.plaza.liveListStore;
    this.search = h('input', { class: 'input', type: 'search', placeholder: 'plaza.search', label: 'plaza.search', 'aria-describedby': 'search-note', on: { input: () => this.#searched() } });
    this.tabs = h('div', { class: 'tabs', role: 'tablist', label: 'plaza.categories' });
    this.cards = h('ul', { class: 'cards', id: 'cards' });
    this.status = h('p', { role: 'status' });
    this.retry = h('button', { class: 'button tight', type: 'button', t: 'plaza.retry', hidden: true, on: { click: () => this.#load() } });
    this.more = h('button', { class: 'button tight', type: 'button', t: 'plaza.loadMore', hidden: true, on: { click: () => this.#load() } });
    this.foot = h('div', { class: 'plaza-foot' }, this.status, this.retry, this.more);
    this.element = h('div', { class: 'plaza' },
      h('div', { class: 'plaza-head' }, h('h1', { t: 'plaza.title' }),
        h('div', { class: 'search' }, icon('search'), this.search, h('span', { class: 'only-read', id: 'search-note', t: 'plaza.searchNote' })),
        this.tabs),
      h('section', { role: 'tabpanel', label: 'plaza.title' }, this.cards), this.foot);
    // The tabs are made once, so that a pressed tab keeps the focus.
    fill(this.tabs, [undefined, ...categories].map((category) => h('button', {
      class: 'tab', type: 'button', role: 'tab', 'aria-controls': 'cards',
      on: { click: () => this.#choose(category), keydown: (event) => this.#moveTab(event) },
    })));
    this.#drawTabs();
    this.add(onLanguage(() => this.#drawAll()));
    const more = new IntersectionObserver(() => this.#loadOn(), { rootMargin: '600px' });
    more.observe(this.foot);
    this.add(() => more.disconnect());
    this.every(refreshTime, () => this.#refresh());
    // On a lost connection the leave takes long; the list is shown meanwhile.
    void this.shell.session.leave();
    this.list.reset();
    void this.#load();
  }

  #drawTabs() {
    [undefined, ...categories].forEach((category, index) => {
      const tab = this.tabs.children[index];
      const isChosen = category === this.#category;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      setText(tab, categoryName(category));
    });
  }

  #moveTab(event) {
    const tabs = [...this.tabs.children];
    const at = tabs.indexOf(event.currentTarget);
    const next = tabs[{ ArrowRight: (at + 1) % tabs.length, ArrowLeft: (at || tabs.length) - 1, Home: 0, End: tabs.length - 1 }[event.key]];
    if (!next) return;
    event.preventDefault();
    next.click();
    next.focus();
  }

  #choose(category) {
    this.#category = category;
    this.#choice += 1;
    this.#drawTabs();
    this.list.reset();
    this.#hasMore = true;
    this.#gone.clear();
    this.#cards.clear();
    fill(this.cards);
    void this.#load();
  }

  /**
   * Reads further pages while the end of the list is in view. Not during a search, because a search with few hits would
   * read all pages.
   */
  #loadOn() {
    if (!this.#query && this.#hasMore && this.foot.isConnected && this.foot.getBoundingClientRect().top < innerHeight + 600) void this.#load();
  }

  /** Reads the next page of the list, or the first page again. */
  async #load({ isAnew = false } = {}) {
    if (this.#isLoading || (!this.#hasMore && !isAnew)) return;
    this.#isLoading = true;
    if (!isAnew) {
      this.retry.hidden = true;
      this.status.textContent = t('plaza.more');
    }
    const category = this.#category;
    const choice = this.#choice;
    let failure;
    try {
      await this.list.fetchLiveList({ cursor: isAnew ? '' : this.list.state.liveListCursor, count: pageSize, ...(category === undefined ? {} : { category }) });
      if (choice === this.#choice) this.#hasMore = this.list.state.liveListCursor !== '';
    } catch (error) {
      failure = error;
    }
    this.#isLoading = false;
    if (choice !== this.#choice) {
      // The page and its cursor belong to an earlier choice.
      this.list.reset();
      return void this.#load();
    }
    if (failure && isAnew) return;
    this.#draw(isAnew);
    if (failure) {
      this.retry.hidden = false;
      this.status.textContent = t('plaza.failed', { reason: words(failure) });
    } else this.#loadOn();
  }

  /**
   * Reads a list of one page again, because lives begin and end. In a longer list the visible lives are read singly.
   */
  async #refresh() {
    if (document.hidden || this.shell.session.login.state.connectionStatus !== 'connected') return;
    if (!this.#hasMore && this.list.state.liveList.length <= pageSize) return this.#load({ isAnew: true });
    const seen = [...this.#cards].filter(([, element]) => {
      const { top, bottom } = element.getBoundingClientRect();
      return !element.hidden && bottom > 0 && top < innerHeight;
    }).slice(0, 12);
    await Promise.all(seen.map(async ([liveID, element]) => {
      try {
        updateCard(element, await this.list.fetchLiveInfo({ liveID }));
      } catch (error) {
        if (error.codeName !== 'noSuchRoom') return;
        this.#gone.add(liveID);
        element.hidden = true;
      }
    }));
  }

  #searched() {
    this.#query = this.search.value.trim();
    this.#draw();
    this.#loadOn();
  }

  #drawAll() {
    this.#drawTabs();
    this.#cards.clear();
    fill(this.cards);
    this.#draw();
  }

  #draw(isAnew = false) {
    const lives = this.list.state.liveList;
    if (isAnew) {
      this.#gone.clear();
      const listed = new Set(lives.map(({ liveID }) => liveID));
      for (const [liveID, element] of this.#cards) {
        if (listed.has(liveID)) continue;
        element.remove();
        this.#cards.delete(liveID);
      }
    }
    for (const info of lives) {
      const known = this.#cards.get(info.liveID);
      if (known && isAnew) updateCard(known, info);
      if (known) continue;
      const element = h('li', {}, card(info));
      this.#cards.set(info.liveID, element);
      this.cards.append(element);
    }
    let shown = 0;
    for (const info of lives) {
      const isMatch = matches(info, this.#query) && !this.#gone.has(info.liveID);
      this.#cards.get(info.liveID).hidden = !isMatch;
      if (isMatch) shown += 1;
    }
    this.more.hidden = !this.#query || !this.#hasMore;
    setText(this.status, shown > 0 ? (this.#hasMore ? '' : t('plaza.end')) : t(this.#query ? 'plaza.noMatch' : 'plaza.empty'));
  }
}
