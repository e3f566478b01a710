// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { Disposer, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { onLanguage, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { openPerson } from './sheets.js';

/** The delay from a change of the audience to the drawing of the list, in milliseconds: changes are frequent. */
const calm = 400;

/** The list of viewers, the owner first. */
export class AudiencePanel extends Disposer {
  #timer = 0;

  constructor(page) {
    super();
    this.page = page;
    this.element = h('ul', { class: 'people' });
    this.rows = new KeyedList(this.element);
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
    const people = [[currentLive.liveOwner, 'live.host'],
      ...others.map((user) => [user, admins.has(user.userID) ? 'live.admin' : undefined])];
    const rows = people.map(([user, role]) => [user.userID, [user, role], () => row(this.page, user, role)]);
    const hint = others.length === 0 ? 'audience.empty' : others.length >= 200 && 'audience.first';
    if (hint) rows.push(['', hint, () => h('li', { class: 'blank' }, t(hint, { count: 200 }))]);
    this.rows.show(rows);
  }
}

function row(page, user, role) {
  const badge = role && h('span', { class: `badge ${role === 'live.host' ? 'hot' : 'second'}` }, t(role));
  return h('li', {}, h('button', { class: 'person', type: 'button', on: { click: () => openPerson(page, user) } },
    avatar(user), h('span', { class: 'person-name' }, nameOf(user)), badge));
}
