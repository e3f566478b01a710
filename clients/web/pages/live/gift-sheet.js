// SPDX-License-Identifier: Apache-2.0
import { giftIcon } from '../effects/gift-show.js';
import { h } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';

/** Lets the user choose and send a gift. */
export function openGifts(page) {
  const { usableGifts, isGiftEnabled } = page.stores.gift.state;
  const all = usableGifts.flatMap(({ giftList }) => giftList);
  if (!isGiftEnabled || all.length === 0) {
    openSheet({ t: 'gift.title' }, h('p', { class: 'blank', t: isGiftEnabled ? 'gift.none' : 'gift.off' }));
    return;
  }
  let chosen = all[0];
  const choose = (gift, focus) => {
    chosen = gift;
    for (const button of buttons) {
      const isChosen = button.dataset.gift === gift.giftID;
      button.setAttribute('aria-checked', String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      if (isChosen && focus) button.focus();
    }
  };
  const buttons = all.map((gift, index) => h('button', {
    class: 'gift', type: 'button', role: 'radio', data: { gift: gift.giftID },
    on: {
      click: () => choose(gift),
      keydown: (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        choose(all[(index + step + all.length) % all.length], true);
      },
    },
  }, giftIcon(gift), h('span', {}, gift.name), h('span', { class: 'quiet numbers' }, t('gift.coins', { count: gift.coins }))));
  const count = h('select', { class: 'input', label: 'gift.count' }, ...[1, 5, 10, 66, 99].map((number) => h('option', { value: number }, `× ${number}`)));
  count.style.width = 'auto';
  const send = h('button', { class: 'button primary', type: 'button', t: 'gift.send', on: { click: async () => {
    try {
      await page.stores.gift.sendGift({ giftID: chosen.giftID, count: Number(count.value) });
      sheet.close();
    } catch (error) {
      page.shell.fail(error);
    }
  } } });
  const sheet = openSheet({ t: 'gift.title' },
    h('div', { class: 'gifts', role: 'radiogroup', label: 'gift.title' }, ...buttons), h('div', { class: 'sheet-foot' }, count, send));
  choose(all[0]);
}
