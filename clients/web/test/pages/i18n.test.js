// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';

makePage();
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['de-DE', 'zh-CN', 'en-GB'] }, configurable: true });

const texts = { en: { 'a.b': 'one {name}', 'error.textsNotLoaded': 'no texts' },
  zh: { 'a.b': '一 {name}', 'error.textsNotLoaded': '没有文字' } };
let copies = 0;

/** The module of the texts as on a newly opened page, and a server that replies when the test says so. */
async function make() {
  const asked = [];
  globalThis.fetch = (path) => new Promise((resolve, reject) => asked.push({
    path,
    give: () => resolve(new Response(JSON.stringify(texts[/(\w+)\.json$/.exec(path)[1]]))),
    refuse: () => resolve(new Response('', { status: 503 })),
    cut: () => resolve(new Response('{"a.b": "on')),
    lose: () => reject(new TypeError('Failed to fetch')),
  }));
  const i18n = await import(`../../pages/lib/i18n.js?copy=${(copies += 1)}`);
  return { ...i18n, asked, paths: () => asked.map(({ path }) => path) };
}

test('only the language that is shown is loaded, and the other one once, when it is chosen', async () => {
  const { startLanguage, setLanguage, language, t, asked, paths } = await make();
  const started = startLanguage('en');
  assert.deepEqual(paths(), ['/pages/texts/en.json'], 'asked for at once');
  asked[0].give();
  await started;
  assert.equal(t('a.b', { name: 'x' }), 'one x');
  const chosen = setLanguage('zh');
  assert.equal(language(), 'en', 'the first language is shown until the other one is there');
  asked[1].give();
  await chosen;
  assert.equal(t('a.b', { name: 'x' }), '一 x');
  assert.equal(document.documentElement.lang, 'zh-Hans');
  await setLanguage('en');
  await setLanguage('zh');
  assert.deepEqual(paths(), ['/pages/texts/en.json', '/pages/texts/zh.json']);
});

test('a browser begins with the first of its languages that the pages have', async () => {
  const { startLanguage, asked, paths } = await make();
  const started = startLanguage(undefined);
  asked[0].give();
  await started;
  assert.deepEqual(paths(), ['/pages/texts/zh.json']);
});

for (const fault of ['refuse', 'cut', 'lose']) {
  test(`a page whose language cannot be loaded begins with the other one: ${fault}`, async () => {
    const { startLanguage, language, t, asked, paths } = await make();
    const started = startLanguage('zh');
    asked[0][fault]();
    await settle();
    asked[1].give();
    await started;
    assert.deepEqual(paths(), ['/pages/texts/zh.json', '/pages/texts/en.json']);
    assert.deepEqual([language(), t('a.b', { name: 'x' })], ['en', 'one x']);
  });
}

test('a page without any texts does not begin, and a later try loads them', async () => {
  const { startLanguage, t, asked } = await make();
  const started = startLanguage('en');
  asked[0].lose();
  await settle();
  asked[1].lose();
  await assert.rejects(started, { codeName: 'textsNotLoaded' });
  const again = startLanguage('en');
  asked[2].give();
  await again;
  assert.equal(t('a.b', { name: 'x' }), 'one x');
});

test('a language that cannot be loaded leaves the one that is shown, and the reason has words', async () => {
  const { startLanguage, setLanguage, language, hasText, asked } = await make();
  const started = startLanguage('en');
  asked[0].give();
  await started;
  const chosen = setLanguage('zh');
  asked[1].lose();
  const error = await chosen.then(() => undefined, (reason) => reason);
  assert.equal(language(), 'en');
  assert.ok(hasText(`error.${error.codeName}`), error.message);
});

test('of two languages that are chosen one after the other the last one is shown, whichever comes first', async () => {
  const { startLanguage, setLanguage, language, onLanguage, asked } = await make();
  const started = startLanguage('en');
  asked[0].give();
  await started;
  const shown = [];
  onLanguage((name) => shown.push(name));
  const slow = setLanguage('zh');
  await setLanguage('en');
  asked[1].give();
  await slow;
  assert.equal(language(), 'en');
  assert.deepEqual(shown, ['en']);
});
