// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { clock, compactCount } from '../lib/format.js';
import { language } from '../lib/i18n.js';

/**
 * The texts for a user who has lost its place in a live without being kicked, by the reason of `onKickedOutOfLive`.
 * Such a user may enter again.
 *
 * The SDK defines the last reason, but this server does not send it.
 */
const losses = {
  byLoggedOnOtherDevice: 'live.kickedDevice', forNetworkDisconnected: 'live.kickedNetwork',
  forJoinRoomStatusInvalidDuringOffline: 'live.kickedOffline',
  forCountOfJoinedRoomsExceedLimit: '',
};

/** Makes the heading, and the reason if it says more. */
function wordsOf({ reason, isKick }) {
  if (!isKick) return ['live.ended', reason === 'endedByHost' ? 'live.endedByHost' : 'live.endedByServer'];
  if (reason in losses) return ['live.out', losses[reason]];
  return ['live.kicked', reason === 'byServer' && 'live.kickedServer'];
}

/** The screen after a live: why it has ended for this user, and its statistics. */
export class Ending {
  /**
   * @param {{ reason: string, isKick?: boolean, statistics?: object }} detail of `onLiveEnded` or `onKickedOutOfLive`
   * @param {() => void} enterAgain
   */
  constructor(detail, enterAgain) {
    const [heading, why] = wordsOf(detail);
    const { statistics } = detail;
    this.element = h('div', { class: 'sign' }, h('section', { class: 'panel sign-card' },
      h('h1', { tabindex: '-1', t: heading }), why && h('p', { class: 'quiet', t: why }), statistics && summaryList(statistics),
      heading === 'live.out' && h('button', { class: 'button', type: 'button', t: 'live.again', on: { click: enterAgain } }),
      h('a', { class: 'button primary', href: '#/', t: 'summary.back' })));
  }
}

/** The statistics of a live. @param {object} figures LiveStatistics */
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
