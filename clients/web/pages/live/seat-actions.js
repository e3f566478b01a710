// SPDX-License-Identifier: Apache-2.0
import { Disposer, fill, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';

/** How long an application waits, in seconds. */
const waits = 60;

/** What a viewer does about seats: ask for one, answer an invitation, leave, and close its own microphone. */
export class SeatActions extends Disposer {
  #isWaiting = false;
  #timer = 0;
  #endInvitation = () => {};

  constructor(page) {
    super();
    this.page = page;
    this.element = h('div', { class: 'actions' });
    const { stores } = page;
    this.add(stores.seat.select(({ seatList }) => seatList, () => this.#draw()));
    this.add(page.list.select(({ currentLive }) => currentLive.seatMode, () => this.#draw()));
    this.add(onLanguage(() => this.#draw()));
    this.add(() => clearTimeout(this.#timer));
    this.add(() => this.#endInvitation());
    const { coGuest, seat } = stores;
    this.listen(coGuest, 'onGuestApplicationResponded', ({ detail }) => this.#answered(detail.isAccept ? 'seat.accepted' : 'seat.rejected'));
    this.listen(coGuest, 'onGuestApplicationNoResponse', () => this.#answered('seat.noAnswer'));
    this.listen(coGuest, 'onKickedOffSeat', () => this.#say('seat.kicked'));
    this.listen(coGuest, 'onHostInvitationReceived', ({ detail }) => this.#invited(detail));
    this.listen(coGuest, 'onHostInvitationCancelled', () => this.#endInvitation());
    this.listen(seat, 'onLocalMicrophoneClosedByAdmin', () => this.#say('seat.micClosed'));
    this.listen(seat, 'onLocalMicrophoneOpenedByAdmin', () => this.#say('seat.micOpened'));
    this.listen(seat, 'onLocalCameraClosedByAdmin', () => this.#say('seat.cameraClosed'));
    this.listen(seat, 'onLocalCameraOpenedByAdmin', () => this.#say('seat.cameraOpened'));
  }

  /** The user's own seat, if it sits in this live. */
  get ownSeat() {
    const self = this.page.shell.session.user?.userID;
    return this.page.stores.seat.state.seatList.find(({ liveID, userInfo }) => liveID === this.page.liveID && userInfo.userID === self);
  }

  /** An empty seat of the stage was chosen. */
  chosen(seat) {
    if (this.page.isHost) return this.#hostChose(seat);
    if (seat.isLocked) return this.page.shell.say(t('seat.locked', { number: seat.index + 1 }));
    if (this.ownSeat) return this.#try(() => this.page.stores.seat.moveUserToSeat({ userID: this.ownSeat.userInfo.userID, targetIndex: seat.index }));
    return this.#take(seat.index);
  }

  #hostChose(seat) {
    const { stores } = this.page;
    const number = seat.index + 1;
    const act = (action) => async () => {
      sheet.close();
      await this.#try(action);
    };
    const lock = h('button', { class: 'button', type: 'button', on: { click: act(() => (seat.isLocked ? stores.seat.unlockSeat({ seatIndex: seat.index }) : stores.seat.lockSeat({ seatIndex: seat.index }))) } },
      icon('lock'), t(seat.isLocked ? 'host.unlockSeat' : 'host.lockSeat', { number }));
    const sheet = openSheet(t('seat.empty', { number }), h('div', { class: 'actions' }, lock));
  }

  async #take(seatIndex = -1) {
    await this.#try(async () => {
      const { index } = await this.page.stores.seat.takeSeat({ seatIndex });
      if (index !== undefined) return this.#say('seat.accepted');
      this.#isWaiting = true;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#answered(), (waits + 5) * 1000);
      this.#say('seat.waiting');
      this.#draw();
    });
  }

  #answered(key) {
    this.#isWaiting = false;
    clearTimeout(this.#timer);
    if (key) this.#say(key);
    this.#draw();
  }

  #invited({ hostUser }) {
    const { coGuest } = this.page.stores;
    this.#endInvitation();
    this.#endInvitation = this.page.shell.say(t('seat.invited', { name: nameOf(hostUser) }), { actions: [
      { text: t('seat.accept'), isPrimary: true, run: () => this.#try(() => coGuest.acceptInvitation({ inviterID: hostUser.userID })) },
      { text: t('seat.reject'), run: () => this.#try(() => coGuest.rejectInvitation({ inviterID: hostUser.userID })) },
    ] });
  }

  #say(key) {
    this.page.shell.say(t(key));
  }

  async #try(action) {
    try {
      await action();
    } catch (error) {
      this.page.shell.fail(error);
    }
  }

  #draw() {
    const seat = this.ownSeat;
    const { seatMode, maxSeatCount } = this.page.list.state.currentLive;
    const { seatList } = this.page.stores.seat.state;
    if (seat) this.#isWaiting = false;
    const { stores } = this.page;
    if (seat) {
      const isOn = seat.userInfo.microphoneStatus === 'on';
      const mic = h('button', { class: 'button round', type: 'button', 'aria-label': t(isOn ? 'seat.micOff' : 'seat.micOn'), 'aria-pressed': String(isOn),
        on: { click: () => this.#try(() => (isOn ? stores.seat.muteMicrophone() : stores.seat.unmuteMicrophone())) } }, icon(isOn ? 'mic' : 'micOff'));
      const leave = this.page.role === 'owner' ? undefined : h('button', { class: 'button danger', type: 'button', on: { click: () => this.#try(() => stores.seat.leaveSeat()) } }, icon('leave'), h('span', { class: 'wide-text' }, t('seat.leave')));
      return fill(this.element, mic, leave);
    }
    if (this.page.role === 'owner' || (seatList.length === 0 && maxSeatCount === 0)) return fill(this.element);
    if (this.#isWaiting) {
      return fill(this.element, h('button', { class: 'button', type: 'button', on: { click: () => this.#try(async () => {
        await stores.coGuest.cancelApplication();
        this.#answered();
      }) } }, icon('close'), h('span', { class: 'wide-text' }, t('seat.cancel'))));
    }
    const label = t(seatMode === 'free' || this.page.isHost ? 'seat.takeFree' : 'seat.take');
    return fill(this.element, h('button', { class: 'button primary', type: 'button', on: { click: () => this.#take() } }, icon('seat'), h('span', { class: 'wide-text' }, label)));
  }
}
