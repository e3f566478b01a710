// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
const { endingWords, words } = await import('../../pages/session/session.js');
const { PlazaError } = await import('../../src/index.js');

/** The codes and names of `ReplyCode`, read from the Swift source. */
const source = readFileSync(new URL('../../../../Sources/Model/PlazaModel/Calls/ReplyCode.swift', import.meta.url), 'utf8');
const table = /names: \[Int: String\] = \[([^\]]*)\]/.exec(source)[1];
const codes = [...table.matchAll(/(-?\d+): "(\w+)"/g)].map(([, code, name]) => [Number(code), name]);

for (const language of ['en', 'zh']) {
  test(`every code by which a call fails has words: ${language}`, async () => {
    await showLanguage(language);
    assert.ok(codes.length > 70, `only ${codes.length} codes were found`);
    for (const [code, name] of codes) {
      const said = words({ code, codeName: name });
      assert.ok(!said.includes(String(code)) && !said.startsWith('error.'), `${name}: ${said}`);
    }
  });

  test(`every end of a session has words of its own, also where the server only closes the connection: ${language}`, async () => {
    await showLanguage(language);
    const said = new Set();
    for (const code of [1006, 4100, 4101, 4102, 4103, 4104, 4105, 4106]) {
      said.add(endingWords({ code, error: new PlazaError(-1, `the connection ended with code ${code}`) }));
    }
    assert.equal(said.size, 8, [...said].join('\n'));
    for (const text of said) assert.ok(!/\d|error\./.test(text) && text !== words({ code: -1, codeName: 'failed' }), text);
  });
}

test('an end of a later version says its code, and one without a code its error', async () => {
  await showLanguage('en');
  assert.match(endingWords({ code: 4150, error: new PlazaError(-1, 'the connection ended with code 4150') }), /4150/);
  assert.equal(endingWords({ code: 1000, error: new PlazaError(100016, 'banned') }), words({ codeName: 'banned' }));
});

test('what a browser says in its own words when nothing could be loaded is said in words of the page', async () => {
  await showLanguage('zh');
  const messages = [
    'Failed to fetch', 'Failed to fetch dynamically imported module: http://page/pages/a.js', 'Load failed',
    'Importing a module script failed.',
    'NetworkError when attempting to fetch resource.',
    'error loading dynamically imported module: http://page/pages/a.js',
  ];
  for (const message of messages) assert.equal(words(new TypeError(message)), '连接已断开', message);
  for (const fault of ['x is not a function', "Cannot read properties of undefined (reading 'load')", 'this.fetch is not a function', 'imported is null']) {
    assert.ok(words(new TypeError(fault)).includes(fault), 'a fault of the page is none of the connection');
  }
});
