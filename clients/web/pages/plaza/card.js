// SPDX-License-Identifier: Apache-2.0
import { hueClass, image, imageAddress } from '../lib/avatar.js';
import { h, setText } from '../lib/dom.js';
import { compactCount, initials, nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { language, t } from '../lib/i18n.js';
import { placeAddress } from '../lib/router.js';
import { voiceTemplates } from '../stage/stage-plan.js';
import { categoryName } from './search.js';

/** A live's card. */
export function card(info) {
  const cover = imageAddress(info.coverURL);
  const title = info.liveName || info.liveID;
  const state = info.status === 3 ? 'plaza.away' : info.status === 1 ? 'plaza.scheduled' : undefined;
  const count = h('span', { class: 'numbers', data: { part: 'count' } });
  const element = h('a', { class: `card ${hueClass(info.liveID)}`, href: placeAddress({ page: 'live', live: info.liveID }) },
    h('span', { class: 'card-sign', 'aria-hidden': 'true' }, initials(title)), cover && image(cover),
    h('span', { class: 'card-top' },
      h('span', { class: `badge${state ? '' : ' hot'}` }, icon('eye'), count),
      state ? h('span', { class: 'badge' }, t(state))
        : h('span', { class: 'badge' }, voiceTemplates.has(info.seatTemplate) ? t('plaza.voice') : categoryName(info.categoryList[0]))),
    h('span', { class: 'card-body' }, h('span', { class: 'card-title' }, title), h('span', { class: 'card-host' }, nameOf(info.liveOwner))));
  updateCard(element, info);
  return element;
}

/** Shows a live's counts as they are now. */
export function updateCard(element, info) {
  const count = element.querySelector('[data-part="count"]');
  const shown = compactCount(info.audienceCount, language());
  setText(count, shown);
  const link = element.closest('a') ?? element.querySelector('a') ?? element;
  const watching = t('plaza.watching', { count: info.audienceCount, shown });
  link.setAttribute('aria-label', `${info.liveName || info.liveID}, ${nameOf(info.liveOwner)}, ${watching}`);
}
