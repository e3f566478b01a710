// SPDX-License-Identifier: Apache-2.0
import { ReplyCode } from './errors.js';
import { FeedTracker } from './feed-tracker.js';
import { tokenPosition } from './frames.js';
import { bool, object, text, whole } from './read.js';

/** How many frames of a live are kept while its join is not answered. Notices, which are few, are always kept. */
const maxEarlyFrames = 1000;

/**
 * Which live a client is in: ticket, position in the feed, and the last notice; all that a resume needs.
 */
export class LiveMembership {
  /**
   * The live that the client is in.
   *
   * @type {string | undefined}
   */
  live;
  tracker = new FeedTracker();
  /** @type {number | undefined} */
  #ticket;
  /**
   * Where the feed begins, as the join's reply said.
   *
   * @type {string | undefined}
   */
  #startToken;
  /**
   * What has become of the first frame of the feed after a join, which has messages from before the join if the app shows
   * such: `expected` with the join, or with its next repeat; `expectedAgain` after a repeat of the join when the feed had
   * more items than at first, of which only the history up to the first join counts; `received` after such a repeat;
   * `skipped` if it does not come any more.
   *
   * @type {'expected' | 'expectedAgain' | 'received' | 'skipped'}
   */
  firstFrame = 'expected';
  /**
   * The id of the last notice.
   *
   * @type {string | undefined}
   */
  #lastNotice;
  /**
   * The join that was sent and has no reply yet, with the frames of its live that were received meanwhile.
   *
   * @type {{ handle: number, live: string, early: import('./frames.js').ServerFrame[] } | undefined}
   */
  #join;

  /**
   * Whether the first frame of the feed has not arrived, although the feed has items: the server sends it with the reply
   * to the join, or after its search for earlier messages.
   */
  get awaitsFirstFrame() {
    const isExpected = this.firstFrame === 'expected' || this.firstFrame === 'expectedAgain';
    return isExpected && this.live !== undefined && this.tracker.position === undefined && (this.#start?.number ?? 0) > 0;
  }

  /** The position after which the client's feed begins, as the join's reply said. */
  get #start() {
    return this.#startToken === undefined ? undefined : tokenPosition(this.#startToken);
  }

  /**
   * The parameters of a login that continue where the client was.
   *
   * @param {boolean} [isResume] whether the login resumes the live
   */
  resumeParams(isResume = true) {
    const notices = this.#lastNotice === undefined ? {} : { notices: this.#lastNotice };
    if (!isResume || this.live === undefined || this.#ticket === undefined) return notices;
    const token = this.tracker.token ?? this.#startToken;
    const position = (token && tokenPosition(token)) || { epoch: 0, number: 0 };
    const resume = { live: this.live, position, ticket: this.#ticket, ...(token ? { token } : {}) };
    return { ...notices, resume };
  }

  /**
   * A join was sent: what is received for its live is kept until its reply. A join that is sent again after a reconnect
   * keeps what it has.
   *
   * @param {number} handle
   * @param {string} live
   */
  joinSent(handle, live) {
    if (this.#join?.handle !== handle) this.#join = { handle, live, early: [] };
  }

  /**
   * Where this user's notices continue.
   *
   * @param {string} id
   */
  noticesFrom(id) {
    if (this.#lastNotice === undefined && id !== '') this.#lastNotice = id;
  }

  /**
   * A frame of a live, or a notice, was received.
   *
   * @param {import('./frames.js').FeedFrame | import('./frames.js').CountsFrame | import('./frames.js').NoticeFrame} frame
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  received(frame) {
    if (frame.kind === 'notice') {
      if (!isLater(frame.id, this.#lastNotice)) return [];
      this.#lastNotice = frame.id;
    }
    if (frame.live !== this.#join?.live || frame.live === this.live) return this.#apply(frame);
    // A notice that was dropped here would not be sent again, because `#lastNotice` is after it.
    if (frame.kind === 'notice' || this.#join.early.length < maxEarlyFrames) this.#join.early.push(frame);
    return [];
  }

  /**
   * A resume has succeeded.
   *
   * @param {import('./read.js').JSONObject} body
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  resumed(body) {
    const replayed = bool(body.replayed, 'replayed');
    const position = object(body.position, 'position');
    this.#ticket = whole(body.ticket, 'ticket');
    this.firstFrame = 'skipped';
    if (!replayed) {
      this.tracker.resume({ epoch: whole(position.epoch, 'epoch'), number: Math.max(0, whole(position.number, 'number')) });
    }
    return this.live === undefined ? [] : [{ kind: 'resumed', live: this.live, replayed }];
  }

  /**
   * The client could not return into its live.
   *
   * @param {import('./errors.js').PlazaError} error
   * @param {boolean} isLeaving whether the app has asked to leave already
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  lost(error, isLeaving) {
    const { live } = this;
    if (live === undefined) return [];
    this.forget();
    return [isLeaving ? { kind: 'left', live } : { kind: 'lost', live, error }];
  }

  /**
   * A call has ended: follows joins, leaves and ends.
   *
   * @param {import('./call-queue.js').UnfinishedCall} call
   * @param {{ result?: { kind: string, body: import('./read.js').JSONObject }, error?: import('./errors.js').PlazaError }} outcome
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  callEnded(call, { result, error }) {
    if (call.handle === this.#join?.handle) return this.#joinEnded(this.#join, joinIn(result));
    const isOut = call.method === 'live.leave'
      ? error === undefined || error.code === ReplyCode.notInRoom
      : call.method === 'live.end' && error === undefined;
    if (!isOut || call.live === undefined || call.live !== this.live) return [];
    this.forget();
    return call.method === 'live.leave'
      ? [{ kind: 'left', live: call.live }]
      : [{ kind: 'ended.live', live: call.live, statistics: result?.body.statistics }];
  }

  /** The client is in no live any more, so that a reconnect resumes none. */
  forget() {
    this.live = undefined;
    this.#ticket = undefined;
    this.#startToken = undefined;
    this.tracker = new FeedTracker();
    this.firstFrame = 'expected';
  }

  /**
   * A join was repeated on a new connection. If the feed has more items than at the first join, the client takes only the
   * history, and resumes later. If the join has failed, `firstFrame` is `skipped`.
   *
   * @param {{ kind: string, body: import('./read.js').JSONObject }} [result] undefined after an error
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  rejoined(result) {
    const early = this.#join?.early ?? [];
    this.#join = undefined;
    // The user was kicked out meanwhile.
    if (this.live === undefined) return early.flatMap((frame) => this.#apply(frame));
    const joined = joinIn(result);
    const start = this.#start;
    const position = typeof joined?.token === 'string' ? tokenPosition(joined.token) : undefined;
    if (joined === undefined || start === undefined || position === undefined || position.epoch !== start.epoch) {
      this.firstFrame = 'skipped';
      return [];
    }
    this.#ticket = whole(joined.ticket, 'ticket');
    this.firstFrame = position.number > start.number ? 'expectedAgain' : 'expected';
    return this.firstFrame === 'expected' ? [{ kind: 'resumed', live: this.live, replayed: true }] : [];
  }

  /**
   * @param {{ live: string, early: import('./frames.js').ServerFrame[] }} join
   * @param {import('./read.js').JSONObject} [joined] the result of the join; undefined if it did not succeed
   */
  #joinEnded({ live, early }, joined) {
    this.#join = undefined;
    if (joined === undefined) return [];
    const epoch = whole(joined.epoch, 'epoch');
    const isAgain = this.live === live && this.tracker.position?.epoch === epoch;
    if (!isAgain) {
      this.tracker = new FeedTracker();
      this.firstFrame = 'expected';
    }
    this.#startToken = text(joined.token, 'token', '') || (isAgain ? this.#startToken : undefined);
    this.live = live;
    this.#ticket = whole(joined.ticket, 'ticket');
    /** @type {import('./client-core.js').CoreEvent[]} */
    const events = [{ kind: 'joined', live, isAgain, isConfirmed: joined.confirmed !== false }];
    return events.concat(...early.map((frame) => this.#apply(frame)));
  }

  /**
   * @param {import('./frames.js').ServerFrame} frame
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  #apply(frame) {
    if (frame.kind === 'notice') return this.#notice(frame);
    if (frame.kind === 'counts') return frame.live === this.live ? [{ ...frame, kind: 'counts' }] : [];
    if (frame.kind !== 'feed' || frame.live !== this.live) return [];
    if (this.firstFrame === 'expectedAgain' || this.firstFrame === 'received') return this.#applyHistory(frame);
    const { items, hasGap } = this.tracker.record(frame);
    const { live } = frame;
    // `liveEnded` is a live's last item. Then the client is out of the live.
    if (items.some((item) => item.kind === 'liveEnded')) this.forget();
    return [{ kind: 'feed', live, items, hasGap }];
  }

  /**
   * Takes the history up to the first join from a frame after a repeated join; the later items come with the resume.
   *
   * @param {import('./frames.js').FeedFrame} frame
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  #applyHistory(frame) {
    this.firstFrame = 'received';
    const number = this.#start?.number ?? 0;
    if (!frame.isHistory) return [];
    return [{ kind: 'feed', live: frame.live, items: frame.items.filter((item) => item.n <= number), hasGap: false }];
  }

  /**
   * @param {import('./frames.js').NoticeFrame} frame
   * @returns {import('./client-core.js').CoreEvent[]}
   */
  #notice(frame) {
    if (frame.name === 'kickedOut') {
      // Tickets below `floor` are void. A client whose ticket stays valid joined after the kick, or another device of
      // the user was put out in its favour.
      const isVoid = this.#ticket === undefined || frame.floor === undefined || this.#ticket < frame.floor;
      if (frame.live !== this.live || !isVoid) return [];
      this.forget();
      return [{ kind: 'kickedOut', live: frame.live, reason: text(frame.body.reason, 'reason'), by: frame.body.by }];
    }
    return [{ kind: 'notice', live: frame.live, name: frame.name, at: frame.at, body: frame.body }];
  }
}

/**
 * Whether a notice comes after the last known one. Ids are `partition-offset`; a user's notices share a partition. The
 * offset before a partition's first notice is -1, so the id `3--1` is one too.
 *
 * @param {string} id
 * @param {string | undefined} last
 */
function isLater(id, last) {
  if (last === undefined) return true;
  const [partition, offset] = noticePosition(id);
  const [lastPartition, lastOffset] = noticePosition(last);
  return partition !== lastPartition || !(offset <= lastOffset);
}

/**
 * The partition and the offset of an id.
 *
 * @param {string} id
 */
function noticePosition(id) {
  const dash = id.indexOf('-');
  return [Number(id.slice(0, dash)), Number(id.slice(dash + 1))];
}

/**
 * The result of a join, alone or in the result of a `live.create` that joined.
 *
 * @param {{ kind: string, body: import('./read.js').JSONObject }} [result]
 * @returns {import('./read.js').JSONObject | undefined}
 */
function joinIn(result) {
  if (result?.kind === 'joined') return result.body;
  return result?.body.joined === undefined ? undefined : object(result.body.joined, 'joined');
}
