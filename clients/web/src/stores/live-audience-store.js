// SPDX-License-Identifier: Apache-2.0
import { initial } from '../core/state/audience.js';
import { LiveStore, liveStores } from './live-store.js';

/** For good, as a duration of `disableSendMessage`. */
const forGood = -1;

/**
 * Who watches a live. Events: `onAudienceJoined` {audience}, `onAudienceLeft` {audience}, `onAudienceMessageDisabled`
 * {audience, isDisable}.
 *
 * @extends {LiveStore<import('../index.js').LiveAudienceState>}
 */
export class LiveAudienceStore extends LiveStore {
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
    return liveStores(liveID, plaza).audience;
  }

  /**
   * Reads the first 200 viewers anew. Entering a live does that by itself, and `audienceList` then follows the feed.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notInRoom`
   */
  async fetchAudienceList() {
    if (this.session.liveID === this.liveID) return this.session.refresh('audience');
    await this.call('audience.list', { count: 200 });
  }

  /**
   * Makes a viewer an admin; for the owner.
   *
   * @param {{ userID: string }} target
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `needsOwner`, `noPermission`, `notMember`, `tooManyAdmins`
   */
  async setAdministrator({ userID }) {
    await this.call('admin.set', { user: userID });
  }

  /**
   * Takes an admin's rights back; for the owner.
   *
   * @param {{ userID: string }} target
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `needsOwner`
   */
  async revokeAdministrator({ userID }) {
    await this.call('admin.revoke', { user: userID });
  }

  /**
   * Puts a viewer out, who may enter again; for owner and admins.
   *
   * @param {{ userID: string }} target
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `needsOwnerOrAdmin`, `noPermission`, `notMember`
   */
  async kickUserOutOfRoom({ userID }) {
    await this.call('audience.kick', { user: userID });
  }

  /**
   * Forbids or allows a viewer to write; for owner and admins.
   *
   * @param {{ userID: string, isDisable: boolean }} target
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `needsOwnerOrAdmin`, `noPermission`, `overLimit`
   */
  async disableSendMessage({ userID, isDisable }) {
    await this.call('live.mute', { users: [userID], duration: isDisable ? forGood : 0 });
  }
}
