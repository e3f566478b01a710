// SPDX-License-Identifier: Apache-2.0
import { plazaError, PlazaError, ReplyCode } from '../core/errors.js';
import { emptyLiveInfo, liveInfo, statistics } from '../core/models.js';
import { array, object, text, textMap } from '../core/read.js';
import { changesOf } from './live-changes.js';
import { defaultPlaza } from './live-store.js';
import { publish, Store } from './store.js';

/** How often a walk begins anew when its cursor has expired. */
const maxWalks = 3;

/** How often one page of a walk is read again because the client reads too often. */
const maxRateLimitWaits = 5;

/** How long to wait then if the server does not say it, in milliseconds. */
const defaultRateLimitWait = 1000;

/** @returns {import('../index.js').LiveListState} */
const initial = () => ({ liveList: [], liveListCursor: '', currentLive: emptyLiveInfo });

/**
 * The list of lives, and the live that the client is in. Events: `onLiveEnded` {liveID, reason, message, statistics},
 * `onKickedOutOfLive` {liveID, reason, message}. After either the client has left.
 *
 * @extends {Store<import('../index.js').LiveListState>}
 */
export class LiveListStore extends Store {
  #session;

  /** @param {import('../live-session.js').LiveSession} session */
  constructor(session) {
    super(initial());
    this.#session = session;
  }

  /** The store of the default instance. */
  static get shared() {
    return /** @type {any} */ (defaultPlaza.get)().liveListStore;
  }

  /**
   * Reads a page of the list of public lives. An empty cursor begins anew and replaces `liveList`; another one appends.
   * A cursor that has expired, or that belongs to another gateway, is no error: the list is read again up to there.
   *
   * @param {{ cursor?: string, count?: number, category?: number, order?: 'descending' | 'ascending' }} [page] `count`
   * is
   *   1 to 50 (20); `cursor` is the state's `liveListCursor`, which is empty at the end
   * @returns {Promise<void>}
   * @throws {PlazaError} `badParameter`
   */
  async fetchLiveList(page = {}) {
    const { cursor = '', count = 20, category, order } = page;
    const wanted = { count, ...(category === undefined ? {} : { category }),
      ...(order === undefined ? {} : { order }) };
    for (let walk = 0; ; walk += 1) {
      try {
        if (walk === 0) await this.#fetchPage(cursor, wanted);
        else await this.#fetchAgain(wanted);
        return;
      } catch (error) {
        const isExpired = error instanceof PlazaError && error.code === ReplyCode.cursorExpired;
        if (!isExpired || walk >= maxWalks) throw error;
      }
    }
  }

  /**
   * @param {{ liveID: string }} live
   * @returns {Promise<import('../index.js').LiveInfo>}
   * @throws {PlazaError} `noSuchRoom`
   */
  async fetchLiveInfo({ liveID }) {
    const details = object((await this.#session.call('live.get', { live: liveID }, liveID)).details, 'details');
    const audience = object(details.audience ?? {}, 'audience');
    return liveInfo(details.info, {
      totalViewerCount: Number(audience.totalViewers ?? 0), audienceCount: Number(audience.count ?? 0),
    });
  }

  /**
   * Creates a live and enters it as its owner. Its owner may call this again, to go on.
   *
   * @param {Partial<import('../index.js').LiveInfo> & { liveID: string }} info
   * @returns {Promise<import('../index.js').LiveInfo>}
   * @throws {PlazaError} `roomExists`, `inAnotherRoom`, `createdTooOften`, `badRoomID`, `badRoomName`, `badParameter`,
   *   `sensitiveWords`
   */
  async createLive(info) {
    const params = { live: info.liveID, ...changesOf(info), join: true };
    const { joined } = await this.#session.call('live.create', params, info.liveID);
    // A server that does not know `join` has created the live only, and `live.join` says why a join was rejected.
    return joined === undefined ? this.#session.enter(info.liveID) : this.#session.entered(info.liveID);
  }

  /**
   * Enters a live. The stores of the live show its state from here on.
   *
   * @param {{ liveID: string }} live
   * @returns {Promise<import('../index.js').LiveInfo>}
   * @throws {PlazaError} `noSuchRoomOnEntry`, `inAnotherRoom`, `roomFull`, `banned` (`retryAfter`: until the ban ends)
   */
  async joinLive({ liveID }) {
    return this.#session.enter(liveID);
  }

  /**
   * Leaves the live. An owner's live goes on without it.
   *
   * @returns {Promise<void>}
   * @throws {PlazaError} `notInRoom`
   */
  async leaveLive() {
    const live = this.#current();
    await this.#session.call('live.leave', { live }, live);
  }

  /**
   * Ends the live for all; for its owner.
   *
   * @returns {Promise<import('../index.js').LiveStatistics>}
   * @throws {PlazaError} `needsOwner`, `notInRoom`
   */
  async endLive() {
    const live = this.#current();
    return statistics((await this.#session.call('live.end', { live }, live)).statistics);
  }

  /**
   * Changes the live; for owner and admins. Without `modifyFlag` every field that is named is changed.
   *
   * @param {Partial<import('../index.js').LiveInfo>} info
   * @param {{ modifyFlag?: number }} [options] the fields to send, as a sum of `ModifyFlag`
   * @returns {Promise<void>}
   * @throws {PlazaError} `needsOwnerOrAdmin`, `badRoomName`, `badParameter`, `tooManyTags`, `wrongRoomKind`,
   * `sensitiveWords`
   */
  async updateLiveInfo(info, options = {}) {
    const { modifyFlag } = options;
    const live = this.#current();
    const changes = changesOf(info, modifyFlag);
    if (Object.keys(changes).length === 0) return;
    await this.#session.call('live.update', { live, ...changes }, live);
  }

  /**
   * Adds to the live's metadata; for owner and admins.
   *
   * @param {Record<string, string>} metaData at most 10 keys in all
   * @returns {Promise<void>}
   * @throws {PlazaError} `needsOwnerOrAdmin`, `tooManyMetadataKeys`, `metadataKeyTooLong`, `metadataValueTooLong`,
   * `metadataTooLong`
   */
  async updateLiveMetaData(metaData) {
    const live = this.#current();
    await this.#session.call('metadata.set', { live, metadata: metaData }, live);
  }

  /**
   * Removes metadata; for owner and admins.
   *
   * @param {{ keys: readonly string[] }} which at least one key
   * @returns {Promise<void>}
   * @throws {PlazaError} `needsOwnerOrAdmin`, `noSuchMetadataKey`
   */
  async deleteLiveMetaData({ keys }) {
    const live = this.#current();
    await this.#session.call('metadata.delete', { live, keys }, live);
  }

  /**
   * @param {{ keys?: readonly string[] }} [which] all keys, if none is named
   * @returns {Promise<Record<string, string>>}
   */
  async queryMetaData(which = {}) {
    const { keys = [] } = which;
    const live = this.#current();
    const params = keys.length === 0 ? { live } : { live, keys };
    return textMap((await this.#session.call('metadata.get', params, live)).values, 'values');
  }

  /** Forgets the list of lives. The live that the client is in stays. */
  reset() {
    this[publish]({ ...initial(), currentLive: this.state.currentLive })();
  }

  /** @returns {string} */
  #current() {
    this.#session.checkHasLogin();
    const { liveID } = this.#session;
    if (liveID === '') throw plazaError('notInRoom', 'join a live first');
    return liveID;
  }

  /**
   * @param {string} cursor
   * @param {object} wanted
   */
  async #fetchPage(cursor, wanted) {
    const shown = this.state.liveListCursor;
    const page = await this.#page(cursor, wanted);
    // A page behind a list that was replaced meanwhile, for example by that of another category, is of no use.
    if (cursor !== '' && shown !== this.state.liveListCursor) return;
    const old = cursor === '' ? [] : this.state.liveList;
    this[publish]({ ...this.state, liveList: merged(old, page.items), liveListCursor: page.cursor })();
  }

  /**
   * Walks from the beginning until more is read than is shown already, no faster than the server allows.
   *
   * @param {object} wanted
   */
  async #fetchAgain(wanted) {
    const shown = this.state.liveList.length;
    /** @type {{ items: import('../index.js').LiveInfo[], cursor: string }} */
    let walked = { items: [], cursor: '' };
    do {
      const page = await this.#pageWithinRateLimit(walked.cursor, wanted);
      walked = { items: merged(walked.items, page.items), cursor: page.cursor };
    } while (walked.cursor !== '' && walked.items.length <= shown);
    this[publish]({ ...this.state, liveList: walked.items, liveListCursor: walked.cursor })();
  }

  /**
   * Reads a page; waits and reads it again if the client has read too often.
   *
   * @param {string} cursor
   * @param {object} wanted
   */
  async #pageWithinRateLimit(cursor, wanted) {
    for (let waits = 0; ; waits += 1) {
      try {
        return await this.#page(cursor, wanted);
      } catch (error) {
        const isTooFrequent = error instanceof PlazaError && error.code === ReplyCode.tooFrequent;
        if (!isTooFrequent || waits >= maxRateLimitWaits) throw error;
        await this.#sleep(error.retryAfter ?? defaultRateLimitWait);
      }
    }
  }

  /**
   * @param {number} milliseconds
   * @returns {Promise<void>}
   */
  #sleep(milliseconds) {
    return new Promise((resolve) => {
      this.#session.clock.setTimeout(() => resolve(), milliseconds);
    });
  }

  /**
   * @param {string} cursor
   * @param {object} wanted
   */
  async #page(cursor, wanted) {
    const page = await this.#session.call('live.list', cursor === '' ? wanted : { ...wanted, cursor });
    const items = array(page.items, 'items').map((entry) => {
      const item = object(entry, 'item');
      return liveInfo(item.info, {
        totalViewerCount: Number(item.totalViewerCount ?? 0), audienceCount: Number(item.audienceCount ?? 0),
      });
    });
    return { items, cursor: text(page.cursor, 'cursor', '') };
  }
}

/**
 * A list and what follows, each live once.
 *
 * @param {readonly import('../index.js').LiveInfo[]} list
 * @param {readonly import('../index.js').LiveInfo[]} page
 */
function merged(list, page) {
  const known = new Set(list.map((info) => info.liveID));
  return [...list, ...page.filter((info) => !known.has(info.liveID))];
}
