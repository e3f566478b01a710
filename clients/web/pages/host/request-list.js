// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { Disposer, h, setText } from '../lib/dom.js';
import { clock, nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { keyOf, OpenRequests } from './open-requests.js';

/** The maximum number of requests shown as dialogs over the page at once; the list has all requests. */
const mostAsked = 3;
/** The seconds between two reads, which find requests that another device of the owner has answered. */
const readsEvery = 10;

/** The keys of the texts for a request, by its kind: for the dialog, and for incoming and outgoing ones in the list. */
const texts = {
  coHost: { question: 'connect.incoming', incoming: 'connect.asks', outgoing: 'connect.asked' },
  battle: { question: 'fight.incoming', incoming: 'fight.asks', outgoing: 'fight.asked' },
};

/**
 * The open requests between the owner's live and others: a list with buttons, and a dialog over the page for each new
 * request.
 */
export class RequestList extends Disposer {
  /**
   * The dialogs, including those that are closed, by the keys of their requests.
   * @type {Map<string, { isShown: boolean, end: () => void }>}
   */
  #questions = new Map();
  /** The keys of the requests whose answer was sent and has no reply yet. */
  #answered = new Set();
  /** For each request, the element with its remaining time. @type {Map<string, HTMLElement>} */
  #clocks = new Map();
  #isRead = false;
  #seconds = 0;

  constructor(page) {
    super();
    this.page = page;
    this.requests = new OpenRequests(page.shell.session.plaza, page.liveID);
    this.add(() => this.requests.dispose());
    this.list = new KeyedList(h('ul', {}));
    this.element = h('section', { class: 'requests' }, h('h2', {}, icon('users'), h('span', { t: 'connect.requests' })), this.list.element);
    this.requests.onChange = () => this.#draw();
    this.add(() => {
      for (const { end } of this.#questions.values()) end();
    });
    this.add(onLanguage(() => this.#draw()));
    this.#draw();
    if (page.role !== 'owner') return;
    this.every(1000, () => this.#tick());
    // There may be requests from before this panel was loaded, and outgoing ones from before a reload.
    void this.read();
  }

  /** Adds an outgoing request that the server has accepted. */
  asked(request, seconds) {
    this.requests.put({ ...request, isIncoming: false, expiresAt: this.#now / 1000 + seconds });
  }

  /** Cancels an outgoing request. */
  withdraw(request) {
    const { coHost, battle } = this.page.stores;
    const { kind, host, battleID } = request;
    return this.#answer({ ...request, isIncoming: false }, () => (kind === 'battle'
      ? battle.cancelBattleRequest({ battleId: battleID, userIdList: [host.userID] })
      : coHost.cancelHostConnection({ toHostLiveID: host.liveID })));
  }

  get #now() {
    return +this.page.shell.session.plaza.serverTime;
  }

  #accept(request) {
    const { coHost, battle } = this.page.stores;
    const { kind, host, battleID } = request;
    return this.#answer(request, () => (kind === 'battle' ? battle.acceptBattle({ battleID }) : coHost.acceptHostConnection({ fromHostLiveID: host.liveID })));
  }

  #reject(request) {
    const { coHost, battle } = this.page.stores;
    const { kind, host, battleID } = request;
    return this.#answer(request, () => (kind === 'battle' ? battle.rejectBattle({ battleID }) : coHost.rejectHostConnection({ fromHostLiveID: host.liveID })));
  }

  /**
   * Answers a request once. It stays in the list until the server replies; after a failure it can be answered again.
   */
  async #answer(request, action) {
    const key = keyOf(request);
    if (this.#answered.has(key)) return;
    this.#answered.add(key);
    try {
      await action();
      this.requests.end(request);
    } catch (error) {
      this.page.shell.fail(error);
      // The request may have ended meanwhile.
      await this.read();
    } finally {
      this.#answered.delete(key);
    }
  }

  /** Reads the requests that no event has reported. */
  async read() {
    try {
      await this.requests.read();
      this.#isRead = true;
    } catch {
      // The known requests stay, and the next read tries again.
    }
  }

  #tick() {
    this.requests.expire();
    for (const [key, { expiresAt }] of this.requests.byKey) this.#showTime(this.#clocks.get(key), expiresAt);
    this.#seconds += 1;
    if (this.#seconds % readsEvery === 0 && (!this.#isRead || this.requests.byKey.size > 0)) void this.read();
  }

  #showTime(element, expiresAt) {
    if (element) setText(element, clock(expiresAt * 1000 - this.#now + 999));
  }

  #draw() {
    const { byKey } = this.requests;
    for (const [key, { end }] of this.#questions) {
      if (byKey.has(key)) continue;
      end();
      this.#questions.delete(key);
    }
    for (const [key, request] of byKey) if (request.isIncoming) this.#ask(key, request);
    this.element.hidden = byKey.size === 0;
    for (const key of this.#clocks.keys()) if (!byKey.has(key)) this.#clocks.delete(key);
    this.list.show([...byKey].map(([key, request]) => [key, [request.host.userName, request.host.avatarURL], () => this.#row(key, request)]));
    for (const [key, { expiresAt }] of byKey) this.#showTime(this.#clocks.get(key), expiresAt);
  }

  #row(key, request) {
    const { kind, isIncoming, host } = request;
    const time = h('span', { class: 'numbers', role: 'timer' });
    this.#clocks.set(key, time);
    const button = (text, className, run) => h('button', { class: `button tight ${className}`, type: 'button', on: { click: run } }, t(text));
    return h('li', { class: 'person', data: { request: kind } }, avatar(host, 'small'),
      h('span', { class: 'request' }, h('span', { class: 'person-name' }, nameOf(host) || host.liveID),
        h('span', { class: 'quiet small' }, time, ' · ', t(texts[kind][isIncoming ? 'incoming' : 'outgoing']))),
      ...(isIncoming
        ? [button('seat.accept', 'primary', () => this.#accept(request)), button('seat.reject', '', () => this.#reject(request))]
        : [button('connect.withdraw', '', () => this.withdraw(request))]));
  }

  /** Opens the dialog for a request, once, unless too many dialogs are open. */
  #ask(key, request) {
    if (this.#questions.has(key)) return;
    const isShown = [...this.#questions.values()].filter((other) => other.isShown).length < mostAsked;
    const question = { isShown, end: () => {} };
    this.#questions.set(key, question);
    if (!isShown) return;
    question.end = this.page.shell.say(t(texts[request.kind].question, { name: nameOf(request.host) }), {
      lasts: Math.max(3000, request.expiresAt * 1000 - this.#now),
      actions: [
        { text: t('seat.accept'), isPrimary: true, run: () => this.#accept(request) },
        { text: t('seat.reject'), run: () => this.#reject(request) },
      ],
      gone: () => { question.isShown = false; },
    });
  }
}
