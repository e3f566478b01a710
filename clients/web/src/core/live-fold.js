// SPDX-License-Identifier: Apache-2.0
import * as audience from './state/audience.js';
import * as barrage from './state/barrage.js';
import * as battle from './state/battle.js';
import * as coGuest from './state/co-guest.js';
import * as coHost from './state/co-host.js';
import * as gift from './state/gift.js';
import * as like from './state/like.js';
import * as live from './state/live.js';
import * as seat from './state/seat.js';
import * as stage from './state/stage.js';
import * as summary from './state/summary.js';
import { PlazaError } from './errors.js';
import { ListedRequests } from './listed-requests.js';
import { OpenRequests } from './open-requests.js';
import { badFrame, isObject } from './read.js';
import { announcedRequest, endedRequests } from './requests.js';

/**
 * @typedef {{ type: string, body: import('./read.js').JSONObject, n?: number, at?: number }} Input
 * What a fold takes. `type` is the source and the name: `item.text`, `notice.applicationReceived`, `snapshot.details`,
 * `local.tip`.
 *
 * @typedef {{ store: SliceName, type: string, detail: any, request?: string }} StoreEvent
 * `request` names the request of which the event tells, if a notice and a read may both tell of it.
 * @typedef {{ liveID: string, selfID: string, before: LiveStates, states: LiveStates, emit: (type: string, detail: any, request?: string) => void, isCovered: (snapshot: string) => boolean, unconfirmed: Set<string>, isAccepted: (request: string) => boolean }} Context `isCovered` says whether a snapshot contains the input already: then it leads to events, but does not change what the
 * snapshot shows. `unconfirmed` are the requests of this user that the snapshot may lack although they are open.
 * `isAccepted` says whether the stage shows that a request of another user was accepted.
 * @typedef {{ live: live.State, stage: stage.State, audience: audience.State, barrage: barrage.State, seat: seat.State, coGuest: coGuest.State, coHost: coHost.State, battle: battle.State, gift: gift.State, like: like.State, summary: summary.State }} LiveStates
 * @typedef {keyof LiveStates} SliceName
 */

/**
 * The reducers by the name of their slice, in the order in which they are called: later ones may read earlier slices.
 *
 * @type {ReadonlyArray<[SliceName, { initial: () => any, reduce: (state: any, input: Input, context: Context) => any }]>}
 */
const reducers = [
  ['live', live], ['stage', stage], ['audience', audience], ['barrage', barrage], ['seat', seat],
  ['coHost', coHost], ['coGuest', coGuest], ['battle', battle], ['gift', gift], ['like', like], ['summary', summary],
];

/** How many inputs are kept while a snapshot is on its way. */
const maxKept = 1000;
/**
 * How long after the end of its time a request is known, in milliseconds: longer than the server keeps notices and than
 * a read takes.
 */
const keptAfterEnd = 120_000;

/**
 * The states of a live before anything is known of it.
 *
 * @returns {LiveStates}
 */
export function initialStates() {
  return /** @type {any} */ (Object.fromEntries(reducers.map(([name, { initial }]) => [name, initial()])));
}

/**
 * Folds what a client receives about one live into the states of its stores. A pure value but for its own fields: the
 * same inputs give the same states and events.
 */
export class LiveFold {
  states = initialStates();
  liveID;
  #selfID;
  /**
   * Inputs since a snapshot was asked for, by the snapshot's name; `isOverflown` if there were too many to keep.
   *
   * @type {Map<string, { inputs: Input[], isOverflown: boolean }>}
   */
  #since = new Map();
  /**
   * The times of the snapshots that were read last, by name.
   *
   * @type {Map<string, number>}
   */
  #times = new Map();
  /**
   * The requests of others of which an event has told, with their ends in seconds since 1970.
   *
   * @type {Map<string, number>}
   */
  #announced = new Map();
  /** What tells that requests in the lists of a host's stores have ended. */
  #listed = new ListedRequests();
  /** The open requests whose end leads to an event. */
  #openRequests = new OpenRequests();

  /**
   * @param {string} liveID
   * @param {string} selfID the user's id
   */
  constructor(liveID, selfID) {
    this.liveID = liveID;
    this.#selfID = selfID;
  }

  /**
   * A snapshot is asked for. What is received before its answer may be later than the snapshot, so it is kept and
   * folded into the snapshot again.
   *
   * @param {string} name such as `details`
   */
  snapshotAsked(name) {
    this.#since.set(name, { inputs: [], isOverflown: false });
    this.#openRequests.snapshotAsked(name);
  }

  /**
   * A snapshot could not be read.
   *
   * @param {string} name
   */
  snapshotFailed(name) {
    this.#since.delete(name);
    this.#openRequests.snapshotFailed(name);
  }

  /** Whether a request is no longer open according to a snapshot, and no notice has told how it ended. */
  get awaitsNotices() {
    return this.#openRequests.awaitsNotices;
  }

  /**
   * The snapshots that must be read once more, because they lacked a request of this user whose call had no outcome
   * when they were asked for, and has one now.
   */
  takeSnapshotsLackingRequests() {
    return this.#openRequests.takeSnapshotsLacking();
  }

  /**
   * Whether so many inputs were received since a snapshot was asked for that it must be read again.
   *
   * @param {string} name
   */
  mustReadAgain(name) {
    return this.#since.get(name)?.isOverflown ?? false;
  }

  /**
   * Folds an input.
   *
   * @param {Input} input
   * @returns {{ events: StoreEvent[], error?: PlazaError }} the events, and an error if the input is not of the
   * protocol;
   *   then nothing has changed
   */
  apply(input) {
    for (const [name, kept] of this.#since) {
      if (!isChangedBy(name, input.type)) continue;
      if (kept.inputs.length < maxKept) kept.inputs.push(input);
      else kept.isOverflown = true;
    }
    return this.#fold(input, true);
  }

  /**
   * A snapshot was read.
   *
   * @param {string} name
   * @param {import('./read.js').JSONObject} body
   * @returns {{ events: StoreEvent[], error?: PlazaError }}
   */
  snapshotRead(name, body) {
    const since = this.#since.get(name)?.inputs ?? [];
    this.#since.delete(name);
    const at = timeOf(body);
    if (at === undefined) this.#times.delete(name);
    else this.#times.set(name, at);
    const outcome = this.#fold({ type: `snapshot.${name}`, body, at }, true);
    for (const input of since) this.#fold(input, false);
    // A request that has ended since the server answered is not announced any more. What ended before is not in the
    // answer.
    const ended = new Set(since.filter((input) => !(Number(input.at) <= Number(at))).flatMap(endedRequests));
    return { ...outcome, events: outcome.events.filter((event) => !ended.has(announcedRequest(event) ?? '')) };
  }

  /**
   * @param {Input} input
   * @param {boolean} tells
   * @returns {{ events: StoreEvent[], error?: PlazaError }}
   */
  #fold(input, tells) {
    const before = this.states;
    /** @type {StoreEvent[]} */
    const events = [];
    const states = /** @type {any} */ ({ ...before });
    const { type, at } = input;
    const unconfirmed = type.startsWith('snapshot.') ? this.#openRequests.unconfirmed(type.slice('snapshot.'.length)) : new Set();
    const isCovered = (/** @type {string} */ name) => at !== undefined && at <= (this.#times.get(name) ?? -Infinity) && isChangedBy(name, type);
    const isAccepted = (/** @type {string} */ request) => this.#listed.isAccepted(request);
    try {
      for (const [store, { reduce }] of reducers) {
        const emit = (/** @type {string} */ type, /** @type {any} */ detail, /** @type {string | undefined} */ request) => {
          if (tells) events.push({ store, type, detail, request });
        };
        states[store] = reduce(states[store], input, { liveID: this.liveID, selfID: this.#selfID, before, states, emit, isCovered, unconfirmed, isAccepted });
        if (store === 'stage') {
          const { record } = states.stage;
          this.#listed.reduce(input, record === before.stage.record ? undefined : record, this.liveID, this.#selfID);
        }
      }
    } catch (error) {
      return { events: [], error: error instanceof PlazaError ? error : badFrame(`what cannot be read: ${error}`) };
    }
    this.states = states;
    const fresh = events.filter((event) => this.#isNew(event, at));
    if (!tells) return { events: fresh };
    return { events: this.#openRequests.reduce(input, fresh, { liveID: this.liveID, selfID: this.#selfID, states }) };
  }

  /**
   * Whether an event is to be told. A notice tells of a request, or a later read of the open requests, if the notice
   * was missed; each request leads to one event.
   *
   * @param {StoreEvent} event
   * @param {number | undefined} at
   */
  #isNew({ type, detail, request }, at) {
    if (request === undefined) return true;
    // Nothing tells any more of a request that is over for so long.
    for (const [key, end] of this.#announced) if (end * 1000 + keptAfterEnd < Number(at)) this.#announced.delete(key);
    const key = `${type} ${request}`;
    if (this.#announced.has(key)) return false;
    this.#announced.set(key, detail.expiresAt);
    return true;
  }
}

/**
 * The time of a snapshot: it contains what feed items and notices up to this time tell. Undefined if the server does
 * not tell, and for details, whose parts have revisions of their own.
 *
 * @param {import('./read.js').JSONObject} body
 */
export function timeOf(body) {
  const at = isObject(body.page) ? body.page.at : body.at;
  return typeof at === 'number' ? at : undefined;
}

/**
 * The inputs that change what a snapshot shows, or end a request in it, by the snapshot's name.
 *
 * @type {Record<string, RegExp>}
 */
const changes = {
  details: /^item\.(infoChanged|metadataChanged|adminSet|adminRevoked|userChanged|stage)$|^counts$/,
  audience: /^item\.(audienceJoined|audienceLeft|userChanged)$/,
  mutes: /^item\.messageDisabled$/,
  seatRequests: /^notice\.(application|invitation)|^local\.(applicationAnswered|applicationCancelled|invitationAnswered|invitationCancelled)$/,
  coHostRequests: /^notice\.coHostRequest|^local\.coHostRequestEnded$/,
  battleRequests: /^notice\.battleRequest|^local\.battle(Answered|RequestCancelled)$/,
  statistics: /^item\.(likes|summary)$/,
};

/**
 * @param {string} snapshot
 * @param {string} type
 */
function isChangedBy(snapshot, type) {
  return changes[snapshot]?.test(type) ?? false;
}
