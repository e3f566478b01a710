// SPDX-License-Identifier: Apache-2.0
import { Disposer, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { keptInWindow } from '../lib/theme.js';
import { voiceTemplates } from '../stage/stage-plan.js';
import { openSeat, speak } from './sheets.js';

/** How long an application stays open, in seconds. */
const waits = 60;

/** The user's actions about seats: apply, answer an invitation, leave, and switch microphone and camera. */
export class SeatActions extends Disposer {
  #isWaiting = false;
  #timer = 0;
  /** The invitation that is shown: the host, the buttons, and the function that removes its dialog. */
  #invitation;

  constructor(page) {
    super();
    this.page = page;
    this.element = h('div', { class: 'actions' });
    this.buttons = new KeyedList(this.element);
    const { stores } = page;
    this.add(stores.seat.select(({ seatList }) => seatList, () => this.#draw()));
    for (const part of ['seatMode', 'admins']) this.add(page.list.select(({ currentLive }) => currentLive[part], () => this.#draw()));
    this.add(onLanguage(() => this.#draw()));
    this.add(() => clearTimeout(this.#timer));
    this.add(() => this.#invitation?.end());
    const { coGuest, seat } = stores;
    this.listen(coGuest, 'onGuestApplicationResponded', ({ detail }) => this.#answered(detail.isAccept ? 'seat.accepted' : 'seat.rejected'));
    this.listen(coGuest, 'onGuestApplicationNoResponse', () => this.#answered('seat.noAnswer'));
    this.listen(coGuest, 'onKickedOffSeat', () => this.#say('seat.kicked'));
    this.listen(coGuest, 'onHostInvitationReceived', ({ detail }) => this.#invited(detail));
    this.listen(coGuest, 'onHostInvitationCancelled', ({ detail }) => {
      if (detail.hostUser.userID === this.#invitation?.hostID) this.#invitation.end();
    });
    this.listen(seat, 'onLocalMicrophoneClosedByAdmin', () => this.#say('seat.micClosed'));
    this.listen(seat, 'onLocalMicrophoneOpenedByAdmin', () => this.#say('seat.micOpened'));
    this.listen(seat, 'onLocalCameraClosedByAdmin', () => this.#say('seat.cameraClosed'));
    this.listen(seat, 'onLocalCameraOpenedByAdmin', () => this.#say('seat.cameraOpened'));
    if (keptInWindow.get('seatIn') === page.liveID) this.#say('seat.reloaded');
    keptInWindow.set('seatIn');
  }

  /** The user's own seat in this live, if any. */
  get ownSeat() {
    const self = this.page.shell.session.user?.userID;
    return this.page.stores.seat.state.seatList.find(({ liveID, userInfo }) => liveID === this.page.liveID && userInfo.userID === self);
  }

  /**
   * Leaves the seat because the page is closed or reloaded. After a reload, the next page tells the user about it.
   */
  keepPlace() {
    if (!this.page.isGone && this.page.role !== 'owner' && this.ownSeat) keptInWindow.set('seatIn', this.page.liveID);
  }

  /** Handles the choice of an empty seat on the stage. */
  chosen(seat) {
    if (this.page.isHost) return openSeat(this.page, seat);
    if (seat.isLocked) return this.page.shell.say(t('seat.locked', { number: seat.index + 1 }));
    return this.sit(seat);
  }

  /** Takes a seat, or moves to it. */
  sit(seat) {
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

  /** Shows an invitation as a dialog and as buttons here, because the dialog is far away for keyboard users. */
  #invited({ hostUser, expiresAt }) {
    const { coGuest } = this.page.stores;
    const inviter = { inviterID: hostUser.userID };
    const accept = () => this.#try(() => coGuest.acceptInvitation(inviter));
    const reject = () => this.#try(() => coGuest.rejectInvitation(inviter));
    this.#invitation?.end();
    const end = this.page.shell.say(t('seat.invited', { name: nameOf(hostUser) }), {
      lasts: Math.max(3000, expiresAt * 1000 - this.page.shell.session.plaza.serverTime),
      actions: [{ text: t('seat.accept'), isPrimary: true, run: accept }, { text: t('seat.reject'), run: reject }],
      gone: () => {
        this.#invitation = undefined;
        this.#draw();
      },
    });
    this.#invitation = { hostID: hostUser.userID, accept, reject, end };
    this.#draw();
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

  /** Makes a button that switches a device; `name` is the name of its icon and of its texts. */
  #device(name, isOn, change) {
    return [name, isOn, () => h('button', { class: 'button round', type: 'button', 'aria-label': t(`seat.${name}${isOn ? 'Off' : 'On'}`), 'aria-pressed': String(isOn),
      on: { click: () => this.#try(() => change(!isOn)) } }, icon(isOn ? name : `${name}Off`))];
  }

  #button(key, sign, kind, text, run) {
    return [key, text, () => h('button', { class: `button ${kind}`, type: 'button', on: { click: () => this.#try(run) } },
      icon(sign), h('span', { class: 'wide-text' }, t(text)))];
  }

  #answer(answer, sign, kind) {
    return this.#button(answer, sign, kind, `seat.${answer}Invitation`, () => {
      const { [answer]: run, end } = this.#invitation;
      end();
      return run();
    });
  }

  #draw() {
    const seat = this.ownSeat;
    if (seat) {
      this.#isWaiting = false;
      // A user on a seat has no invitation any more.
      this.#invitation?.end();
    }
    this.buttons.show((seat ? this.#seated(seat.userInfo) : this.#standing()).filter(Boolean));
  }

  #seated({ microphoneStatus, cameraStatus }) {
    const { page } = this;
    const { seat } = page.stores;
    return [
      this.#device('mic', microphoneStatus === 'on', (isOn) => (isOn ? speak(page) : seat.muteMicrophone())),
      !voiceTemplates.has(page.list.state.currentLive.seatTemplate) && this.#device('camera', cameraStatus === 'on', (isOn) => seat.reportCamera({ isOn })),
      page.role !== 'owner' && this.#button('leave', 'leave', 'danger', 'seat.leave', () => seat.leaveSeat()),
    ];
  }

  #standing() {
    const { page } = this;
    const { seatMode, maxSeatCount } = page.list.state.currentLive;
    if (page.role === 'owner' || (page.stores.seat.state.seatList.length === 0 && maxSeatCount === 0)) return [];
    // One key for both states, so that the focus stays on the button, which then cancels the application.
    const ask = this.#isWaiting
      ? this.#button('ask', 'close', '', 'seat.cancel', async () => {
        await page.stores.coGuest.cancelApplication();
        this.#answered();
      })
      : this.#button('ask', 'seat', 'primary', seatMode === 'free' || page.isHost ? 'seat.takeFree' : 'seat.take', () => this.#take());
    return [...(this.#invitation ? [this.#answer('accept', 'check', 'primary'), this.#answer('reject', 'close', '')] : []), ask];
  }
}
