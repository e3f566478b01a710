// SPDX-License-Identifier: Apache-2.0
import { initial } from '../core/state/seat.js';
import { LiveStore, liveStores } from './live-store.js';

/** @typedef {'abortWhenOccupied' | 'forceReplace' | 'swapPosition'} MoveSeatPolicy */

/**
 * The protocol's numbers of the policies.
 *
 * @type {Record<MoveSeatPolicy, number>}
 */
const policies = { abortWhenOccupied: 0, forceReplace: 1, swapPosition: 2 };

/**
 * The seats of a live. Events, of this user's own devices: `onLocalMicrophoneClosedByAdmin`,
 * `onLocalMicrophoneOpenedByAdmin` {policy}, `onLocalCameraClosedByAdmin`, `onLocalCameraOpenedByAdmin` {policy}.
 *
 * Methods may also fail with `noSuchSeat`, `roomHasNoSeats`, `tooFrequent` and `notInRoom`.
 *
 * @extends {LiveStore<import('../index.js').LiveSeatState>}
 */
export class LiveSeatStore extends LiveStore {
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
    return liveStores(liveID, plaza).seat;
  }

  /**
   * Sits down. Where seats need approval, a viewer's call becomes an application of 60 seconds.
   *
   * @param {{ seatIndex: number }} seat −1 for the lowest free one
   * @returns {Promise<{ index: number | undefined }>} the seat; undefined while an application waits
   * @throws {import('../core/errors.js').PlazaError} `seatLocked`, `seatOccupied`, `allSeatsTaken`, `seatLimit`,
   * `alreadySeated`
   */
  async takeSeat({ seatIndex }) {
    return { index: await this.apply('seat.take', { seatIndex }) };
  }

  /**
   * Leaves the seat.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`
   */
  async leaveSeat() {
    await this.call('seat.leave');
  }

  /**
   * Says that one's microphone is closed.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`
   */
  async muteMicrophone() {
    await this.reportDevice({ microphone: false });
  }

  /**
   * Says that one's microphone is open.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`, `seatMicrophoneLocked`, `microphoneNeedsHost`
   */
  async unmuteMicrophone() {
    await this.reportDevice({ microphone: true });
  }

  /**
   * Says what this user's devices do. What is not named stays as it is.
   *
   * @param {{ microphone?: boolean, camera?: boolean, suspend?: 'none' | 'inBackground' | 'inCalling' }} device
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`, `seatMicrophoneLocked`, `microphoneNeedsHost`,
   *   `seatCameraLocked`, `cameraNeedsHost`
   */
  async reportDevice({ microphone, camera, suspend }) {
    await this.call('seat.device', { microphone, camera, suspend });
  }

  /**
   * Says whether the camera of this user is on.
   *
   * @param {{ isOn: boolean }} camera
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} as `reportDevice`
   */
  async reportCamera({ isOn }) {
    await this.reportDevice({ camera: isOn });
  }

  /**
   * Says whether this user is away for a moment.
   *
   * @param {import('../index.js').SuspendStatus} status
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} as `reportDevice`
   */
  async reportSuspension(status) {
    await this.reportDevice({ suspend: status });
  }

  /**
   * Says how loud this user speaks; repeat it each second while it speaks.
   *
   * @param {{ level: number }} speech 0 (silent) to 100
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`
   */
  async reportSpeaking({ level }) {
    await this.call('seat.speaking', { level });
  }

  /**
   * Takes a user off its seat; for owner and admins.
   *
   * @param {{ userID: string }} target
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`, `noPermission`
   */
  async kickUserOutOfSeat({ userID }) {
    await this.call('seat.kick', { user: userID });
  }

  /**
   * Moves a user to another seat; for owner and admins, and for oneself to a free seat.
   *
   * @param {{ userID: string, targetIndex: number, policy?: MoveSeatPolicy }} move
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notOnSeat`, `seatOccupied`, `seatLocked`, `noPermission`
   */
  async moveUserToSeat({ userID, targetIndex, policy = 'abortWhenOccupied' }) {
    await this.call('seat.move', { user: userID, seatIndex: targetIndex, policy: policies[policy] ?? 0 });
  }

  /**
   * Locks a seat; an occupant is put off first. For owner and admins.
   *
   * @param {{ seatIndex: number }} seat
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `noPermission`
   */
  async lockSeat({ seatIndex }) {
    await this.call('seat.lock', { seatIndex, locked: true });
  }

  /**
   * Opens a seat; for owner and admins.
   *
   * @param {{ seatIndex: number }} seat
   * @returns {Promise<void>}
   */
  async unlockSeat({ seatIndex }) {
    await this.call('seat.lock', { seatIndex, locked: false });
  }

  /**
   * Turns a user's camera off and keeps it off; for owner and admins.
   *
   * @param {{ userID: string }} target
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `failed` if the user sits on no seat, `noPermission`
   */
  async closeRemoteCamera({ userID }) {
    await this.#lockDevice(userID, 'camera', true);
  }

  /**
   * Lets a user open its camera again, which the user does itself.
   *
   * @param {{ userID: string, policy?: 'unlockOnly' }} target
   * @returns {Promise<void>}
   */
  async openRemoteCamera({ userID }) {
    await this.#lockDevice(userID, 'camera', false);
  }

  /**
   * As `closeRemoteCamera`, for the microphone.
   *
   * @param {{ userID: string }} target
   * @returns {Promise<void>}
   */
  async closeRemoteMicrophone({ userID }) {
    await this.#lockDevice(userID, 'microphone', true);
  }

  /**
   * As `openRemoteCamera`, for the microphone.
   *
   * @param {{ userID: string, policy?: 'unlockOnly' }} target
   * @returns {Promise<void>}
   */
  async openRemoteMicrophone({ userID }) {
    await this.#lockDevice(userID, 'microphone', false);
  }

  /**
   * @param {string} user
   * @param {'camera' | 'microphone'} device
   * @param {boolean} locked
   */
  async #lockDevice(user, device, locked) {
    await this.call('seat.lockDevice', { user, device, locked });
  }
}
