// SPDX-License-Identifier: Apache-2.0
import { h, setText } from '../lib/dom.js';
import { clock, nameOf } from '../lib/format.js';
import { hasText, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { figureList } from './chart.js';

/** The members of an object that are numbers, by name. */
export function numbersOf(object) {
  return Object.entries(object ?? {}).filter(([, value]) => typeof value === 'number' && Number.isFinite(value));
}

/** The names of numbers that are not counters. */
const hidden = new Set(['at', 'epoch', 'revision', 'v']);

/** The text for a counter of a live; a counter without a text is shown by its name in the protocol. */
function counter([name, value]) {
  const key = `ops.counter.${name}`;
  return [hasText(key) ? t(key) : name, name === 'liveDuration' ? clock(value) : value];
}

/** The lives with the most viewers. */
export class LivesView {
  constructor(shell) {
    this.shell = shell;
    this.body = h('ul', { class: 'processes' });
    this.rows = new KeyedList(this.body);
    this.element = h('div', { class: 'ops' }, h('h1', { t: 'ops.lives' }), h('section', { class: 'panel wide' }, this.body));
    this.rounds = 0;
  }

  async show(source) {
    // The list changes slowly, so it is read only every third time.
    if (this.rounds++ % 3 !== 0) return;
    const lives = await source.lives().catch(() => undefined);
    if (!lives || lives.length === 0) {
      const hint = lives ? 'ops.noLives' : 'ops.noGateway';
      this.rows.show([['', hint, () => h('li', { class: 'quiet', t: hint })]]);
      return;
    }
    this.rows.show(lives.map(({ info }) => {
      const facts = `${info.liveID} · ${nameOf(info.liveOwner)}`;
      return [info.liveID, [info.liveName, facts], () => h('li', { class: 'process' },
        h('a', { class: 'process-name', href: `#/live/${encodeURIComponent(info.liveID)}` }, info.liveName || info.liveID),
        h('span', { class: 'process-facts quiet small numbers' }, facts), h('span', { class: 'small numbers' }))];
    }));
    lives.forEach(({ audienceCount, totalViewerCount }, index) => {
      setText(this.body.children[index].lastElementChild, t('ops.watching', { count: audienceCount, all: totalViewerCount }));
    });
  }

  dispose() {}
}

/** The view of one live with its counters. */
export class LiveView {
  constructor(shell, id) {
    this.id = id;
    this.title = h('h1', {}, id);
    this.lists = ['count', 'statistics', 'stage'].map((name) => {
      const body = h('div', {});
      return { name, body, element: h('section', { class: 'panel' }, h('h2', { t: `ops.live.${name}` }), body) };
    });
    this.hint = h('p', { class: 'quiet', role: 'status' });
    this.element = h('div', { class: 'ops' }, h('a', { class: 'button tight ops-back', href: '#/lives', t: 'ops.allLives' }), this.title, this.hint,
      h('div', { class: 'lists' }, this.lists.map(({ element }) => element)));
  }

  async show(source) {
    const live = await source.live(this.id);
    setText(this.title, this.id);
    setText(this.hint, Object.values(live).some((part) => part !== undefined) ? '' : t('ops.noLive'));
    for (const { name, body } of this.lists) {
      const { seats: all, connection, battle } = (name === 'stage' && live.stage) || {};
      const seats = !all ? [] : [[t('ops.seatsTaken'), all.filter(({ occupant }) => occupant).length],
        [t('ops.seats'), all.length],
        [t('ops.connected'), connection?.members.length ?? 0], [t('ops.battles'), battle ? 1 : 0]];
      figureList(body, [...seats, ...numbersOf(live[name]).filter(([key]) => !hidden.has(key)).map(counter)], 'ops.none');
    }
  }

  dispose() {}
}
