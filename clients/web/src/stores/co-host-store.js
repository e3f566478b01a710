// SPDX-License-Identifier: Apache-2.0
import { PlazaError, ReplyCode } from '../core/errors.js';
import { array, object, whole } from '../core/read.js';
import { isOutcomeUnknown } from '../core/reply-policy.js';
import { initial } from '../core/state/co-host.js';
import { LiveStore, liveStores } from './live-store.js';

/** The layouts of a connection, under the names of the family. */
export const CoHostLayoutTemplate = Object.freeze({
  hostVoiceConnection: 2, hostLandscape: 400, hostDynamicGrid: 600, hostDynamic1v6: 601,
});

/**
 * The reply code of each result of a request to one live, where the server names no other.
 *
 * @type {Record<number, number>}
 */
const reasons = {
  1: ReplyCode.noSuchRoom, 2: ReplyCode.connectionPending, 3: ReplyCode.connectedElsewhere,
  4: ReplyCode.connectionLimit,
  6: ReplyCode.wrongRoomKind,
};

/**
 * Hosts of different lives who connect. For the owner of a live; viewers see `connected`.
 *
 * Events: `onCoHostRequestReceived` {inviter, extensionInfo, expiresAt}, `onCoHostRequestCancelled` {inviter, invitee},
 * `onCoHostRequestAccepted` {invitee}, `onCoHostRequestRejected` {invitee}, `onCoHostRequestTimeout`
 * {inviter, invitee}, `onCoHostUserJoined` {userInfo}, `onCoHostUserLeft` {userInfo}.
 *
 * @extends {LiveStore<import('../index.js').CoHostState>}
 */
export class CoHostStore extends LiveStore {
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
    return liveStores(liveID, plaza).coHost;
  }

  /**
   * Asks the host of another live to connect.
   *
   * After `timedOut` the host stays in `invitees` until the server has said whether the request is open.
   *
   * @param {{ targetHost: string, layoutTemplate?: number, timeout?: number, extraInfo?: string }} request the other
   * live;
   *   a `CoHostLayoutTemplate`; seconds, 1 to 1,800 (10)
   * @returns {Promise<void>} when the request is sent
   * @throws {PlazaError} `noSuchRoom`, `alreadyConnected`, `connectionPending`, `connectedElsewhere`,
   * `connectionLimit`,
   *   `wrongRoomKind`, `connectionTooFrequent`, `overLimit`, `needsOwner`
   */
  async requestHostConnection({ targetHost, layoutTemplate, timeout, extraInfo }) {
    // A rejected request does not end an earlier one to the same live, which is open still.
    const isNew = !this.session.statesOf(this.liveID).coHost.invitees.some((host) => host.liveID === targetHost);
    this.#requested([targetHost]);
    const names = [`ownCoHost ${targetHost}`];
    const params = { to: [targetHost], layoutTemplate, timeout, extensionInfo: extraInfo };
    try {
      await this.request('coHostRequests', names, async () => {
        const codes = array((await this.call('cohost.request', params)).codes, 'codes');
        for (const entry of codes) {
          const { code, reason } = object(entry, 'code');
          const number = whole(code, 'code');
          if (number === 0) continue;
          const reply = typeof reason === 'number' ? reason : reasons[number] ?? ReplyCode.badParameter;
          throw new PlazaError(reply, `the live ${targetHost} cannot be asked`);
        }
        return { result: undefined, opened: names };
      });
    } catch (error) {
      if (isNew && !isOutcomeUnknown(error)) this.session.local(this.liveID, 'local.coHostRequestEnded', { inviter: this.liveID, invitee: targetHost });
      throw error;
    }
  }

  /**
   * Takes a request back.
   *
   * @param {{ toHostLiveID: string }} request
   * @returns {Promise<void>}
   * @throws {PlazaError} `noSuchConnection`
   */
  async cancelHostConnection({ toHostLiveID }) {
    await this.callAndChange('cohost.cancel', { to: [toHostLiveID] }, requestEnd(this.liveID, toHostLiveID));
  }

  /**
   * Accepts a host's request.
   *
   * @param {{ fromHostLiveID: string }} request
   * @returns {Promise<void>}
   * @throws {PlazaError} `noSuchConnection`, `alreadyConnected`, `connectedElsewhere`, `connectionLimit`, `overLimit`
   */
  async acceptHostConnection({ fromHostLiveID }) {
    await this.callAndChange('cohost.accept', { inviter: fromHostLiveID }, requestEnd(fromHostLiveID, this.liveID));
  }

  /**
   * Declines a host's request.
   *
   * @param {{ fromHostLiveID: string }} request
   * @returns {Promise<void>}
   * @throws {PlazaError} `noSuchConnection`
   */
  async rejectHostConnection({ fromHostLiveID }) {
    await this.callAndChange('cohost.reject', { inviter: fromHostLiveID }, requestEnd(fromHostLiveID, this.liveID));
  }

  /**
   * Leaves the connection; the others stay connected.
   *
   * @returns {Promise<void>}
   * @throws {PlazaError} `noSuchConnection`
   */
  async exitHostConnection() {
    await this.call('cohost.exit');
  }

  /**
   * Reads lives that could be asked into `candidates`, 20 a page. An empty cursor begins anew. A cursor that has
   * expired begins anew, too.
   *
   * @param {{ cursor?: string }} [page]
   * @returns {Promise<void>}
   * @throws {PlazaError} `needsOwner`; `notInRoom` to an owner who is not in the live
   */
  async getCoHostCandidates(page = {}) {
    const { cursor = '' } = page;
    try {
      await this.#readCandidates(cursor);
    } catch (error) {
      if (!(error instanceof PlazaError) || error.code !== ReplyCode.cursorExpired || cursor === '') throw error;
      await this.#readCandidates('');
    }
  }

  /**
   * Leaves another host's sound out of this live's mix. The other host is not told.
   *
   * @param {{ liveID: string, isMuted: boolean }} other
   * @returns {Promise<void>}
   * @throws {PlazaError} `noSuchConnection`, `needsOwnerOrAdmin`
   */
  async muteRemoteHostAudio({ liveID, isMuted }) {
    await this.call('cohost.muteRemote', { other: liveID, muted: isMuted });
  }

  /** @param {string} cursor */
  async #readCandidates(cursor) {
    // The server answers the owner also outside the live, whose stores show nothing then.
    await this.showList('candidates', async () => {
      const page = await this.call('cohost.candidates', cursor === '' ? {} : { cursor });
      return { ...page, isFirst: cursor === '' };
    });
  }

  /** @param {string[]} lives */
  #requested(lives) {
    this.session.local(this.liveID, 'local.coHostRequested', { lives });
  }
}

/**
 * The end of a request of one live to another.
 *
 * @param {string} inviter
 * @param {string} invitee
 */
function requestEnd(inviter, invitee) {
  return { type: 'local.coHostRequestEnded', body: { inviter, invitee }, snapshot: 'coHostRequests' };
}
