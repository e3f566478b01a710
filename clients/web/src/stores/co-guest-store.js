// SPDX-License-Identifier: Apache-2.0
import { isOutcomeUnknown } from '../core/reply-policy.js';
import { initial } from '../core/state/co-guest.js';
import { LiveStore, liveStores } from './live-store.js';

/**
 * Viewers who ask for a seat, and hosts who invite them. A request's method ends when it is sent; its answer is an
 * event.
 *
 * Events of hosts: `onGuestApplicationReceived` {guestUser, seatIndex, expiresAt, extraInfo},
 * `onGuestApplicationCancelled` {guestUser}, `onGuestApplicationProcessedByOtherHost` {guestUser, hostUser, isAccept},
 * `onHostInvitationResponded` {isAccept, guestUser}, `onHostInvitationNoResponse` {guestUser, reason}. Events of
 * guests: `onHostInvitationReceived` {hostUser, seatIndex, expiresAt, extraInfo}, `onHostInvitationCancelled`
 * {hostUser, isTimeout}, `onGuestApplicationResponded` {isAccept, hostUser}, `onGuestApplicationNoResponse` {reason},
 * `onKickedOffSeat` {seatIndex, hostUser}.
 *
 * Methods may also fail with the codes of seats: `roomHasNoSeats`, `noSuchSeat`, `seatLocked`, `seatOccupied`,
 * `allSeatsTaken`, `seatLimit`, `alreadySeated`, and with `tooFrequent` and `notInRoom`.
 *
 * @extends {LiveStore<import('../index.js').CoGuestState>}
 */
export class CoGuestStore extends LiveStore {
  /**
   * @param {string} liveID
   * @param {import('../live-session.js').LiveSession} session
   */
  constructor(liveID, session) {
    super(liveID, session, initial());
  }

  /**
   * The store of a live: of the default instance, unless another is named.
   *
   * @param {string} liveID
   * @param {import('../live-plaza.js').LivePlaza} [plaza]
   */
  static create(liveID, plaza) {
    return liveStores(liveID, plaza).coGuest;
  }

  /**
   * Asks for a seat. Where seats are free to take, the user sits at once.
   *
   * After `timedOut` the application may be open: its answer is an event all the same, and another application then
   * fails with `requestRepeated`. If the server does not have it, the event is `onGuestApplicationNoResponse`.
   *
   * @param {{ seatIndex?: number, timeout?: number, extraInfo?: string }} [request] the seat, −1 for any; seconds, 1 to
   * 1,800
   *   (10); at most 2,048 bytes
   * @returns {Promise<void>} when the request is sent
   * @throws {import('../core/errors.js').PlazaError} `requestRepeated`, `requestConflict`, `noPermission`
   */
  async applyForSeat(request = {}) {
    const { seatIndex = -1, timeout, extraInfo } = request;
    await this.apply('seat.apply', { seatIndex, timeout, extraInfo });
  }

  /**
   * Takes one's application back.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `failed` if none is open
   */
  async cancelApplication() {
    const change = { type: 'local.applicationCancelled', body: {}, snapshot: 'seatRequests' };
    await this.callAndChange('seat.cancelApplication', {}, change);
  }

  /**
   * Seats an applicant; for owner and admins.
   *
   * @param {{ userID: string }} applicant
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `requestGone`, `noPermission`; with a seat's code the request
   * stays open
   */
  async acceptApplication({ userID }) {
    await this.callAndChange('seat.acceptApplication', { user: userID }, seatChange('local.applicationAnswered', userID));
  }

  /**
   * Declines an application; for owner and admins.
   *
   * @param {{ userID: string }} applicant
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `requestGone`, `noPermission`
   */
  async rejectApplication({ userID }) {
    await this.callAndChange('seat.rejectApplication', { user: userID }, seatChange('local.applicationAnswered', userID));
  }

  /**
   * Invites a viewer to a seat; for owner and admins.
   *
   * After `timedOut` the viewer stays in `invitees` until the server has said whether the invitation is open.
   *
   * @param {{ userID: string, seatIndex?: number, timeout?: number, extraInfo?: string }} invitation as for
   * `applyForSeat`
   * @returns {Promise<void>} when the invitation is sent
   * @throws {import('../core/errors.js').PlazaError} `notMember`, `userAlreadyOnSeat`, `requestConflict`,
   * `noPermission`
   */
  async inviteToSeat({ userID, seatIndex = -1, timeout, extraInfo }) {
    // A rejected invitation does not end an earlier one of the same viewer, which is open still.
    const isNew = !this.session.statesOf(this.liveID).coGuest.invitees.some((user) => user.userID === userID);
    // The viewer's answer may come before the reply to the call, if the connection is lost meanwhile.
    this.session.local(this.liveID, 'local.invited', { user: userID });
    const names = [`ownInvitation ${userID}`];
    try {
      await this.request('seatRequests', names, async () => {
        await this.call('seat.invite', { user: userID, seatIndex, timeout, extraInfo });
        return { result: undefined, opened: names };
      });
    } catch (error) {
      if (isNew && !isOutcomeUnknown(error)) this.session.local(this.liveID, 'local.invitationCancelled', { user: userID });
      throw error;
    }
  }

  /**
   * Takes one's invitation back.
   *
   * @param {{ inviteeID: string }} guest
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `failed` if none is open
   */
  async cancelInvitation({ inviteeID }) {
    await this.callAndChange('seat.cancelInvitation', { user: inviteeID }, seatChange('local.invitationCancelled', inviteeID));
  }

  /**
   * Accepts a host's invitation.
   *
   * @param {{ inviterID: string }} host
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `failed` if none is open
   */
  async acceptInvitation({ inviterID }) {
    await this.callAndChange('seat.acceptInvitation', { user: inviterID }, invitationAnswered(inviterID));
  }

  /**
   * Declines a host's invitation.
   *
   * @param {{ inviterID: string }} host
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `failed` if none is open
   */
  async rejectInvitation({ inviterID }) {
    await this.callAndChange('seat.rejectInvitation', { user: inviterID }, invitationAnswered(inviterID));
  }

  /**
   * Leaves one's seat.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`
   */
  async disConnect() {
    await this.call('seat.leave');
  }
}

/**
 * A change of the open applications and invitations.
 *
 * @param {string} type
 * @param {string} user
 */
function seatChange(type, user) {
  return { type, body: { user }, snapshot: 'seatRequests' };
}

/**
 * A host's invitation is answered.
 *
 * @param {string} host
 */
function invitationAnswered(host) {
  return { type: 'local.invitationAnswered', body: { host }, snapshot: 'seatRequests' };
}
