// SPDX-License-Identifier: Apache-2.0
import { memberHost, userInfo } from './models.js';
import { announcedRequest, endedRequests, endsOf, requestSnapshots, snapshotOf } from './requests.js';
import { isShownAccepted, isShownBeforeReply } from './requests.js';
import { isHost } from './state/co-guest.js';

/** How long it is known that the end of a request was told without its notice, in milliseconds. */
const keptAfterEnd = 120_000;
/** The time of what this client itself does: later than any snapshot. */
const afterAll = Infinity;
const beforeAll = -Infinity;

/**
 * @typedef {import('./live-fold.js').StoreEvent} StoreEvent
 * @typedef {import('./requests.js').Context} Context
 * @typedef {import('./requests.js').Ends} Ends
 * @typedef {{ ends: Ends, endsFrom: number, missing?: { at: number | undefined, isAccepted: boolean } }} Entry
 * `endsFrom`: an earlier end is that of an earlier request; `beforeAll` if only the call is known that has opened this
 * one. `missing`: what a snapshot has said of a request whose end no notice has told.
 */

/**
 * The open requests of this user and to this user, whose end is told by one event each.
 *
 * Usually a notice tells the end. The server keeps a notice for a minute only; if it was missed, a later snapshot of
 * the open requests lacks the request. Its notice may still be on its way then. So the client waits a moment, and tells
 * an end by the live's state only if no notice has come (R1.24).
 *
 * One user can make the same request again, under the same name. So an end counts only for a request that was open
 * before it; and whoever is told of a new request is first told that the one before has ended.
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
   * The requests whose end was told without a notice, with the time of the snapshot that lacked them. Notices of their
   * ends up to this time come too late.
   *
   * @type {Map<string, number>}
   */
  #endedUnnoticed = new Map();
  /** How many of this client's calls that open requests have no outcome yet. */
  #sending = 0;
  /**
   * The requests that these calls may open, as far as their names are known before the replies.
   *
   * @type {string[]}
   */
  #sendingNames = [];
  /**
   * The unconfirmed requests that a snapshot lacked; see `unconfirmed`.
   *
   * @type {Set<string>}
   */
  #lacking = new Set();
  /**
   * What has ended while there were such calls, and was not known to be open: a notice may come before the reply to the
   * call that has opened the request.
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
    if (!requestSnapshots.has(snapshot)) return;
    this.#changedDuringRead.set(snapshot, new Map());
    // The new snapshot tells whether the requests are open whose calls have an outcome.
    for (const name of this.#lacking) {
      if (snapshotOf(name) === snapshot && !this.#sendingNames.includes(name)) this.#lacking.delete(name);
    }
  }

  /** @param {string} snapshot */
  snapshotFailed(snapshot) {
    this.#changedDuringRead.delete(snapshot);
  }

  /**
   * The requests of this user that a snapshot may lack although they are open: their calls have no outcome yet, or got
   * it while the snapshot was read.
   *
   * It is not known whether the server has made such a snapshot before it applied the call. So the lists keep these
   * requests, and the snapshot is read once more when the calls have an outcome (R1.25).
   *
   * @param {string} snapshot
   * @returns {Set<string>}
   */
  unconfirmed(snapshot) {
    const names = new Set(this.#sendingNames.filter((name) => snapshotOf(name) === snapshot));
    for (const [name, at] of this.#changedDuringRead.get(snapshot) ?? []) if (at === afterAll) names.add(name);
    return names;
  }

  /**
   * The snapshots that lacked a request whose call had no outcome then, and has one now; each is given once.
   *
   * @returns {Set<string>}
   */
  takeSnapshotsLacking() {
    const decided = [...this.#lacking].filter((name) => !this.#sendingNames.includes(name));
    for (const name of decided) this.#lacking.delete(name);
    return new Set(decided.map(snapshotOf));
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
        return this.#compare(input, events, context);
      case 'local.requestsSending':
        this.#sending += 1;
        this.#sendingNames.push(.../** @type {string[]} */ (body.names));
        return events;
      case 'local.requestsSent':
        for (const name of /** @type {string[]} */ (body.names)) {
          const index = this.#sendingNames.indexOf(name);
          if (index >= 0) this.#sendingNames.splice(index, 1);
        }
        for (const name of /** @type {string[]} */ (body.opened)) {
          if (this.#endedWhileSending.has(name)) continue;
          this.#recordChange(name, afterAll);
          this.#open(name, endsOf(name, context), beforeAll);
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
        return isLate ? [] : this.#openAnnounced(events, at, context);
      }
    }
  }

  /**
   * @param {string} name
   * @param {Ends | undefined} ends
   * @param {number} endsFrom
   */
  #open(name, ends, endsFrom) {
    if (ends === undefined) return;
    this.#entries.delete(name);
    this.#entries.set(name, { ends, endsFrom });
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  #end(name, at) {
    this.#recordChange(name, at);
    const entry = this.#entries.get(name);
    if (entry === undefined) {
      if (this.#sending > 0) this.#endedWhileSending.add(name);
    } else if (at >= entry.endsFrom) {
      this.#entries.delete(name);
    }
  }

  /**
   * @param {string} name
   * @param {number} at
   */
  #recordChange(name, at) {
    const changes = this.#changedDuringRead.get(snapshotOf(name));
    changes?.set(name, Math.max(at, changes.get(name) ?? at));
  }

  /**
   * Opens the requests of others that the events of a notice announce.
   *
   * @param {StoreEvent[]} events
   * @param {number} at
   * @param {Context} context
   */
  #openAnnounced(events, at, context) {
    return events.flatMap((event) => {
      const name = announcedRequest(event);
      if (name === undefined) return [event];
      this.#recordChange(name, at);
      return this.#openByEvent(name, event, at, context);
    });
  }

  /**
   * Opens a request of another user that an event announces.
   *
   * @param {string} name
   * @param {StoreEvent} event
   * @param {number} endsFrom
   * @param {Context} context
   * @returns {StoreEvent[]} the event, and before it the end of the request before; nothing if a later request is open
   * already
   */
  #openByEvent(name, event, endsFrom, context) {
    const before = this.#entries.get(name);
    if (before && endsFrom < before.endsFrom) return [];
    const end = before && missedEnd(name, before, context);
    if (before) this.#endedUnnoticed.set(name, endsFrom - 1);
    this.#open(name, endsOf(name, context, event.detail), endsFrom);
    return end ? [end, event] : [event];
  }

  /**
   * Opens the requests that a snapshot has, and marks those that it lacks.
   *
   * @param {import('./live-fold.js').Input} input
   * @param {StoreEvent[]} events
   * @param {Context} context
   * @returns {StoreEvent[]} the events to tell
   */
  #compare({ type, body, at }, events, context) {
    const snapshot = type.slice('snapshot.'.length);
    const unconfirmed = this.unconfirmed(snapshot);
    const changes = this.#changedDuringRead.get(snapshot) ?? new Map();
    this.#changedDuringRead.delete(snapshot);
    const hasChanged = (/** @type {string} */ name) => changes.has(name) && (at === undefined || changes.get(name) > at);
    const { open, accepted } = requestsOf(body, context.selfID);
    for (const name of unconfirmed) if (isShownBeforeReply(name) && !open.has(name)) this.#lacking.add(name);
    // What is open in the snapshot ends after it.
    const endsFrom = at === undefined ? beforeAll : at + 1;
    for (const [name, detail] of open) {
      if (name.startsWith('own') && !hasChanged(name)) this.#open(name, endsOf(name, context, detail), endsFrom);
    }
    const told = events.flatMap((event) => {
      const name = announcedRequest(event);
      return name === undefined || hasChanged(name) ? [event] : this.#openByEvent(name, event, endsFrom, context);
    });
    for (const [name, entry] of this.#entries) {
      // Only a host reads the invitations that it has made.
      const isListed = !name.startsWith('ownInvitation ') || isHost(context);
      if (snapshotOf(name) !== snapshot || !isListed || hasChanged(name)) continue;
      const isAccepted = accepted.has(name);
      entry.missing = isAccepted || !open.has(name) ? { at, isAccepted } : undefined;
    }
    return told;
  }

  /**
   * The events of the requests that were missing in a snapshot, and whose notices have not come.
   *
   * @param {Context} context
   * @returns {StoreEvent[]}
   */
  #takeMissing(context) {
    const events = [];
    for (const [name, entry] of this.#entries) {
      if (entry.missing === undefined) continue;
      const event = missedEnd(name, entry, context);
      if (event) events.push(event);
      if (entry.missing.at !== undefined) this.#endedUnnoticed.set(name, entry.missing.at);
      this.#entries.delete(name);
    }
    return events;
  }
}

/**
 * The event of an end that no notice tells; undefined if this user has accepted the request.
 *
 * @param {string} name
 * @param {Entry} entry
 * @param {Context} context
 */
function missedEnd(name, { ends, missing }, context) {
  return missing?.isAccepted || isShownAccepted(name, context) ? ends.accepted : ends.unanswered;
}

/**
 * The open requests of and to this user in a snapshot, by their names, with what the snapshot tells of the other side;
 * and those that were accepted, which a snapshot has until their battle begins.
 *
 * @param {any} snapshot what the reducers have read before
 * @param {string} selfID
 */
function requestsOf({ applications = [], invitations = [], sent = [], received = [] }, selfID) {
  /** @type {Map<string, any>} */
  const open = new Map();
  /** @type {Set<string>} */
  const accepted = new Set();
  for (const { guest } of applications) if (guest.userID === selfID) open.set('ownApplication', {});
  for (const { guest, host } of invitations) {
    if (host.userID === selfID) open.set(`ownInvitation ${guest.userID}`, { guestUser: userInfo(guest) });
    if (guest.userID === selfID) open.set(`invitation ${host.userID}`, {});
  }
  for (const { battle, invitee, hasAccepted } of sent) {
    const detail = { invitee: memberHost(invitee) };
    if (battle === undefined) open.set(`ownCoHost ${invitee.live}`, detail);
    else if (hasAccepted) accepted.add(`ownBattle ${battle} ${invitee.live}`);
    else open.set(`ownBattle ${battle} ${invitee.live}`, detail);
  }
  for (const { battle, inviter } of received) open.set(battle === undefined ? `coHost ${inviter.live}` : `battle ${battle}`, {});
  return { open, accepted };
}
