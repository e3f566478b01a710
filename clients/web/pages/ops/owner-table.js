// SPDX-License-Identifier: Apache-2.0
import { fill, h } from '../lib/dom.js';
import { t } from '../lib/i18n.js';

/** The name of a process without the name of its service: `2` for `barrage-fanout-2`. */
export function shortName(name, service) {
  return name.startsWith(`${service}-`) ? name.slice(service.length + 1) : name;
}

/**
 * The content of a table cell for a partition.
 *
 * @param {string[]} owners the names of the processes that own it
 * @returns {{text: string, tone: string}} `text` is what the cell shows
 */
export function ownerCell(owners, service) {
  if (owners.length === 0) return { text: '–', tone: 'none' };
  return { text: owners.map((name) => shortName(name, service)).join(' '),
    tone: owners.length === 1 ? 'one' : 'several' };
}

/** The table of partitions and their owners: a row for each machine, a column for each partition. */
export class OwnerTable {
  #shown = '';

  constructor() {
    // With many partitions the table is wider than the page. It can be scrolled with the keyboard, too.
    this.body = h('div', { class: 'owners', role: 'region', tabindex: '0', label: 'ops.owners' });
    this.element = h('section', { class: 'panel wide' }, h('h2', { t: 'ops.owners' }), h('p', { class: 'quiet small', t: 'ops.ownersText' }), this.body);
  }

  show({ owners }) {
    // Owners change rarely. If the table were made again each second, it would lose its scroll position and focus.
    const shown = JSON.stringify([owners, document.documentElement.lang]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    fill(this.body, owners.length === 0 ? h('p', { class: 'quiet small', t: 'ops.none' }) : this.#table(owners));
  }

  #table(owners) {
    const count = Math.max(...owners.map(({ partitions }) => partitions.length));
    const head = h('tr', {}, h('th', { scope: 'col', t: 'ops.machine' }), Array.from({ length: count }, (_, index) =>
      h('th', { scope: 'col', class: 'numbers' }, h('span', { class: 'only-read' }, `${t('ops.partition')} `), String(index))));
    const rows = owners.map(({ machine, service, partitions }) => h('tr', {}, h('th', { scope: 'row' }, machine, h('span', { class: 'quiet small' }, ` ${service}`)),
      partitions.map((names) => {
        const { text, tone } = ownerCell(names, service);
        const full = names.length === 0 ? t('ops.nobody') : names.join(', ');
        const cell = h('td', { class: `owner owner-${tone} numbers` }, h('span', { 'aria-hidden': 'true' }, text), h('span', { class: 'only-read' }, full));
        cell.title = full;
        return cell;
      })));
    return h('table', {}, h('thead', {}, head), h('tbody', {}, rows));
  }
}
