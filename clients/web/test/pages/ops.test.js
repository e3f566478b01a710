// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { linePath, niceTop, thinned, valueOf } from '../../pages/ops/chart-plan.js';
import { mergeSamples } from '../../pages/ops/cluster-source.js';
import { exact, figure } from '../../pages/ops/figures.js';
import { verdicts } from '../../pages/ops/ledger-panel.js';
import { dropClasses, dropReasons } from '../../pages/ops/overview.js';
import { ownerCell } from '../../pages/ops/owner-table.js';
import { t } from '../../pages/lib/i18n.js';
import { statistics } from '../../src/core/models.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage, textsOf } from '../support/texts.js';

makePage();
await showLanguage();
const en = textsOf('en');

test('the top of a chart is a round number above all values', () => {
  assert.deepEqual([0, 0.3, 1, 7, 12, 19_000, 50].map(niceTop), [1, 0.5, 1, 10, 20, 20_000, 50]);
});

test('a line has a hole where a value is missing or the tool was stopped', () => {
  const area = { from: 0, to: 100_000, top: 10, width: 100, height: 10 };
  const at = (seconds, value) => ({ at: seconds * 1000, value });
  assert.equal(linePath([at(0, 0), at(1, 5), at(2, 10)], area), 'M0.0 10.0L1.0 5.0L2.0 0.0');
  assert.equal(linePath([at(0, 0), at(1, 5), at(2, undefined), at(3, 0), at(4, 0)], area), 'M0.0 10.0L1.0 5.0M3.0 10.0L4.0 10.0');
  assert.equal(linePath([at(0, 0), at(1, 0), at(50, 0), at(51, 0)], area), 'M0.0 10.0L1.0 10.0M50.0 10.0L51.0 10.0');
  assert.equal(linePath([at(0, 5)], area), '');
});

test('thinning keeps the peaks', () => {
  const points = Array.from({ length: 1000 }, (_, at) => ({ at, value: at === 501 ? 99 : 1 }));
  const kept = thinned(points, 100);
  assert.equal(kept.length, 100);
  assert.ok(kept.some(({ value }) => value === 99));
});

test('one of several figures of a sample is 0 if the sample does not have it, and a figure that was not measured is a hole', () => {
  const sample = { lag: 3, dropsByClass: { barrage: 2 }, p50: undefined };
  assert.deepEqual(['lag', 'p50', 'dropsByClass.barrage', 'dropsByClass.tip'].map((field) => valueOf(sample, field)), [3, undefined, 2, 0]);
  assert.equal(valueOf({}, 'dropsByClass.barrage'), undefined);
});

test('a count that must add up has all its digits', () => {
  assert.equal(exact(16_187_900), '16,187,900');
  assert.equal(figure(16_187_900), '16.2M');
});

test('the ledger says that there is no gap only if nothing is open', () => {
  const keys = (more) => verdicts({ feedGap: 0, deliveryGap: 0, undecided: 0, uneven: {}, ends: 0, unseenMilliseconds: 0, ...more }).map(({ key }) => key);
  assert.deepEqual(keys({}), ['ops.ledger.even', 'ops.ledger.claim']);
  assert.deepEqual(keys({ undecided: 2 }), ['ops.ledger.undecidedText', 'ops.ledger.claim']);
  for (const gap of [{ feedGap: 1 }, { deliveryGap: 1 }]) assert.deepEqual(keys(gap), ['ops.ledger.uneven', 'ops.ledger.claim']);
  assert.deepEqual(keys({ feedGap: 1, undecided: 2 }), ['ops.ledger.uneven', 'ops.ledger.undecidedText', 'ops.ledger.claim']);
});

test('the ledger names the processes of a gap, and how much nobody has seen of those that have ended', () => {
  const say = (ledger) => verdicts({ deliveryGap: 0, undecided: 0, ...ledger }).map(({ key, values }) => t(key, values)).join(' ');
  assert.match(say({ feedGap: 3, uneven: { 'gateway-2': 1, 'barrage-fanout-1': 2 }, ends: 0 }), /at barrage-fanout-1, gateway-2\./);
  assert.match(say({ feedGap: 0, uneven: {}, ends: 1, unseenMilliseconds: 20 }), /1 process has ended\..* at most 0\.02 s\./);
  assert.match(say({ feedGap: 0, uneven: {}, ends: 3, unseenMilliseconds: 1240 }), /3 processes have ended\..* at most 1\.24 s in sum\./);
});

test('a partition has the number of its owner, and it is seen that it has none or two', () => {
  assert.deepEqual(ownerCell(['barrage-fanout-2'], 'barrage-fanout'), { text: '2', tone: 'one' });
  assert.deepEqual(ownerCell(['barrage-fanout-1', 'barrage-fanout-2'], 'barrage-fanout'), { text: '1 2', tone: 'several' });
  assert.deepEqual(ownerCell([], 'barrage-fanout'), { text: '–', tone: 'none' });
  assert.equal(ownerCell(['other'], 'barrage-fanout').text, 'other');
});

test('samples are added, the oldest go, and a tool that began again replaces them', () => {
  const known = Array.from({ length: 900 }, (_, at) => ({ at }));
  const merged = mergeSamples(known, { next: 901, samples: [{ at: 900 }] }, 900);
  assert.deepEqual([merged.length, merged[0].at, merged.at(-1).at], [900, 1, 900]);
  assert.deepEqual(mergeSamples(known, { next: 1, samples: [{ at: 0 }] }, 900), [{ at: 0 }]);
});

test('every class and reason of drops has a name in the charts', () => {
  const sources = fileURLToPath(new URL('../../../../Sources/', import.meta.url));
  const cases = (file, type) => readFileSync(sources + file, 'utf8').split(`enum ${type}`)[1].split('\n}')[0].matchAll(/^    case (\w+)/gm);
  const classes = [...cases('Model/PlazaModel/Feed/FeedContent.swift', 'FeedClass')].map(([, name]) => name);
  const reasons = [...cases('Services/Barrage/Core/Ledger.swift', 'DropReason')].map(([, name]) => name);
  assert.deepEqual([...dropClasses].sort(), classes.sort());
  assert.deepEqual([...dropReasons].sort(), [...reasons, 'slowReader'].sort());
  for (const name of dropClasses) assert.ok(`ops.class.${name}` in en, name);
  for (const name of dropReasons) assert.ok(`ops.reason.${name}` in en, name);
});

test('every counter of a live has a name, and one of a thing is not several', () => {
  for (const name of ['count', ...Object.keys(statistics({}))]) assert.ok(`ops.counter.${name}` in en, name);
  assert.equal(t('ops.owns', { machine: 'barrage', count: 1 }), 'barrage: 1 partition');
  assert.equal(t('ops.owns', { machine: 'barrage', count: 2 }), 'barrage: 2 partitions');
});
