// SPDX-License-Identifier: Apache-2.0
import { fill, h } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { figures } from './chart.js';
import { exact, seconds } from './figures.js';

/**
 * The statements of the ledgers about losses.
 *
 * @param {object} ledger the ledger of a report
 * @returns {{key: string, values?: object, tone?: string}[]} sentences, each a key of the texts
 */
export function verdicts({ feedGap, deliveryGap, undecided, uneven, ends, unseenMilliseconds }) {
  const sentences = [];
  const hasGap = feedGap !== 0 || deliveryGap !== 0;
  if (hasGap) sentences.push({ key: 'ops.ledger.uneven', values: { names: Object.keys(uneven).sort().join(', ') }, tone: 'bad' });
  else if (undecided === 0) sentences.push({ key: 'ops.ledger.even', tone: 'good' });
  if (undecided > 0) sentences.push({ key: 'ops.ledger.undecidedText', values: { count: exact(undecided) }, tone: 'warn' });
  sentences.push({ key: 'ops.ledger.claim' });
  if (ends > 0) sentences.push({ key: 'ops.ledger.ends', values: { count: ends, time: seconds(unseenMilliseconds) } });
  return sentences;
}

/** Both ledgers, summed over all processes, with their gaps and statements. */
export class LedgerPanel {
  constructor() {
    this.body = h('div', { class: 'ledger' });
    this.element = h('section', { class: 'panel' }, h('h2', { t: 'ops.list.ledger' }), this.body);
  }

  show({ ledger }) {
    const column = (name) => [t(`ops.ledger.${name}`), exact(ledger[name])];
    const gap = (name) => [t(`ops.ledger.${name}`), exact(ledger[name]), ledger[name] === 0 ? 'good' : 'bad'];
    const undecided = ledger.undecided > 0 ? [[t('ops.ledger.undecided'), exact(ledger.undecided), 'warn']] : [];
    fill(this.body, figures([...['published', 'admitted', 'refused', 'dropped'].map(column), gap('feedGap')]),
      figures([...['due', 'delivered', 'shed', 'disconnected', 'owed'].map(column), gap('deliveryGap'), ...undecided]),
      verdicts(ledger).map(({ key, values, tone }) => h('p', { class: `small ${tone ?? 'quiet'}` }, t(key, values))));
  }
}
