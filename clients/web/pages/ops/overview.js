// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { Chart, figureList } from './chart.js';
import { ProcessTable } from './process-table.js';

const rows = (figures) => Object.entries(figures).sort(([, one], [, other]) => other - one);

/** The cluster on one page. */
export class Overview {
  constructor(shell) {
    this.table = new ProcessTable(shell);
    this.charts = [
      new Chart('ops.connections', [{ field: 'connections' }]),
      new Chart('ops.deliveries', [{ field: 'deliveries' }], 'ops.perSecond'),
      new Chart('ops.messages', [{ field: 'messages' }], 'ops.perSecond'),
      new Chart('ops.calls', [{ field: 'p50', t: 'ops.p50' }, { field: 'p99', t: 'ops.p99' }], 'ops.milliseconds'),
      new Chart('ops.drops', [{ field: 'drops' }], 'ops.perSecond'),
      new Chart('ops.lag', [{ field: 'lag' }], 'ops.records'),
    ];
    this.lists = ['ledger', 'dropped', 'lagBy', 'replays'].map((name) => {
      const body = h('div', {});
      return { name, body, element: h('section', { class: 'panel' }, h('h2', { t: `ops.list.${name}` }), body) };
    });
    this.element = h('div', { class: 'ops' }, h('h1', { t: 'ops.title' }), this.table.element,
      h('div', { class: 'charts' }, this.charts.map(({ element }) => element)),
      h('div', { class: 'lists' }, this.lists.map(({ element }) => element)));
  }

  show(source) {
    const { report } = source;
    if (!report) return;
    this.table.show(report);
    for (const chart of this.charts) chart.show(source.samples, report.now);
    const { ledger } = report;
    const column = (name) => [t(`ops.ledger.${name}`), ledger[name]];
    const gap = (name) => [t(`ops.ledger.${name}`), ledger[name], ledger[name] === 0 ? 'good' : 'bad'];
    const entries = {
      ledger: ['published', 'admitted', 'refused', 'dropped'].map(column).concat([gap('feedGap')],
        ['due', 'delivered', 'shed', 'disconnected', 'owed'].map(column), [gap('deliveryGap')]),
      dropped: [...rows(report.drops), ...rows(report.refusals).map(([reason, count]) => [t('ops.refusedFor', { reason }), count])],
      lagBy: rows(report.lag),
      replays: [[t('ops.replayed'), report.replays], ...rows(report.replaysRefused).map(([reason, count]) => [t('ops.toSnapshot', { reason }), count]),
        [t('ops.deadLetters'), report.deadLetters, report.deadLetters === 0 ? 'good' : 'bad']],
    };
    for (const { name, body } of this.lists) figureList(body, entries[name], 'ops.none');
  }

  dispose() {}
}
