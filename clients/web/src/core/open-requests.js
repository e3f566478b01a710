// SPDX-License-Identifier: Apache-2.0
import { announcedRequest, endedRequests, endsOf, isShownAccepted, requestSnapshots, snapshotOf } from './requests.js';
import { isHost } from './state/co-guest.js';

/** How long it is known that the end of a request was told without its notice, in milliseconds. */
const keptAfterEnd = 120_000;
/** The time of what this client itself does: later than any snapshot. */
const afterAll = Infinity;

/**
 * @typedef {import('./live-fold.js').StoreEvent} StoreEvent
 * @typedef {import('./requests.js').Context} Context
 * @typedef {import('./requests.js').Ends} Ends
 * @typedef {{ ends: Ends, missing?: { at: number | undefined, isAccepted: boolean } }} Entry
 * `missing`: what a snapshot has said of a request whose end no notice has told.
 */

/**
 * The open requests of this user and to this user, whose end is told by one event each.
 *
 * Usually a notice tells the end. The server keeps a notice for a minute only; if it was missed, a later snapshot of the open
 * requests lacks the request. Its notice may still be on its way then. So the client waits a moment, and tells an end by the
 * live's state only if no notice has come (R1.24).
 *
 * Applications of others to a host are not among them: a host is not told of an application that has timed out.
 */
export class OpenRequests {
  /**
   * By name, in the order in which they were opened.
   *
   * @type {Map<string, Entry>}
   */
  #entries = new Map();
  /**
   * For each snapshot that is being read: what was opened or has ended since it was asked for, and when.
   *
   * @type {Map<string, Map<string, number>>}
   */
  #changedDuringRead = new Map();
  /**
   * The requests whose end was told without a notice, with the time of the snapshot that lacked them. Notices of their ends
   * up to this time come too late.
   *
   * @type {Map<string, number>}
   */
  #endedUnnoticed = new Map();
  /** How many of this client's calls that open requests have no outcome yet. */
  #sending = 0;
  /**
   * What has ended while there were such calls: a notice may come before the reply to the call.
   *
   * @type {Set<string>}
   */
  #endedWhileSending = new Set();

  /** Whether a request is missing in a snapshot, and no notice has told how it ended. */
  get awaitsNotices() {
    return [...this.#entries.values()].some(({ missing }) => missing !== undefined);
  }

  /** @param {string} snapshot */
  snapshotAsked(snapshot) {
    if (requestSnapshots.has(snapshot)) this.#changedDuringRead.set(snapshot, new Map());
  }

  /** @param {string} snapshot */
  snapshotFailed(snapshot) {
    this.#changedDuringRead.delete(snapshot);
  }

  /**
   * Takes an input.
   *
   * @param {import('./live-fold.js').Input} input
   * @param {StoreEvent[]} events what the input has led to otherwise
   * @param {Context} context with the states after the input
   * @returns {StoreEvent[]} the events to tell
   */
  reduce(input, events, context) {
    const { type, body, at = afterAll } = input;
    switch (type) {
      case 'snapshot.seatRequests':
      case 'snapshot.coHostRequests':
      case 'snapshot.battleRequests':
        this.#compare(input, events, context);
        return events;
      case 'local.requestsSending':
        this.#sending += 1;
        return events;
      case 'local.requestsSent':
        for (const name of /** @type {string[]} */ (body.names)) {
          if (!this.#endedWhileSending.has(name)) this.#open(name, endsOf(name, context), afterAll);
        }
        this.#sending = Math.max(0, this.#sending - 1);
        if (this.#sending === 0) this.#endedWhileSending.clear();
        return events;
      case 'local.noticesDue':
        return [...events, ...this.#takeMissing(context)];
      default: {
        if (!/^(notice|local)\./.test(type)) return events;
        const ended = endedRequests(input);
        for (const [name, time] of this.#endedUnnoticed) {
          if (time + keptAfterEnd < Number(input.at)) this.#endedUnnoticed.delete(name);
        }
        const isLate = ended.some((name) => at <= (this.#endedUnnoticed.get(name) ?? -Infinity));
        for (const name of ended) this.#end(name, at);
        this.#openAnnounced(events, at, context);
        return isLate ? [] : events;
      }
    }
  }

  /**
   * @param {string} name
   * @param {Ends | undefined} ends
   * @param {number} [at]
   */
  #open(name, ends, at) {
    if (ends === undefined) return;
    if (at !== undefined) this.#changedDuringRead.get(snapshotOf(name))?.set(name, at);
    this.#entries.delete(name);
    this.#entries.set(name, { ends });
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  #end(name, at) {
    this.#changedDuringRead.get(snapshotOf(name))?.set(name, at);
    if (this.#sending > 0) this.#endedWhileSending.add(name);
    this.#entries.delete(name);
  }

  /**
   * Opens the requests of others that events announce.
   *
   * @param {StoreEvent[]} events
   * @param {number | undefined} at the time of the notice; undefined for a snapshot
   * @param {Context} context
   * @param {(name: string) => boolean} [hasChanged]
   */
  #openAnnounced(events, at, context, hasChanged = () => false) {
    for (const event of events) {
      const name = announcedRequest(event);
      if (name !== undefined && !hasChanged(name)) this.#open(name, endsOf(name, context, event.detail), at);
    }
  }

  /**
   * Opens the requests that a snapshot has, and marks those that it lacks.
   *
   * @param {import('./live-fold.js').Input} input
   * @param {StoreEvent[]} events
   * @param {Context} context
   */
  #compare({ type, body, at }, events, context) {
    const snapshot = type.slice('snapshot.'.length);
    const changes = this.#changedDuringRead.get(snapshot) ?? new Map();
    this.#changedDuringRead.delete(snapshot);
    const hasChanged = (/** @type {string} */ name) => changes.has(name) && (at === undefined || changes.get(name) > at);
    const { open, accepted } = requestsOf(body, context.selfID);
    for (const name of open) if (name.startsWith('own') && !hasChanged(name)) this.#open(name, endsOf(name, context));
    this.#openAnnounced(events, undefined, context, hasChanged);
    for (const [name, entry] of this.#entries) {
      // Only a host reads the invitations that it has made.
      const isListed = !name.startsWith('ownInvitation ') || isHost(context);
      if (snapshotOf(name) !== snapshot || !isListed || hasChanged(name)) continue;
      const isAccepted = accepted.has(name);
      entry.missing = isAccepted || !open.has(name) ? { at, isAccepted } : undefined;
    }
  }

  /**
   * The events of the requests that were missing in a snapshot, and whose notices have not come.
   *
   * @param {Context} context
   * @returns {StoreEvent[]}
   */
  #takeMissing(context) {
    const events = [];
    for (const [name, { ends, missing }] of this.#entries) {
      if (missing === undefined) continue;
      const event = missing.isAccepted || isShownAccepted(name, context) ? ends.accepted : ends.unanswered;
      if (event) events.push(event);
      if (missing.at !== undefined) this.#endedUnnoticed.set(name, missing.at);
      this.#entries.delete(name);
    }
    return events;
  }
}

/**
 * The open requests of and to this user in a snapshot, by their names; and those that were accepted, which a snapshot has until
 * their battle begins.
 *
 * @param {any} snapshot what the reducers have read before
 * @param {string} selfID
 */
function requestsOf({ applications = [], invitations = [], sent = [], received = [] }, selfID) {
  /** @type {Set<string>} */
  const open = new Set();
  /** @type {Set<string>} */
  const accepted = new Set();
  for (const { guest } of applications) if (guest.userID === selfID) open.add('ownApplication');
  for (const { guest, host } of invitations) {
    if (host.userID === selfID) open.add(`ownInvitation ${guest.userID}`);
    if (guest.userID === selfID) open.add(`invitation ${host.userID}`);
  }
  for (const { battle, invitee, hasAccepted } of sent) {
    if (battle === undefined) open.add(`ownCoHost ${invitee.live}`);
    else (hasAccepted ? accepted : open).add(`ownBattle ${battle} ${invitee.live}`);
  }
  for (const { battle, inviter } of received) open.add(battle === undefined ? `coHost ${inviter.live}` : `battle ${battle}`);
  return { open, accepted };
}
