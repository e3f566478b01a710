// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { Disposer, h, setText } from '../lib/dom.js';
import { clock, nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { keyOf, OpenRequests } from './open-requests.js';

/** How many requests are asked about over the page at once; the list has all of them. */
const mostAsked = 3;
/** How many seconds pass between two reads, which find what another device of the owner has answered. */
const readsEvery = 10;

/** The texts of a request, by its kind: over the page, and in the list to and from others. */
const texts = {
  coHost: { question: 'connect.incoming', incoming: 'connect.asks', outgoing: 'connect.asked' },
  battle: { question: 'fight.incoming', incoming: 'fight.asks', outgoing: 'fight.asked' },
};

/**
 * The requests between the owner's live and others that are open: a list with their answers, and questions over the
 * page.
 */
export class RequestList extends Disposer {
  /**
   * The questions over the page, also those that are gone already, by the keys of their requests. @type
   * {Map<string, { isShown: boolean, end: () => void }>}
   */
  #questions = new Map();
  /** The keys of the requests whose answer is on its way. */
  #answered = new Set();
  /** What shows the remaining time of each request. @type {Map<string, HTMLElement>} */
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
    // Another host may have asked before this panel was loaded, and the own requests may be of before a reload.
    void this.read();
  }

  /** An own request that the server has taken. */
  asked(request, seconds) {
    this.requests.put({ ...request, isIncoming: false, expiresAt: this.#now / 1000 + seconds });
  }

  /** Takes an own request back. */
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

  /** Answers a request, once. Until the server has taken the answer it stays in the list: it may be answered again. */
  async #answer(request, action) {
    const key = keyOf(request);
    if (this.#answered.has(key)) return;
    this.#answered.add(key);
    try {
      await action();
      this.requests.end(request);
    } catch (error) {
      this.page.shell.fail(error);
      // It may have ended meanwhile.
      await this.read();
    } finally {
      this.#answered.delete(key);
    }
  }

  /** Finds what is open and was not told. */
  async read() {
    try {
      await this.requests.read();
      this.#isRead = true;
    } catch {
      // What is known stays, and is read again.
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

  /** Asks about a request over the page, once, and unless there are too many questions already. */
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
