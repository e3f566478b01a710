// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { Disposer, fill, h, setText } from '../lib/dom.js';
import { compactCount, nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { language, onLanguage, t } from '../lib/i18n.js';
import { openState } from './sheets.js';

/** The head of a live: its owner, the number of viewers, and the state of the connection. */
export class LiveHead extends Disposer {
  constructor(page) {
    super();
    const { shell, stores, list } = page;
    this.page = page;
    this.face = h('span', {});
    this.title = h('h1', {});
    this.host = h('p', { class: 'quiet' });
    this.count = h('span', { class: 'numbers', 'aria-hidden': 'true' });
    this.countRead = h('span', { class: 'only-read' });
    this.likes = h('span', { class: 'numbers' });
    this.state = h('button', { class: 'button round tight ghost state-button', type: 'button', label: 'state.title', title: 'state.title', on: { click: () => openState(page) } }, icon('signal'));
    const share = h('button', { class: 'button round tight ghost', type: 'button', label: 'live.share', title: 'live.share', on: { click: () => this.#share() } }, icon('link'));
    this.element = h('div', { class: 'live-head' },
      h('a', { class: 'button round tight ghost', href: '#/', label: 'live.back', title: 'live.back' }, icon('back')),
      this.face, h('div', { class: 'live-title' }, this.title, this.host),
      h('div', { class: 'live-counts' },
        h('span', {}, icon('eye'), this.count, this.countRead),
        h('span', {}, icon('heart'), h('span', { class: 'only-read', t: 'live.likes' }), this.likes)),
      share, this.state);
    this.add(list.select(({ currentLive }) => currentLive, () => this.#show()));
    this.add(stores.audience.subscribe(() => this.#show()));
    this.add(stores.like.select(({ totalLikeCount }) => totalLikeCount, () => this.#show()));
    this.add(shell.session.login.select(({ connectionStatus }) => connectionStatus, (status) => {
      this.state.dataset.phase = status === 'connected' ? 'open' : 'waiting';
    }));
    this.add(onLanguage(() => this.#show()));
  }

  #show() {
    const { list, stores, liveID } = this.page;
    const info = list.state.currentLive;
    if (info.liveID !== liveID) return;
    const owner = JSON.stringify(info.liveOwner);
    if (this.face.dataset.owner !== owner) {
      this.face.dataset.owner = owner;
      fill(this.face, avatar(info.liveOwner));
    }
    setText(this.title, info.liveName || info.liveID);
    const isAway = info.status === 3;
    this.host.classList.toggle('away', isAway);
    setText(this.host, isAway ? t('live.away') : nameOf(info.liveOwner));
    document.title = `${info.liveName || info.liveID} · LivePlaza`;
    const { audienceCount, isAudienceCountStale } = stores.audience.state;
    const shown = compactCount(audienceCount, language());
    setText(this.count, isAudienceCountStale ? `~${shown}` : shown);
    setText(this.countRead, `${t('live.watching', { count: audienceCount, shown })}${isAudienceCountStale ? `. ${t('live.stale')}` : ''}`);
    setText(this.likes, compactCount(stores.like.state.totalLikeCount, language()));
  }

  async #share() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.page.shell.say(t('live.copied'));
    } catch {
      this.page.shell.say(location.href);
    }
  }
}
