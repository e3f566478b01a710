// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { files } from './support/conformance.js';

const text = readFileSync(new URL('../../../docs/RULES.md', import.meta.url), 'utf8');
const rules = new Map([...text.matchAll(/^\| (R\d+\.\d+) \| (.*)/gm)].map(([, number, row]) => [number, row.split(' | ')]));

/** The client rules that have no case, and why. */
const without = new Map([
  ['R2.26', 'needs a token provider: test/connection/renewal.test.js'],
  ['R7.19', 'the media layer is not part of this SDK'],
  ['R16.2', 'such codes are never given here'],
  ['R16.6', 'such codes are never given here'],
]);

describe('the rules', () => {
  it('that conformance cases name exist', () => {
    assert.ok(rules.size > 200);
    for (const file of files) for (const rule of file.rules) assert.ok(rules.has(rule), `${file.name} names ${rule}`);
  });

  it('of clients are shown by a case', () => {
    const named = new Set(files.flatMap((file) => file.rules));
    for (const [number, row] of rules) {
      if (row.at(-2)?.trim() !== 'client' && !row.includes('client')) continue;
      assert.ok(named.has(number) !== without.has(number), `${number}: ${row[0]}`);
    }
  });

  it('have cases with names of their own', () => {
    const names = files.flatMap((file) => file.cases.map((one) => `${file.name}: ${one.name}`));
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.length > 100);
  });
});
