// SPDX-License-Identifier: Apache-2.0
import { Disposer, fill, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { voiceTemplates } from '../stage/stage-plan.js';
import { openSeat, speak } from './sheets.js';

/** How long an application waits, in seconds. */
const waits = 60;

/** What a user does about seats: ask for one, answer an invitation, leave, and switch its own microphone and camera. */
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
    if (this.page.isHost) return openSeat(this.page, seat);
    if (seat.isLocked) return this.page.shell.say(t('seat.locked', { number: seat.index + 1 }));
    if (this.ownSeat) return this.#try(() => this.page.stores.seat.moveUserToSeat({ userID: this.ownSeat.userInfo.userID, targetIndex: seat.index }));
    return this.#take(seat.index);
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

  #invited({ hostUser, expiresAt }) {
    const { coGuest } = this.page.stores;
    const left = Math.max(3000, expiresAt * 1000 - this.page.shell.session.plaza.serverTime);
    this.#endInvitation();
    this.#endInvitation = this.page.shell.say(t('seat.invited', { name: nameOf(hostUser) }), { lasts: left, actions: [
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

  /** A button that switches a device; its name is that of the icon and of the texts. */
  #device(name, isOn, change) {
    return h('button', { class: 'button round', type: 'button', 'aria-label': t(`seat.${name}${isOn ? 'Off' : 'On'}`), 'aria-pressed': String(isOn),
      on: { click: () => this.#try(() => change(!isOn)) } }, icon(isOn ? name : `${name}Off`));
  }

  #draw() {
    const seat = this.ownSeat;
    const { seatMode, seatTemplate, maxSeatCount } = this.page.list.state.currentLive;
    const { seatList } = this.page.stores.seat.state;
    if (seat) this.#isWaiting = false;
    const { stores } = this.page;
    if (seat) {
      const { microphoneStatus, cameraStatus } = seat.userInfo;
      const mic = this.#device('mic', microphoneStatus === 'on', (isOn) => (isOn ? speak(this.page) : stores.seat.muteMicrophone()));
      const camera = !voiceTemplates.has(seatTemplate) && this.#device('camera', cameraStatus === 'on', (isOn) => stores.seat.reportCamera({ isOn }));
      const leave = this.page.role === 'owner' ? undefined : h('button', { class: 'button danger', type: 'button', on: { click: () => this.#try(() => stores.seat.leaveSeat()) } }, icon('leave'), h('span', { class: 'wide-text' }, t('seat.leave')));
      return fill(this.element, mic, camera, leave);
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
