// SPDX-License-Identifier: Apache-2.0
import { fill, h, setText } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { figureList } from './chart.js';

/** The numbers among the members of an object, by name. */
export function numbersOf(object) {
  return Object.entries(object ?? {}).filter(([, value]) => typeof value === 'number' && Number.isFinite(value));
}

/** Numbers that count nothing. */
const hidden = new Set(['at', 'epoch', 'revision', 'v']);

/** The lives with the most viewers. */
export class LivesView {
  constructor(shell) {
    this.shell = shell;
    this.body = h('ul', { class: 'processes' });
    this.element = h('div', { class: 'ops' }, h('h1', { t: 'ops.lives' }), h('section', { class: 'panel wide' }, this.body));
    this.rounds = 0;
  }

  async show(source) {
    // A list changes slowly, so every third round is enough.
    if (this.rounds++ % 3 !== 0) return;
    const lives = await source.lives().catch(() => undefined);
    if (!lives || lives.length === 0) {
      fill(this.body, h('li', { class: 'quiet', t: lives ? 'ops.noLives' : 'ops.noGateway' }));
      return;
    }
    const focused = document.activeElement?.getAttribute('href');
    fill(this.body, lives.map(({ info, audienceCount, totalViewerCount }) => h('li', { class: 'process' },
      h('a', { class: 'process-name', href: `#/live/${encodeURIComponent(info.liveID)}` }, info.liveName || info.liveID),
      h('span', { class: 'process-facts quiet small numbers' }, `${info.liveID} · ${info.liveOwner?.userName || info.liveOwner?.userID || ''}`),
      h('span', { class: 'small numbers' }, t('ops.watching', { count: audienceCount, all: totalViewerCount })))));
    if (focused) [...this.body.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused)?.focus();
  }

  dispose() {}
}

/** One live with its counters. */
export class LiveView {
  constructor(shell, id) {
    this.id = id;
    this.title = h('h1', {}, id);
    this.lists = ['count', 'statistics', 'stage'].map((name) => {
      const body = h('div', {});
      return { name, body, element: h('section', { class: 'panel' }, h('h2', { t: `ops.live.${name}` }), body) };
    });
    this.element = h('div', { class: 'ops' }, h('a', { class: 'button tight ops-back', href: '#/lives', t: 'ops.allLives' }), this.title,
      h('div', { class: 'lists' }, this.lists.map(({ element }) => element)));
  }

  async show(source) {
    const live = await source.live(this.id);
    setText(this.title, this.id);
    for (const { name, body } of this.lists) {
      const { seats: all, connection, battle } = (name === 'stage' && live.stage) || {};
      const seats = !all ? [] : [[t('ops.seatsTaken'), all.filter(({ occupant }) => occupant).length], [t('ops.seats'), all.length],
        [t('ops.connected'), connection?.members.length ?? 0], [t('ops.battles'), battle ? 1 : 0]];
      figureList(body, [...seats, ...numbersOf(live[name]).filter(([key]) => !hidden.has(key))], 'ops.none');
    }
  }

  dispose() {}
}
