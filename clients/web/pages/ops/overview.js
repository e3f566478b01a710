// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { hasText, t } from '../lib/i18n.js';
import { Chart, figureList } from './chart.js';
import { LedgerPanel } from './ledger-panel.js';
import { OwnerTable } from './owner-table.js';
import { ProcessTable } from './process-table.js';

/** The feed classes and the reasons of dropped items, as the metrics name them. */
export const dropClasses = ['barrage', 'tip', 'counter', 'gift', 'control'];
export const dropReasons = ['budget', 'share', 'merged', 'slowReader'];

const rows = (figures) => Object.entries(figures).sort(([, one], [, other]) => other - one);

/** The text for a class and a reason; one without a text is shown by its name. */
function dropName(name) {
  const word = (kind, part) => (hasText(`ops.${kind}.${part}`) ? t(`ops.${kind}.${part}`) : part);
  const [kind, reason] = name.split(' ');
  return reason === undefined ? word('class', kind) : `${word('class', kind)}: ${word('reason', reason)}`;
}

/** The view of the whole cluster. */
export class Overview {
  constructor(shell) {
    this.table = new ProcessTable(shell);
    this.ledger = new LedgerPanel();
    this.owners = new OwnerTable();
    this.charts = [
      new Chart('ops.connections', [{ field: 'connections' }]),
      new Chart('ops.deliveries', [{ field: 'deliveries' }], 'ops.perSecond'),
      new Chart('ops.messages', [{ field: 'messages' }], 'ops.perSecond'),
      new Chart('ops.calls', [{ field: 'p50', t: 'ops.p50' }, { field: 'p99', t: 'ops.p99' }], 'ops.milliseconds'),
      new Chart('ops.dropsByClass', dropClasses.map((name) => ({ field: `dropsByClass.${name}`, t: `ops.class.${name}` })), 'ops.perSecond'),
      new Chart('ops.dropsByReason', dropReasons.map((name) => ({ field: `dropsByReason.${name}`, t: `ops.reason.${name}` })), 'ops.perSecond'),
      new Chart('ops.lag', [{ field: 'lag' }], 'ops.records'),
      new Chart('ops.replays', [{ field: 'replays', t: 'ops.exact' }, { field: 'replaysRefused', t: 'ops.snapshot' }], 'ops.perSecond'),
      new Chart('ops.deadLettersSoFar', [{ field: 'deadLetters' }]),
      new Chart('ops.gaps', [{ field: 'feedGap', t: 'ops.gapOfFeeds' }, { field: 'deliveryGap', t: 'ops.gapOfDeliveries' }]),
    ];
    this.lists = ['dropped', 'lagBy', 'replays'].map((name) => {
      const body = h('div', {});
      return { name, body, element: h('section', { class: 'panel' }, h('h2', { t: `ops.list.${name}` }), body) };
    });
    this.element = h('div', { class: 'ops' }, h('h1', { t: 'ops.title' }),
      h('div', { class: 'promise' }, this.table.element, this.ledger.element), this.owners.element,
      h('div', { class: 'charts' }, this.charts.map(({ element }) => element)),
      h('div', { class: 'lists' }, this.lists.map(({ element }) => element)));
  }

  show(source) {
    const { report } = source;
    if (!report) return;
    this.table.show(report);
    this.ledger.show(report);
    this.owners.show(report);
    for (const chart of this.charts) chart.show(source.samples, report.now);
    const entries = {
      dropped: [...rows(report.drops).map(([name, count]) => [dropName(name), count]),
        ...rows(report.refusals).map(([reason, count]) => [t('ops.refusedFor', { reason }), count])],
      lagBy: rows(report.lag),
      replays: [[t('ops.replayed'), report.replays],
        ...rows(report.replaysRefused).map(([reason, count]) => [t('ops.toSnapshot', { reason }), count]),
        [t('ops.deadLetters'), report.deadLetters, report.deadLetters === 0 ? 'good' : 'bad']],
    };
    for (const { name, body } of this.lists) figureList(body, entries[name], 'ops.none');
  }

  dispose() {}
}
