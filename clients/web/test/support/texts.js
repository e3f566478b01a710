// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { setLanguage } from '../../pages/lib/i18n.js';

const root = new URL('../../', import.meta.url);

/** The texts of a language, by key. */
export const textsOf = (language) => JSON.parse(readFileSync(new URL(`pages/texts/${language}.json`, root), 'utf8'));

/** Shows a language on the page of `makePage`; the texts are served as by a gateway. */
export async function showLanguage(language = 'en') {
  const { fetch } = globalThis;
  globalThis.fetch = async (path) => new Response(readFileSync(new URL(path.slice(1), root)));
  try {
    await setLanguage(language);
  } finally {
    globalThis.fetch = fetch;
  }
}
