// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { clock, compactCount } from '../lib/format.js';
import { language } from '../lib/i18n.js';

/** What is shown after a live: why it is over for this user, and its figures. */
export class Ending {
  /** @param {{ reason: string, isKick?: boolean, statistics?: object }} detail of `onLiveEnded` or `onKickedOutOfLive` */
  constructor({ reason, isKick, statistics }) {
    const why = isKick
      ? (reason === 'byLoggedOnOtherDevice' ? 'live.kickedDevice' : 'live.kicked')
      : (reason === 'endedByHost' ? 'live.endedByHost' : 'live.endedByServer');
    const card = h('section', { class: 'panel sign-card' },
      h('h1', { tabindex: '-1', t: isKick ? 'live.kicked' : 'live.ended' }), !isKick && h('p', { class: 'quiet', t: why }),
      statistics && summaryList(statistics), h('a', { class: 'button primary', href: '#/', t: 'summary.back' }));
    if (isKick && why !== 'live.kicked') card.querySelector('h1').after(h('p', { class: 'quiet', t: why }));
    this.element = h('div', { class: 'sign' }, card);
  }
}

/** The figures of a live. @param {object} figures LiveStatistics */
export function summaryList(figures) {
  const number = (value) => compactCount(value, language());
  const entries = [
    ['summary.duration', clock(figures.liveDuration)], ['summary.viewers', number(figures.totalViewers)],
    ['summary.messages', number(figures.totalMessageCount)], ['summary.likes', number(figures.totalLikesReceived)],
    ['summary.gifts', number(figures.totalGiftsSent)], ['summary.coins', number(figures.totalGiftCoins)],
    ['summary.givers', number(figures.totalUniqueGiftSenders)],
  ];
  return h('dl', { class: 'summary' }, ...entries.map(([key, value]) => h('div', {}, h('dt', { t: key }), h('dd', {}, value))));
}
