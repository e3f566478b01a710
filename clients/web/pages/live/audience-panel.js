// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { Disposer, fill, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { onLanguage, t } from '../lib/i18n.js';
import { openPerson } from './sheets.js';

/** How long the list waits after a change before it is drawn, in milliseconds: many come and go. */
const calm = 400;

/** Who watches, the owner first. */
export class AudiencePanel extends Disposer {
  #timer = 0;

  constructor(page) {
    super();
    this.page = page;
    this.element = h('ul', { class: 'people' });
    this.add(page.stores.audience.subscribe(() => this.#later()));
    this.add(onLanguage(() => this.#draw()));
    this.add(() => clearTimeout(this.#timer));
    this.#draw();
  }

  #later() {
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.#draw();
    }, calm);
  }

  #draw() {
    const { currentLive } = this.page.list.state;
    const { audienceList } = this.page.stores.audience.state;
    const admins = new Set(currentLive.admins);
    const others = [...audienceList].sort((a, b) => Number(admins.has(b.userID)) - Number(admins.has(a.userID)));
    const rows = [row(this.page, currentLive.liveOwner, 'live.host'), ...others.map((user) => row(this.page, user, admins.has(user.userID) ? 'live.admin' : undefined))];
    if (others.length === 0) rows.push(h('li', { class: 'blank', t: 'audience.empty' }));
    if (others.length >= 200) rows.push(h('li', { class: 'blank' }, t('audience.first', { count: 200 })));
    fill(this.element, rows);
  }
}

function row(page, user, role) {
  const badge = role && h('span', { class: `badge ${role === 'live.host' ? 'hot' : 'second'}` }, t(role));
  return h('li', {}, h('button', { class: 'person', type: 'button', on: { click: () => openPerson(page, user) } },
    avatar(user), h('span', { class: 'person-name' }, nameOf(user)), badge));
}
