// SPDX-License-Identifier: Apache-2.0
import { PlazaError, ReplyCode } from './core/errors.js';
import { isOutcomeUnknown, saysRequestIsGone } from './core/reply-policy.js';
import { LiveFold, initialStates, timeOf } from './core/live-fold.js';
import { emptyLiveInfo } from './core/models.js';
import { requestSnapshots } from './core/requests.js';
import { leftMeanwhile, Refresher } from './refresher.js';
import { RequestDeadlines, snapshotsOfListed } from './request-deadlines.js';
import { snapshots } from './snapshots.js';

/**
 * @typedef {object} SessionOwner
 * @property {(method: string, params: object, live?: string) => Promise<import('./core/read.js').JSONObject>} call
 * @property {() => void} checkHasLogin throws `notLoggedIn` unless the client has begun a login that has not ended
 * @property {import('./connection/clock.js').Clock} clock
 * @property {() => number} random
 * @property {() => string} selfID
 * @property {(current: import('./index.js').LiveInfo, liveID: string, states: import('./core/live-fold.js').LiveStates, events: import('./core/live-fold.js').StoreEvent[]) => void} show
 *   shows in which live the client is, and the states of a live
 * @property {(liveID: string) => readonly import('./index.js').Barrage[]} tips the app's messages in a live that is not
 * entered yet
 * @property {(type: string, detail: object) => void} tellList dispatches an event of LiveListStore
 * @property {(error: PlazaError) => void} report
 */

/** The seat templates of voice lives (PROTOCOL.md, section 11.2). */
const voiceTemplates = new Set([2, 50, 70]);
/** How often the running duration of a live is counted on, in milliseconds. */
const second = 1000;
/**
 * How long a client may be away, in milliseconds, and still get all notices: less than the minute for which the server
 * keeps them, because a loss is noticed late.
 */
const maxAwayTimeWithNotices = 30_000;
/**
 * When fewer viewers than these are still listed, and the live has more, the list is read anew: well below the maximum
 * (`maxAudience`), so that not each leave causes a read.
 */
const minListedViewers = 150;
/** How long a notice may come after the read of the requests that contains what it tells, in milliseconds. */
const noticeDelay = 5000;

/**
 * The live that a client is in: folds what is received, reads snapshots, and ends it.
 */
export class LiveSession {
  #owner;
  /** @type {LiveFold | undefined} */
  #fold;
  #refresher;
  #requestDeadlines;
  /** @type {unknown} */
  #timer;
  /**
   * When the connection was lost, in milliseconds of the clock; undefined while it is open.
   *
   * @type {number | undefined}
   */
  #lostAt;
  /** @type {unknown} ends the wait for notices of requests that are no longer open */
  #noticeTimer;

  /** @param {SessionOwner} owner */
  constructor(owner) {
    this.#owner = owner;
    this.#refresher = new Refresher(owner.clock, owner.random, (name) => this.#readSnapshot(name));
    this.#requestDeadlines = new RequestDeadlines(owner.clock, (names) => this.#readEnded(names));
  }

  /** The live that the client is in; empty if it is in none. */
  get liveID() {
    return this.#fold?.liveID ?? '';
  }

  /** The stay in the live, another one after each entry; undefined if the client is in none. */
  get stay() {
    return this.#fold;
  }

  get clock() {
    return this.#owner.clock;
  }

  /** @throws {PlazaError} `notLoggedIn` */
  checkHasLogin() {
    this.#owner.checkHasLogin();
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {string} [live]
   */
  call(method, params, live) {
    return this.#owner.call(method, params, live);
  }

  /**
   * Enters a live and waits until its info is known.
   *
   * @param {string} liveID
   * @returns {Promise<import('./index.js').LiveInfo>}
   * @throws {PlazaError} `noSuchRoomOnEntry`, `inAnotherRoom`, `roomFull`, `banned`, `noPermission`
   */
  async enter(liveID) {
    await this.call('live.join', { live: liveID }, liveID);
    return this.entered(liveID);
  }

  /**
   * Waits until the info of a live is known that was just joined.
   *
   * @param {string} liveID
   * @returns {Promise<import('./index.js').LiveInfo>}
   * @throws {PlazaError} `notInRoom`
   */
  async entered(liveID) {
    const fold = this.#fold;
    if (fold?.liveID !== liveID) throw leftMeanwhile();
    if (fold.states.live.info.isEmpty) {
      try {
        await this.#refresher.now('details');
      } catch (error) {
        // A live whose info cannot be read cannot be shown. It may have been left, and even joined again, meanwhile.
        // Another join of the app may also have read the info.
        const isShown = !fold.states.live.info.isEmpty;
        if (this.#fold === fold && !isShown) await this.call('live.leave', { live: liveID }, liveID).catch(() => {});
        throw error;
      }
      const others = this.#isHost(fold) ? this.#snapshotsForHosts(fold) : ['mutes'];
      for (const name of ['audience', 'statistics', ...others]) this.#refresher.soon(name);
      this.#leaveOldSeat(fold);
    }
    return fold.states.live.info;
  }

  /**
   * Takes an event of the connection.
   *
   * @param {import('./core/client-core.js').CoreEvent} event
   */
  received(event) {
    switch (event.kind) {
      case 'joined': if (!event.isAgain || this.liveID !== event.live) this.#begin(event.live); return;
      case 'feed': return this.#feed(event);
      case 'counts': return this.#counts(event);
      case 'notice': return this.local(event.live, `notice.${event.name}`, event.body, { at: event.at });
      case 'disconnected': this.#lostAt ??= this.#owner.clock.now(); return;
      case 'loggedIn': this.#lostAt = undefined; return;
      case 'resumed': return this.#resumed(event.replayed);
      case 'left': return this.#end();
      case 'ended.live': return this.#liveEnded(event.live, 'endedByHost', event.statistics);
      case 'kickedOut': return this.#out('onKickedOutOfLive', { liveID: event.live, reason: event.reason, message: '' });
      case 'lost': return this.#lost(event.live, event.error);
      case 'ended': return this.#end();
    }
  }

  /**
   * Folds an input of this client itself, or a notice, if it is about the live that the client is in.
   *
   * @param {string} liveID
   * @param {string} type
   * @param {object} body
   * @param {{ n?: number, at?: number }} [stamp]
   */
  local(liveID, type, body, stamp = {}) {
    const fold = this.#fold;
    if (fold?.liveID !== liveID) return;
    const input = { type, body: /** @type {any} */ (body), ...stamp };
    const { events, error } = fold.apply(input);
    if (error) this.#owner.report(error);
    else this.#requestDeadlines.remember(input, this.#owner.selfID());
    this.#show(fold, events);
  }

  /**
   * Folds what a read has given, if it is about the live that the client is in.
   *
   * @param {string} liveID
   * @param {string} name
   * @param {import('./core/read.js').JSONObject} body
   * @returns {boolean} whether it is
   */
  snapshot(liveID, name, body) {
    const fold = this.#fold;
    if (fold?.liveID !== liveID) return false;
    const { events, error } = fold.snapshotRead(name, body);
    if (error) throw error;
    this.#show(fold, events);
    if (requestSnapshots.has(name)) {
      this.#requestDeadlines.remember({ type: `snapshot.${name}`, body, at: timeOf(body) }, this.#owner.selfID());
      this.#awaitNotices();
    }
    return true;
  }

  /**
   * The states of a live: the defaults, unless the client is in it.
   *
   * @param {string} liveID
   */
  statesOf(liveID) {
    return this.#fold?.liveID === liveID ? this.#fold.states : initialStates();
  }

  /**
   * Reads a snapshot now.
   *
   * @param {string} name
   */
  refresh(name) {
    return this.#refresher.now(name);
  }

  /**
   * Reads a snapshot if a call that changes it has failed, and the server may have applied the call all the same.
   *
   * @param {string} liveID
   * @param {string} name
   * @param {unknown} error
   */
  readIfUnknown(liveID, name, error) {
    if (isOutcomeUnknown(error) && this.liveID === liveID) this.#refresher.soon(name);
  }

  /**
   * Reads a snapshot if a call about one of its requests has failed because the request is not open.
   *
   * @param {string} liveID
   * @param {string} name
   * @param {unknown} error
   */
  readIfGone(liveID, name, error) {
    if (saysRequestIsGone(error) && this.liveID === liveID) this.#refresher.soon(name);
  }

  /** Reads once more the snapshots that lacked a request of this user whose call had no outcome then, and has one now. */
  readLackedRequests() {
    for (const name of this.#fold?.takeSnapshotsLackingRequests() ?? []) this.#refresher.soon(name);
  }

  /** @param {string} liveID */
  #begin(liveID) {
    this.#end();
    this.#fold = new LiveFold(liveID, this.#owner.selfID());
    for (const tip of this.#owner.tips(liveID)) this.#fold.apply({ type: 'local.tip', body: /** @type {any} */ (tip) });
    this.#refresher.start();
    this.#count();
    this.#show(this.#fold, []);
  }

  /** Resets what is shown of the live: the stores return to their defaults. */
  #end() {
    const fold = this.#fold;
    if (fold === undefined) return;
    this.#fold = undefined;
    this.#refresher.stop();
    this.#owner.clock.clearTimeout(this.#timer);
    this.#owner.clock.clearTimeout(this.#noticeTimer);
    this.#requestDeadlines.stop();
    this.#owner.show(emptyLiveInfo, fold.liveID, initialStates(), []);
  }

  /**
   * @param {string} type
   * @param {{ liveID: string, [key: string]: any }} detail
   */
  #out(type, detail) {
    if (this.liveID !== detail.liveID) return;
    this.#end();
    this.#owner.tellList(type, detail);
  }

  /**
   * @param {string} liveID
   * @param {unknown} reason
   * @param {unknown} statistics
   */
  #liveEnded(liveID, reason, statistics) {
    const isByHost = reason === 'endedByHost';
    this.#out('onLiveEnded', { liveID, reason: isByHost ? 'endedByHost' : 'endedByServer', message: '', statistics });
  }

  /**
   * The client could not return into its live.
   *
   * @param {string} liveID
   * @param {PlazaError} error
   */
  #lost(liveID, error) {
    const { code, message, reason = '' } = error;
    if (code === ReplyCode.noSuchRoomOnEntry) {
      return this.#out('onLiveEnded', { liveID, reason: reason === 'endedByHost' ? reason : 'endedByServer', message });
    }
    const told = /^by(Admin|Server|LoggedOnOtherDevice)$/.test(reason) ? reason : undefined;
    const kick = code === ReplyCode.banned ? told ?? 'byAdmin'
      : code === ReplyCode.staleTicket ? told ?? 'forJoinRoomStatusInvalidDuringOffline' : 'forNetworkDisconnected';
    this.#out('onKickedOutOfLive', { liveID, reason: kick, message });
  }

  /** @param {import('./core/client-core.js').CoreEvent} event */
  #feed({ items, hasGap }) {
    const fold = this.#fold;
    if (fold === undefined) return;
    const wasHost = this.#isHost(fold);
    const listedCount = fold.states.audience.audienceList.length;
    /** @type {import('./core/live-fold.js').StoreEvent[]} */
    const all = [];
    if (hasGap) all.push(...fold.apply({ type: 'local.itemsMissed', body: {} }).events);
    for (const item of items) {
      const { events, error } = fold.apply({ type: `item.${item.kind}`, body: item.body, n: item.n, at: item.at });
      if (error) this.#owner.report(error);
      all.push(...events);
    }
    this.#show(fold, all);
    const ending = items.find((/** @type {any} */ item) => item.kind === 'liveEnded');
    if (ending && this.#fold === fold) return this.#liveEnded(fold.liveID, ending.body.reason, ending.body.statistics);
    // Tips were left out: the list is read anew, at another moment by each client. A client that enters meanwhile may
    // get only the item that says that tips are complete again.
    const areTipsComplete = items.some((/** @type {any} */ item) => item.kind === 'tips' && item.body.isDegraded === false);
    if (hasGap || areTipsComplete) this.#refresher.later('audience');
    // So many listed viewers have left that the list should have others, who joined while it was full.
    const { audienceList, audienceCount } = fold.states.audience;
    const isShort = audienceList.length < minListedViewers && audienceList.length < audienceCount;
    if (listedCount >= minListedViewers && isShort) this.#refresher.later('audience');
    // Likes and statistics may be missing, too.
    if (hasGap) this.#refresher.later('statistics');
    if (!wasHost && this.#isHost(fold)) for (const name of this.#snapshotsForHosts(fold)) this.#refresher.soon(name);
  }

  /** @param {import('./core/client-core.js').CoreEvent} event */
  #counts({ live, count, totalViewers, stale, at }) {
    const wasStale = this.#fold?.states.audience.isAudienceCountStale === true;
    this.local(live, 'counts', { count, totalViewers, stale }, { at });
    // Users who were away while presence lost its store are in no list, and no tip says so.
    if (wasStale && !stale) this.#refresher.later('audience');
  }

  /** @param {boolean} replayed */
  #resumed(replayed) {
    const fold = this.#fold;
    const awayTime = this.#lostAt === undefined ? 0 : this.#owner.clock.now() - this.#lostAt;
    this.#lostAt = undefined;
    if (fold === undefined) return;
    this.#awaitNotices();
    if (!replayed) {
      this.local(fold.liveID, 'local.itemsMissed', {});
      this.#refresher.soon('details');
      for (const name of ['audience', 'statistics']) this.#refresher.later(name);
    }
    // Notices are kept for a minute only, so some may be missing, also if the feed is replayed.
    if (this.#isHost(fold)) {
      for (const name of this.#snapshotsForHosts(fold)) this.#refresher.later(name);
    } else if (!replayed || awayTime >= maxAwayTimeWithNotices) {
      // A viewer may have been muted, unmuted or invited meanwhile.
      for (const name of ['mutes', 'seatRequests']) this.#refresher.later(name);
    }
  }

  /**
   * What hosts read: the owner also reads the requests between lives.
   *
   * @param {LiveFold} fold
   */
  #snapshotsForHosts(fold) {
    const isOwner = fold.states.live.info.liveOwner.userID === this.#owner.selfID();
    return ['mutes', 'seatRequests', ...(isOwner ? ['coHostRequests', 'battleRequests'] : [])];
  }

  /** @param {LiveFold} fold */
  #isHost(fold) {
    const { info } = fold.states.live;
    const self = this.#owner.selfID();
    return info.liveOwner.userID === self || info.admins.includes(self);
  }

  /**
   * A viewer that enters a video live again while it is still shown on a seat is taken off.
   *
   * @param {LiveFold} fold
   */
  #leaveOldSeat(fold) {
    const self = this.#owner.selfID();
    const { info } = fold.states.live;
    if (info.liveOwner.userID === self || voiceTemplates.has(info.seatTemplate)) return;
    if (fold.states.seat.seatList.some((seat) => seat.liveID === fold.liveID && seat.userInfo.userID === self)) {
      this.call('seat.leave', { live: fold.liveID }, fold.liveID).catch(() => {});
    }
  }

  /** Waits for the notices of requests that a snapshot lacks, if any; then reports their ends without notices. */
  #awaitNotices() {
    const { clock } = this.#owner;
    const fold = this.#fold;
    clock.clearTimeout(this.#noticeTimer);
    if (!fold?.awaitsNotices) return;
    this.#noticeTimer = clock.setTimeout(() => {
      // While the connection is lost, no notice comes; the resume begins another wait.
      if (this.#fold === fold && this.#lostAt === undefined) this.local(fold.liveID, 'local.noticesDue', {});
    }, noticeDelay);
  }

  /**
   * Reads the open requests again if a list still shows one that must have ended.
   *
   * @param {string[]} names
   */
  #readEnded(names) {
    // While the connection is lost, no read is possible; hosts read the open requests after a resume.
    if (this.#fold === undefined || this.#lostAt !== undefined) return;
    for (const name of snapshotsOfListed(this.#fold.states, names)) this.#refresher.later(name);
  }

  /** @param {string} name */
  async #readSnapshot(name) {
    const fold = this.#fold;
    if (fold === undefined) return;
    const live = fold.liveID;
    fold.snapshotAsked(name);
    try {
      const body = await snapshots[name]((method, params) => this.call(method, { live, ...params }, live), this.#isHost(fold));
      if (this.#fold !== fold) return;
      const mustReadAgain = fold.mustReadAgain(name);
      const wasViewer = !fold.states.live.info.isEmpty && !this.#isHost(fold);
      this.snapshot(live, name, body);
      if (mustReadAgain) this.#refresher.later(name);
      this.readLackedRequests();
      // The item that made the user an admin was missed.
      if (wasViewer && this.#isHost(fold)) for (const other of this.#snapshotsForHosts(fold)) this.#refresher.soon(other);
    } catch (error) {
      fold.snapshotFailed(name);
      throw error;
    }
  }

  /**
   * @param {LiveFold} fold
   * @param {import('./core/live-fold.js').StoreEvent[]} events
   */
  #show(fold, events) {
    this.#owner.show({ ...fold.states.live.info, liveID: fold.liveID, isEmpty: false }, fold.liveID, fold.states, events);
  }

  #count() {
    const { clock } = this.#owner;
    const from = clock.now();
    this.#timer = clock.setTimeout(() => {
      const { totalDuration } = this.#fold?.states.summary.summaryData ?? { totalDuration: 0 };
      if (totalDuration > 0) this.local(this.liveID, 'local.elapsed', { milliseconds: Math.round(clock.now() - from) });
      if (this.#fold) this.#count();
    }, second);
  }
}
