// SPDX-License-Identifier: Apache-2.0
import { avatar } from './lib/avatar.js';
import { closeDialogs, fill, h } from './lib/dom.js';
import { icon } from './lib/icons.js';
import { language, onLanguage, setLanguage, t } from './lib/i18n.js';
import { parsePlace, placeAddress, Router } from './lib/router.js';
import { isDark, kept, keptInWindow, onTheme, toggleTheme } from './lib/theme.js';
import { Toasts } from './lib/toasts.js';
import { LivePage } from './live/live-page.js';
import { openAccount } from './live/sheets.js';
import { endingWords, words } from './session/session.js';

/** The pages. Those that a viewer of a live does not need are loaded when they are first shown. */
const pages = {
  plaza: async () => (await import('./plaza/plaza-page.js')).PlazaPage,
  live: async () => LivePage,
  host: async () => (await import('./host/host-page.js')).HostPage,
  sign: async () => (await import('./session/sign-in.js')).SignIn,
};

/** The frame around every page: the bar, the state of the connection, messages, and the shown page. */
export class Shell {
  toasts = new Toasts();
  #page;
  #place;
  #wasSignedIn = false;

  constructor(session, { isFixture }) {
    this.session = session;
    this.router = new Router((place) => this.#show(place));
    this.theme = h('button', { class: 'button round ghost', type: 'button', label: 'nav.theme', title: 'nav.theme', on: { click: toggleTheme } });
    this.account = h('button', { class: 'button round ghost', type: 'button', label: 'nav.account', title: 'nav.account', hidden: true, on: { click: () => openAccount({ shell: this }) } });
    this.host = h('a', { class: 'button tight primary', href: placeAddress({ page: 'host' }) }, icon('plus'), h('span', { t: 'nav.host' }));
    this.bar = h('header', { class: 'bar' },
      h('a', { class: 'brand', href: '#/' }, h('span', { class: 'brand-mark', 'aria-hidden': 'true' }), h('span', {}, 'LivePlaza')),
      this.host,
      h('button', { class: 'button round ghost', type: 'button', label: 'nav.language', title: 'nav.language', on: { click: () => this.#nextLanguage() } }, icon('globe')),
      this.theme, this.account);
    this.notice = h('div', { class: 'notice', role: 'status', hidden: true });
    this.main = h('main', { id: 'content', tabindex: '-1' });
    this.skip = h('a', { class: 'skip', href: '#content', t: 'app.skip', on: { click: (event) => { event.preventDefault(); this.main.focus(); } } });
    const sample = isFixture && h('div', { class: 'only-read', t: 'app.fixture' });
    this.elements = [this.skip, this.bar, this.notice, sample, this.main, this.toasts.element].filter(Boolean);
    this.#drawTheme();
    onTheme(() => this.#drawTheme());
    onLanguage(() => this.drawTitle());
  }

  async start() {
    this.session.login.subscribe((state) => this.#login(state));
    this.session.login.addEventListener('connectionEnded', ({ detail }) => this.#ended(detail));
    const name = keptInWindow.get('name');
    // A user with a demo token is signed in again. Tokens of apps are not stored.
    if (!this.session.user && name && this.session.givesDemoTokens) {
      fill(this.main, h('p', { class: 'blank', role: 'status', t: 'state.connecting' }));
      await this.session.signIn({ name }).catch((error) => this.say(t('sign.failed', { reason: words(error) })));
    }
    this.router.start();
  }

  /** The shown page. */
  get page() {
    return this.#page;
  }

  say(text, options) {
    return this.toasts.show(text, options);
  }

  /** Shows the text of an error. */
  fail(error) {
    this.say(words(error).replace(/^./, (first) => first.toUpperCase()));
  }

  async #show(place) {
    this.#place = place;
    closeDialogs();
    const isSignedIn = Boolean(this.session.user);
    const load = isSignedIn ? pages[place.page] ?? pages.plaza : pages.sign;
    const make = await load().then((Page) => () => new Page(this, place), (error) => () => this.#failed(error));
    // During the load of the page, the user has opened another one, or has signed in or out.
    if (this.#place !== place || Boolean(this.session.user) !== isSignedIn) return;
    this.#page?.dispose();
    document.body.classList.toggle('in-live', isSignedIn && place.page === 'live');
    this.host.hidden = !isSignedIn || place.page === 'host';
    this.#page = make();
    fill(this.main, this.#page.element);
    this.drawTitle();
    scrollTo(0, 0);
    if (!isSignedIn) return;
    this.main.focus({ preventScroll: true });
    if (place.isUnknown) this.say(t('app.nothingHere'));
  }

  /**
   * The element in place of a page that could not be loaded. A link to the same address would do nothing, and the
   * browser may remember the failure until the window is reloaded. So its button reloads the window.
   */
  #failed(error) {
    const again = h('button', { class: 'button', type: 'button', t: 'plaza.retry', on: { click: () => location.reload() } });
    return { element: h('div', { class: 'blank' }, h('p', { role: 'alert' }, words(error)), again), dispose() {} };
  }

  #login({ loginUserInfo, connectionStatus }) {
    const isSignedIn = loginUserInfo !== null;
    this.account.hidden = !isSignedIn;
    if (isSignedIn) fill(this.account, avatar(this.session.user, 'small'));
    this.notice.hidden = !isSignedIn || connectionStatus === 'connected';
    if (!this.notice.hidden) fill(this.notice, h('span', { t: 'app.offline' }));
    if (this.#place && isSignedIn !== this.#wasSignedIn) this.#show(parsePlace(location.hash));
    this.#wasSignedIn = isSignedIn;
  }

  #ended(detail) {
    this.say(t('app.ended', { reason: endingWords(detail) }), { lasts: 15_000 });
  }

  async #nextLanguage() {
    const next = language() === 'en' ? 'zh' : 'en';
    try {
      await setLanguage(next);
      kept.set('language', next);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Sets the title of the window to that of the page; a live has no name until it is entered. */
  drawTitle() {
    document.title = [this.main.querySelector('h1')?.textContent, 'LivePlaza'].filter(Boolean).join(' · ');
  }

  #drawTheme() {
    fill(this.theme, icon(isDark() ? 'sun' : 'moon'));
  }
}

