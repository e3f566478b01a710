// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { linePath, niceTop, thinned } from '../../pages/ops/chart-plan.js';
import { mergeSamples } from '../../pages/ops/cluster-source.js';
import { addTexts, t } from '../../pages/lib/i18n.js';
import en from '../../pages/texts/ops-en.js';
import zh from '../../pages/texts/ops-zh.js';
import { statistics } from '../../src/core/models.js';

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

test('samples are added, the oldest go, and a tool that began again replaces them', () => {
  const known = Array.from({ length: 900 }, (_, at) => ({ at }));
  const merged = mergeSamples(known, { next: 901, samples: [{ at: 900 }] }, 900);
  assert.deepEqual([merged.length, merged[0].at, merged.at(-1).at], [900, 1, 900]);
  assert.deepEqual(mergeSamples(known, { next: 1, samples: [{ at: 0 }] }, 900), [{ at: 0 }]);
});

test('the texts of the operators’ page are the same in both languages, and all are there', () => {
  const names = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
  // Chinese has one form for all numbers.
  const keys = Object.keys(en).filter((key) => !key.endsWith('.one'));
  assert.deepEqual(Object.keys(zh), keys);
  for (const key of keys) assert.deepEqual(names(zh[key]), names(en[key]), key);
  const root = fileURLToPath(new URL('../../pages/ops/', import.meta.url));
  for (const file of readdirSync(root).filter((name) => name.endsWith('.js'))) {
    for (const [, key] of readFileSync(root + file, 'utf8').matchAll(/'(ops\.[a-zA-Z0-9.]+)'/g)) assert.ok(key in en || `${key}.other` in en, `${file} names ${key}`);
  }
});

test('every counter of a live has a name, and one of a thing is not several', () => {
  for (const name of ['count', ...Object.keys(statistics({}))]) assert.ok(`ops.counter.${name}` in en, name);
  addTexts({ en, zh });
  assert.equal(t('ops.owns', { machine: 'barrage', count: 1 }), 'barrage: 1 partition');
  assert.equal(t('ops.owns', { machine: 'barrage', count: 2 }), 'barrage: 2 partitions');
});
