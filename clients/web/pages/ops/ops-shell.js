// SPDX-License-Identifier: Apache-2.0
import { fill, h } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { language, setLanguage, t } from '../lib/i18n.js';
import { isDark, kept, onTheme, toggleTheme } from '../lib/theme.js';
import { Toasts } from '../lib/toasts.js';
import { LivesView, LiveView } from './live-view.js';
import { Overview } from './overview.js';

/** The view for a route: the cluster, the lives, or one live. */
export function viewOf(hash) {
  const [name, id] = hash.replace(/^#\/?/, '').split('/');
  if (name === 'live' && id) {
    try {
      return { name, id: decodeURIComponent(id) };
    } catch {
      return { name: 'lives' };
    }
  }
  return { name: name === 'lives' ? 'lives' : 'overview' };
}

/** The frame around the views: the bar, and whether the tool answers. Reads once a second while the page is visible. */
export class OpsShell {
  toasts = new Toasts();
  #view;
  #isReading = false;

  constructor(source) {
    this.source = source;
    this.theme = h('button', { class: 'button round ghost', type: 'button', label: 'ops.theme', title: 'ops.theme', on: { click: toggleTheme } });
    this.links = ['overview', 'lives'].map((name) => h('a', { class: 'ops-link', href: name === 'lives' ? '#/lives' : '#/', t: `ops.nav.${name}` }));
    const bar = h('header', { class: 'bar' }, h('a', { class: 'brand', href: '#/' }, h('span', { class: 'brand-mark', 'aria-hidden': 'true' }), h('span', {}, 'LivePlaza')),
      h('nav', { class: 'ops-nav', label: 'ops.nav' }, this.links),
      h('button', { class: 'button round ghost', type: 'button', label: 'ops.language', title: 'ops.language', on: { click: () => this.#nextLanguage() } }, icon('globe')),
      this.theme);
    this.notice = h('div', { class: 'notice', role: 'status', hidden: true }, h('span', { t: 'ops.away' }));
    this.main = h('main', { id: 'content', tabindex: '-1' });
    const skip = h('a', { class: 'skip', href: '#content', t: 'ops.skip', on: { click: (event) => { event.preventDefault(); this.main.focus(); } } });
    this.elements = [skip, bar, this.notice, this.main, this.toasts.element];
    this.#drawTheme();
    onTheme(() => this.#drawTheme());
  }

  start() {
    addEventListener('hashchange', () => {
      this.#open();
      // The element with the focus may have been removed.
      this.main.focus({ preventScroll: true });
    });
    document.addEventListener('visibilitychange', () => this.refresh());
    this.#open();
    setInterval(() => this.refresh(), 1000);
  }

  /** Reads and shows new samples; only one read at a time, and none in a hidden tab. */
  async refresh() {
    if (this.#isReading || document.hidden) return;
    this.#isReading = true;
    try {
      await this.source.read();
      this.notice.hidden = this.source.fault === undefined;
      await this.#view.show(this.source);
    } finally {
      this.#isReading = false;
    }
  }

  #open() {
    const { name, id } = viewOf(location.hash);
    this.#view = name === 'live' ? new LiveView(this, id) : name === 'lives' ? new LivesView(this) : new Overview(this);
    this.links.forEach((link, index) => {
      if ((index === 0) === (name === 'overview')) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    });
    document.title = t('ops.page');
    fill(this.main, this.#view.element);
    scrollTo(0, 0);
    this.refresh();
  }

  async #nextLanguage() {
    const next = language() === 'en' ? 'zh' : 'en';
    try {
      await setLanguage(next);
    } catch {
      this.toasts.show(t('error.textsNotLoaded'));
      return;
    }
    kept.set('language', language());
    this.#open();
  }

  #drawTheme() {
    fill(this.theme, icon(isDark() ? 'sun' : 'moon'));
  }
}
