// SPDX-License-Identifier: Apache-2.0
import { nameOf } from '../lib/format.js';
import { hasText, t } from '../lib/i18n.js';

/** The categories for which these pages have names. Categories are numbers of the app; others are shown as numbers. */
export const categories = [0, 1, 2, 3, 4, 5];

/** @param {number | undefined} category undefined for all categories */
export function categoryName(category) {
  if (category === undefined) return t('plaza.all');
  return hasText(`category.${category}`) ? t(`category.${category}`) : t('category.other', { number: category });
}

/** Whether name, id or host of a live contain all words of a query. Case and character width are ignored. */
export function matches(info, query) {
  const plain = (text) => text.normalize('NFKC').toLowerCase();
  const text = plain(`${info.liveName} ${info.liveID} ${nameOf(info.liveOwner)}`);
  return plain(query).split(/\s+/).filter(Boolean).every((word) => text.includes(word));
}
