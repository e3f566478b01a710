// SPDX-License-Identifier: Apache-2.0
import { giftIcon } from '../effects/gift-show.js';
import { fill, h } from '../lib/dom.js';
import { language, t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';
import { words } from '../session/session.js';

/** For each live, the language in which its gifts were read. @type {WeakMap<object, string>} */
const readIn = new WeakMap();

/** Opens the dialog in which the user chooses and sends a gift. */
export function openGifts(page) {
  const { gift } = page.stores;
  const body = h('div', {});
  const sheet = openSheet({ t: 'gift.title' }, body);
  const say = (role, ...content) => fill(body, h('div', { class: 'blank', role }, ...content));
  const show = async () => {
    const hadFocus = body.contains(document.activeElement);
    // The content with the focus is replaced. If the user has moved the focus meanwhile, it stays there.
    const giveFocus = (selector) => {
      if (hadFocus && [document.body, sheet].includes(document.activeElement)) body.querySelector(selector).focus();
    };
    if (!gift.state.isGiftEnabled) return say('status', t('gift.off'));
    try {
      if (readIn.get(gift) !== language() || gift.state.usableGifts.length === 0) {
        say('status', t('gift.loading'));
        await readGifts(gift);
      }
    } catch (error) {
      say('alert', h('p', {}, t('gift.notRead', { reason: words(error) })), h('button', { class: 'button', type: 'button', t: 'plaza.retry', on: { click: show } }));
      return giveFocus('button');
    }
    const gifts = gift.state.usableGifts.flatMap(({ giftList }) => giftList);
    if (gifts.length === 0) return say('status', t('gift.none'));
    fill(body, ...chooser(page, sheet, gifts));
    giveFocus('[tabindex="0"]');
  };
  void show();
}

/** Reads the app's gifts in the language of the page. */
async function readGifts(gift) {
  const wanted = language();
  gift.setLanguage(wanted);
  await gift.refreshUsableGifts();
  readIn.set(gift, wanted);
}

/** Makes the list of gifts and the button that sends the chosen one. */
function chooser(page, sheet, gifts) {
  let chosen;
  const choose = (gift, focus) => {
    chosen = gift;
    for (const button of buttons) {
      const isChosen = button.dataset.gift === gift.giftID;
      button.setAttribute('aria-checked', String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      if (isChosen && focus) button.focus();
    }
  };
  const buttons = gifts.map((gift, index) => h('button', {
    class: 'gift', type: 'button', role: 'radio', data: { gift: gift.giftID },
    on: {
      click: () => choose(gift),
      keydown: (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        choose(gifts[(index + step + gifts.length) % gifts.length], true);
      },
    },
  }, giftIcon(gift), h('span', {}, gift.name), h('span', { class: 'quiet numbers' }, t('gift.coins', { count: gift.coins }))));
  const count = h('select', { class: 'input', label: 'gift.count' }, ...[1, 5, 10, 66, 99].map((number) => h('option', { value: number }, `× ${number}`)));
  count.style.width = 'auto';
  const send = h('button', { class: 'button primary', type: 'button', t: 'gift.send', on: { click: async () => {
    // Each call sends and charges one gift, so a double click or a held key must not make a second call.
    if (send.ariaDisabled === 'true') return;
    send.ariaDisabled = 'true';
    try {
      await page.stores.gift.sendGift({ giftID: chosen.giftID, count: Number(count.value) });
      sheet.close();
    } catch (error) {
      page.shell.fail(error);
      send.ariaDisabled = 'false';
    }
  } } });
  choose(gifts[0]);
  return [h('div', { class: 'gifts', role: 'radiogroup', label: 'gift.title' }, ...buttons),
    h('div', { class: 'sheet-foot' }, count, send)];
}
