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
import { badFrame } from './read.js';

/**
 * @typedef {{ type: string, body: import('./read.js').JSONObject, n?: number, at?: number }} Input
 * What a fold takes. `type` is the source and the name: `item.text`, `notice.applicationReceived`, `snapshot.details`,
 * `local.tip`.
 *
 * @typedef {{ store: SliceName, type: string, detail: any }} StoreEvent
 * @typedef {{ liveID: string, selfID: string, before: LiveStates, states: LiveStates, emit: (type: string, detail: any) => void }} Context
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
   * Inputs since a snapshot was asked for, by the snapshot's name.
   *
   * @type {Map<string, Input[]>}
   */
  #since = new Map();

  /**
   * @param {string} liveID
   * @param {string} selfID the user's id
   */
  constructor(liveID, selfID) {
    this.liveID = liveID;
    this.#selfID = selfID;
  }

  /**
   * A snapshot is asked for. What is received before its answer may be later than the snapshot, so it is kept and folded
   * into the snapshot again.
   *
   * @param {string} name such as `details`
   */
  snapshotAsked(name) {
    this.#since.set(name, []);
  }

  /**
   * A snapshot could not be read.
   *
   * @param {string} name
   */
  snapshotFailed(name) {
    this.#since.delete(name);
  }

  /**
   * Folds an input.
   *
   * @param {Input} input
   * @returns {{ events: StoreEvent[], error?: PlazaError }} the events, and an error if the input is not of the protocol;
   *   then nothing has changed
   */
  apply(input) {
    for (const kept of this.#since.values()) if (kept.length < maxKept) kept.push(input);
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
    const since = this.#since.get(name) ?? [];
    this.#since.delete(name);
    const outcome = this.#fold({ type: `snapshot.${name}`, body }, true);
    for (const input of since) if (repeatsAfter(name, input.type)) this.#fold(input, false);
    return outcome;
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
    try {
      for (const [store, { reduce }] of reducers) {
        const emit = (/** @type {string} */ type, /** @type {any} */ detail) => {
          if (tells) events.push({ store, type, detail });
        };
        states[store] = reduce(states[store], input, { liveID: this.liveID, selfID: this.#selfID, before, states, emit });
      }
    } catch (error) {
      return { events: [], error: error instanceof PlazaError ? error : badFrame(`what cannot be read: ${error}`) };
    }
    this.states = states;
    return { events };
  }
}

/**
 * The inputs that change what a snapshot shows, by the snapshot's name.
 *
 * @type {Record<string, RegExp>}
 */
const changes = {
  details: /^item\.(infoChanged|metadataChanged|adminSet|adminRevoked|userChanged|stage)$|^counts$/,
  audience: /^item\.(audienceJoined|audienceLeft|userChanged)$/,
  mutes: /^item\.messageDisabled$/,
  seatRequests: /^notice\.(application|invitation)|^local\./,
  statistics: /^item\.(likes|summary)$/,
};

/**
 * @param {string} snapshot
 * @param {string} type
 */
function repeatsAfter(snapshot, type) {
  return changes[snapshot]?.test(type) ?? false;
}
