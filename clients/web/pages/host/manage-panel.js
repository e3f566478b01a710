// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { Disposer, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { openSheet } from '../lib/sheet.js';
import { CoHostSection } from './co-host-section.js';
import { openPerson } from './person-sheet.js';
import { SeatList } from './seat-list.js';

/** The maximum number of applications shown as dialogs over the page at once; the panel lists all of them. */
const mostAsked = 3;

/**
 * The panel for owner and admins: applications, guests and the live's rules; for the owner also co-hosts, battles and
 * the end of the live.
 */
export class ManagePanel extends Disposer {
  /** For each applicant, the function that removes the dialog about it. @type {Map<string, () => void>} */
  #asked = new Map();

  constructor(page) {
    super();
    this.page = page;
    const { stores, list } = page;
    this.applications = new KeyedList(h('ul', {}));
    this.guests = new KeyedList(h('ul', {}));
    this.muteAll = this.#toggle('host.muteAll', () => list.updateLiveInfo({ isMessageDisable: this.muteAll.checked }));
    this.giftsOn = this.#toggle('host.gifts', () => stores.gift.setGiftEnabled({ isEnabled: this.giftsOn.checked }));
    this.coHost = new CoHostSection(page);
    this.seats = new SeatList(page);
    for (const part of [this.coHost, this.seats]) this.add(() => part.dispose());
    this.add(() => this.#asked.forEach((end) => end()));
    this.end = h('button', { class: 'button danger', type: 'button', t: 'host.end', on: { click: () => this.#confirmEnd() } });
    this.element = h('div', { class: 'manage' },
      h('section', {}, h('h2', {}, icon('seat'), h('span', { t: 'host.applications' })), this.applications.element),
      h('section', {}, h('h2', {}, icon('users'), h('span', { t: 'host.guests' })), this.guests.element),
      this.seats.element,
      this.coHost.requests.element, this.coHost.element,
      h('section', {}, h('h2', {}, icon('shield'), h('span', { t: 'host.settings' })), this.muteAll.parentElement, this.giftsOn.parentElement),
      this.end);
    // The store also changes when viewers come and go, because of its candidates. These lists do not change then.
    this.add(stores.coGuest.select(({ applicants }) => applicants, () => this.#drawApplications()));
    this.add(stores.coGuest.select(({ connected }) => connected, () => this.#drawGuests()));
    this.add(list.select(({ currentLive }) => currentLive, () => this.#drawRules()));
    this.add(onLanguage(() => {
      this.#drawApplications();
      this.#drawGuests();
    }));
    const { coGuest } = stores;
    const say = (key) => ({ detail }) => page.isHost && page.shell.say(t(key, { name: nameOf(detail.guestUser) }));
    this.listen(coGuest, 'onGuestApplicationReceived', ({ detail }) => this.#applied(detail));
    this.listen(coGuest, 'onHostInvitationResponded', ({ detail }) => say(detail.isAccept ? 'host.answered' : 'host.declined')({ detail }));
    this.listen(coGuest, 'onHostInvitationNoResponse', say('host.unanswered'));
  }

  #toggle(key, change) {
    const input = h('input', { type: 'checkbox', role: 'switch', on: { change: () => this.#try(change) } });
    h('label', { class: 'switch' }, h('span', { t: key }), input);
    return input;
  }

  async #try(action) {
    try {
      await action();
    } catch (error) {
      this.page.shell.fail(error);
      this.#drawRules();
    }
  }

  #applied({ guestUser }) {
    const { coGuest } = this.page.stores;
    const { userID } = guestUser;
    this.#asked.get(userID)?.();
    if (this.#asked.size >= mostAsked) return;
    this.#asked.set(userID, this.page.shell.say(t('host.applies', { name: nameOf(guestUser) }), { actions: [
      { text: t('seat.accept'), isPrimary: true, run: () => this.#try(() => coGuest.acceptApplication({ userID })) },
      { text: t('seat.reject'), run: () => this.#try(() => coGuest.rejectApplication({ userID })) },
    ], gone: () => this.#asked.delete(userID) }));
  }

  #drawRules() {
    const { isMessageDisable, isGiftEnabled } = this.page.list.state.currentLive;
    this.muteAll.checked = isMessageDisable;
    this.giftsOn.checked = isGiftEnabled;
    this.end.hidden = this.page.role !== 'owner';
    this.coHost.element.hidden = this.page.role !== 'owner';
  }

  #drawApplications() {
    const { coGuest } = this.page.stores;
    const { applicants } = coGuest.state;
    // Users who are no longer applicants: another host has answered, or the viewer has cancelled.
    for (const [userID, end] of this.#asked) if (!applicants.some((user) => user.userID === userID)) end();
    const button = (key, className, run) => h('button', { class: `button tight ${className}`, type: 'button', on: { click: () => this.#try(run) } }, t(key));
    const rows = applicants.map((user) => [user.userID, user, () => h('li', { class: 'person' },
      avatar(user, 'small'), h('span', { class: 'person-name' }, nameOf(user)),
      button('seat.accept', 'primary', () => coGuest.acceptApplication({ userID: user.userID })),
      button('seat.reject', '', () => coGuest.rejectApplication({ userID: user.userID })))]);
    this.applications.show(rows, () => h('li', { class: 'blank', t: 'host.noApplications' }));
  }

  #drawGuests() {
    const guests = this.page.stores.coGuest.state.connected.filter(({ userID, role }) => role !== 'owner' && userID !== '');
    const rows = guests.map((user) => [user.userID, [user.userName, user.avatarURL], () => h('li', {},
      h('button', { class: 'person', type: 'button', on: { click: () => openPerson(this.page, user) } },
        avatar(user, 'small'), h('span', { class: 'person-name' }, nameOf(user)), icon('more')))]);
    this.guests.show(rows, () => h('li', { class: 'blank', t: 'host.noGuests' }));
  }

  #confirmEnd() {
    const sheet = openSheet({ t: 'host.endConfirm' }, h('div', { class: 'sheet-foot' },
      h('button', { class: 'button', type: 'button', t: 'host.keep', on: { click: () => sheet.close() } }),
      h('button', { class: 'button primary', type: 'button', t: 'host.endYes', on: { click: () => {
        sheet.close();
        void this.#try(() => this.page.list.endLive());
      } } })));
  }
}
