// SPDX-License-Identifier: Apache-2.0
import { array, isObject, object } from './read.js';
import { endedRequests, requestSnapshots, snapshotOf } from './requests.js';

/**
 * @typedef {{ name: string, openSince: number, remainingTime: number | undefined }} ListedRequest an open request that a
 * notice or a snapshot tells of, and that a list of a host's store shows: since when it is open, and for how many
 * milliseconds it is at most; undefined if the server does not tell
 */

/**
 * The open requests that the lists of a host's stores show, with what tells that they have ended without a notice.
 *
 * The server notifies no device of the user who answers a request. So another device of this user learns of an
 * acceptance by the stage, and of a rejection only by a read of the open requests (R1.26).
 */
export class ListedRequests {
  /**
   * Since when a request is open, by the notice or the snapshot that tells of it.
   *
   * @type {Map<string, number>}
   */
  #openSince = new Map();
  /**
   * When the feed showed that the user of a request sits, or that its lives are connected.
   *
   * @type {Map<string, number>}
   */
  #acceptedAt = new Map();

  /**
   * Takes an input.
   *
   * @param {import('./live-fold.js').Input} input
   * @param {import('./read.js').JSONObject | undefined} newStage undefined if the input has not changed the stage
   * @param {string} liveID
   * @param {string} selfID
   */
  reduce(input, newStage, liveID, selfID) {
    const { type, at } = input;
    if (/^(notice|local)\./.test(type)) {
      for (const name of endedRequests(input)) {
        if (at === undefined || at >= (this.#openSince.get(name) ?? -Infinity)) this.#openSince.delete(name);
      }
    }
    const snapshot = type.startsWith('snapshot.') ? type.slice('snapshot.'.length) : '';
    if (requestSnapshots.has(snapshot)) {
      for (const name of this.#openSince.keys()) if (snapshotOf(name) === snapshot) this.#openSince.delete(name);
    }
    for (const { name, openSince } of listedRequests(input, selfID)) {
      this.#openSince.set(name, Math.max(openSince, this.#openSince.get(name) ?? openSince));
    }
    if (newStage === undefined) return;
    const accepted = acceptedRequests(newStage, liveID);
    for (const name of this.#acceptedAt.keys()) if (!accepted.has(name)) this.#acceptedAt.delete(name);
    // A stage that a snapshot contains has no time, and leaves the requests as they are.
    for (const name of accepted) if (!this.#acceptedAt.has(name)) this.#acceptedAt.set(name, at ?? -Infinity);
  }

  /**
   * Whether the stage shows that a request of another user was accepted. The user may have left the seat and applied
   * again, and the stage may show it still on the seat. So only a stage counts that is not older than the request.
   *
   * @param {string} name
   */
  isAccepted(name) {
    const at = this.#acceptedAt.get(name) ?? -Infinity;
    return at > -Infinity && at >= (this.#openSince.get(name) ?? -Infinity);
  }
}

/**
 * The open requests that an input tells of, for the lists of a host's stores.
 *
 * @param {import('./live-fold.js').Input} input
 * @param {string} selfID
 * @returns {ListedRequest[]}
 */
export function listedRequests({ type, body, at }, selfID) {
  const one = (/** @type {string} */ name, /** @type {any} */ expiresAt, /** @type {number} */ openSince) => (
    { name, openSince, remainingTime: at === undefined ? undefined : Number(expiresAt) - at });
  // What is open in a snapshot was not accepted up to its time.
  const since = at === undefined ? -Infinity : at + 1;
  const objects = (/** @type {unknown} */ list, /** @type {string} */ name) => array(list ?? [], name).map((entry) => (
    /** @type {any} */ (object(entry, name))));
  switch (type) {
    case 'notice.applicationReceived':
      return [one(`application ${idOf(body.guest)}`, body.expiresAt, at ?? -Infinity)];
    case 'notice.coHostRequestReceived':
      return [one(`coHost ${idOf(body.inviter)}`, body.expiresAt, at ?? -Infinity)];
    case 'snapshot.seatRequests':
      return [
        ...objects(body.applications, 'applications').map((entry) => one(`application ${idOf(entry.guest)}`, entry.expiresAt, since)),
        ...objects(body.invitations, 'invitations').filter((entry) => idOf(entry.host) === selfID)
          .map((entry) => one(`ownInvitation ${idOf(entry.guest)}`, entry.expiresAt, since)),
      ];
    case 'snapshot.coHostRequests':
      return [
        ...objects(body.sent, 'sent').map((entry) => one(`ownCoHost ${idOf(entry.invitee)}`, entry.expiresAt, since)),
        ...objects(body.received, 'received').map((entry) => one(`coHost ${idOf(entry.inviter)}`, entry.expiresAt, since)),
      ];
    default: return [];
  }
}

/**
 * The requests to the hosts of a live that have no place beside a stage: of users who sit in the live, and of lives that
 * are connected with it.
 *
 * @param {import('./read.js').JSONObject} stage
 * @param {string} liveID
 * @returns {Set<string>}
 */
function acceptedRequests(stage, liveID) {
  /** @type {any[]} */
  const seats = array(stage.seats, 'seats');
  const seated = seats.map((seat) => seat?.occupant).filter((occupant) => isObject(occupant) && occupant.live === liveID);
  /** @type {any[]} */
  const members = isObject(stage.connection) ? array(stage.connection.members, 'members') : [];
  return new Set([
    ...seated.map((occupant) => `application ${idOf(occupant.user)}`),
    ...members.map(idOf).filter((live) => live !== liveID).map((live) => `coHost ${live}`),
  ]);
}

/**
 * Whether a list of a host's store shows a request.
 *
 * @param {import('./live-fold.js').LiveStates} states
 * @param {string} name
 */
export function isListed({ coGuest, coHost }, name) {
  const [kind, id] = name.split(' ');
  switch (kind) {
    case 'application': return coGuest.applicants.some((user) => user.userID === id);
    case 'ownInvitation': return coGuest.invitees.some((user) => user.userID === id);
    case 'coHost': return coHost.applicant?.liveID === id;
    case 'ownCoHost': return coHost.invitees.some((host) => host.liveID === id);
    default: return false;
  }
}

/** @param {any} value a user, or a member of a connection */
function idOf(value) {
  return String(value?.userID ?? value?.live);
}
