// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { openSheet } from '../lib/sheet.js';
import { keptInWindow } from '../lib/theme.js';

/** Opens a dialog about the signed-in user, with a button to sign out. */
export function openAccount({ shell: { session } }) {
  // The session may have ended during the load.
  if (!session.user) return;
  const { user } = session;
  const out = h('button', { class: 'button danger', type: 'button', t: 'sign.out', on: { click: async () => {
    sheet.close();
    keptInWindow.set('name', undefined);
    await session.login.logout().catch(() => {});
  } } });
  const sheet = openSheet({ t: 'nav.account' },
    h('div', { class: 'person' }, avatar(user), h('span', { class: 'person-name' }, nameOf(user))),
    h('p', { class: 'quiet small' }, user.userID), h('div', { class: 'sheet-foot' }, out));
}
