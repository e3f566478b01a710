// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makePage } from '../support/fake-page.js';
import { textsOf } from '../support/texts.js';

makePage();
const [en, zh] = [textsOf('en'), textsOf('zh')];

const root = fileURLToPath(new URL('../../pages/', import.meta.url));
const names = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();

test('both languages have the same texts, with the same values in them', () => {
  const keys = Object.keys(en).filter((key) => !key.endsWith('.one')).sort();
  assert.deepEqual(Object.keys(zh).sort(), keys);
  for (const key of keys) assert.deepEqual(names(zh[key]), names(en[key]), key);
});

test('every key that the pages name has a text', () => {
  const files = readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.js') && !name.includes('fixture'));
  const prefixes = new Set(Object.keys(en).map((key) => key.split('.')[0]));
  const known = (key) => key in en || `${key}.other` in en;
  for (const file of files) {
    const source = readFileSync(root + file, 'utf8');
    for (const [, key] of source.matchAll(/(?<!call\()'([a-z]+\.[a-zA-Z0-9.]+)'/g)) {
      if (prefixes.has(key.split('.')[0])) assert.ok(known(key), `${file} names ${key}`);
    }
  }
});

test('nothing on the pages is parsed as markup or as code', () => {
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|createContextualFragment/;
  for (const file of readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.js'))) {
    assert.doesNotMatch(readFileSync(root + file, 'utf8'), forbidden, file);
  }
});
