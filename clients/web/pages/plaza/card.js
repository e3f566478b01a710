// SPDX-License-Identifier: Apache-2.0
import { hueClass, image, imageAddress } from '../lib/avatar.js';
import { fill, h, setText } from '../lib/dom.js';
import { compactCount, initials, nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { language, t } from '../lib/i18n.js';
import { placeAddress } from '../lib/router.js';
import { voiceTemplates } from '../stage/stage-plan.js';
import { categoryName } from './search.js';

/** The card of a live. */
export function card(info) {
  const element = h('a', { class: `card ${hueClass(info.liveID)}`, href: placeAddress({ page: 'live', live: info.liveID }) });
  updateCard(element, info);
  return element;
}

/** Updates the card of a live. An unchanged picture is not loaded again. */
export function updateCard(element, info) {
  const link = element.querySelector('a') ?? element;
  const title = info.liveName || info.liveID;
  const host = nameOf(info.liveOwner);
  const state = { 1: 'plaza.scheduled', 3: 'plaza.away' }[info.status];
  const kind = state ? t(state) : voiceTemplates.has(info.seatTemplate) ? t('plaza.voice') : categoryName(info.categoryList[0]);
  const signature = JSON.stringify([title, host, info.coverURL, state, kind]);
  if (link.dataset.signature !== signature) {
    link.dataset.signature = signature;
    const cover = imageAddress(info.coverURL);
    fill(link, h('span', { class: 'card-sign', 'aria-hidden': 'true' }, initials(title)), cover && image(cover),
      h('span', { class: 'card-top' },
        h('span', { class: `badge${state ? '' : ' hot'}` }, icon('eye'), h('span', { class: 'numbers', data: { part: 'count' } })),
        h('span', { class: 'badge' }, kind)),
      h('span', { class: 'card-body' }, h('span', { class: 'card-title' }, title), h('span', { class: 'card-host' }, host)));
  }
  const shown = compactCount(info.audienceCount, language());
  setText(link.querySelector('[data-part="count"]'), shown);
  link.setAttribute('aria-label', `${title}, ${host}, ${t('plaza.watching', { count: info.audienceCount, shown })}`);
}
