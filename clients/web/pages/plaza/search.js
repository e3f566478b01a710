// SPDX-License-Identifier: Apache-2.0
import { nameOf } from '../lib/format.js';
import { hasText, t } from '../lib/i18n.js';

/** The categories that these pages name. They are numbers of the app's own; others have their number as a name. */
export const categories = [0, 1, 2, 3, 4, 5];

/** @param {number | undefined} category undefined: all */
export function categoryName(category) {
  if (category === undefined) return t('plaza.all');
  return hasText(`category.${category}`) ? t(`category.${category}`) : t('category.other', { number: category });
}

/** Whether a live's name, id or host contains all words of a query. Width and case of the signs do not matter. */
export function matches(info, query) {
  const plain = (text) => text.normalize('NFKC').toLowerCase();
  const text = plain(`${info.liveName} ${info.liveID} ${nameOf(info.liveOwner)}`);
  return plain(query).split(/\s+/).filter(Boolean).every((word) => text.includes(word));
}
