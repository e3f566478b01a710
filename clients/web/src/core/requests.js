// SPDX-License-Identifier: Apache-2.0
import { bareUser, emptySeatUser } from './models.js';
import { isObject } from './read.js';
import { battleOf, hostOfLive } from './state/battle.js';

/**
 * @typedef {import('./live-fold.js').StoreEvent} StoreEvent
 * @typedef {{ liveID: string, selfID: string, states: import('./live-fold.js').LiveStates }} Context
 * @typedef {{ accepted?: StoreEvent, unanswered: StoreEvent }} Ends
 * The events of the possible ends of a request that no notice tells. `accepted` if the live's state shows that it was
 * accepted; left out if this user itself has accepted it. `unanswered` otherwise.
 */

/**
 * The names of requests: what a request is, and who has made it or gets it, or its battle.
 *
 * Of others: `application <guest>`, `invitation <host>`, `coHost <live>`, `battle <battle>`. This user's own:
 * `ownApplication`, `ownInvitation <guest>`, `ownCoHost <live>`, `ownBattle <battle> <live>`. No id contains a blank.
 */

/** The snapshots that contain open requests. */
export const requestSnapshots = new Set(['seatRequests', 'coHostRequests', 'battleRequests']);

/**
 * The snapshot that contains a request while it is open.
 *
 * @param {string} name
 */
export function snapshotOf(name) {
  if (/^(coHost|ownCoHost) /.test(name)) return 'coHostRequests';
  return /^(battle|ownBattle) /.test(name) ? 'battleRequests' : 'seatRequests';
}

/**
 * Whether a list of a store shows a request from its call on, and not only when the server has answered.
 *
 * @param {string} name
 */
export function isShownBeforeReply(name) {
  return /^own(Invitation|CoHost) /.test(name);
}

/**
 * A list of open requests after a read: the users whom the snapshot contains, then those of the list shown before whose
 * requests it may lack although they are open (R1.25).
 *
 * @template User
 * @param {readonly User[]} read
 * @param {readonly User[]} shown
 * @param {Set<string>} unconfirmed
 * @param {(user: User) => string} nameOf the name of a user's request
 * @returns {User[]}
 */
export function withUnconfirmed(read, shown, unconfirmed, nameOf) {
  const names = new Set(read.map(nameOf));
  return [...read, ...shown.filter((user) => unconfirmed.has(nameOf(user)) && !names.has(nameOf(user)))];
}

/**
 * The request that an event announces; undefined for other events.
 *
 * @param {{ type: string, detail: any }} event
 * @returns {string | undefined}
 */
export function announcedRequest({ type, detail }) {
  switch (type) {
    case 'onGuestApplicationReceived': return `application ${detail.guestUser.userID}`;
    case 'onHostInvitationReceived': return `invitation ${detail.hostUser.userID}`;
    case 'onCoHostRequestReceived': return `coHost ${detail.inviter.liveID}`;
    case 'onBattleRequestReceived': return `battle ${detail.battleID}`;
    default: return undefined;
  }
}

/**
 * What ends a request: the types of inputs, and the parts of the request's name, which are its kind and fields of the
 * input. An end between two lives has two names, of which one is no request: a live makes none to itself.
 *
 * @type {[RegExp, string, ...string[]][]}
 */
const ends = [
  [/^notice\.application(Cancelled|TimedOut|Processed)$/, 'application', 'guest'],
  [/^local\.applicationAnswered$/, 'application', 'user'],
  [/^notice\.application(Answered|NoResponse)$|^local\.applicationCancelled$/, 'ownApplication'],
  [/^notice\.invitation(Cancelled|TimedOut)$|^local\.invitationAnswered$/, 'invitation', 'host'],
  [/^notice\.invitation(Answered|NoResponse)$/, 'ownInvitation', 'guest'],
  [/^local\.invitationCancelled$/, 'ownInvitation', 'user'],
  [/\.coHostRequest(Cancelled|TimedOut|Ended)$/, 'coHost', 'inviter'],
  [/\.coHostRequest(Cancelled|TimedOut|Ended|Accepted|Rejected)$/, 'ownCoHost', 'invitee'],
  [/\.battle(Request(Cancelled|TimedOut)|Answered)$/, 'battle', 'battle'],
  [/\.battleRequest(Cancelled|TimedOut|Accepted|Rejected)$/, 'ownBattle', 'battle', 'invitee'],
];

/**
 * The requests that an input ends.
 *
 * @param {{ type: string, body: import('./read.js').JSONObject }} input perhaps of any form: it may not be read yet
 * @returns {string[]}
 */
export function endedRequests({ type, body }) {
  return ends.filter(([pattern]) => pattern.test(type))
    .map(([, kind, ...fields]) => [kind, ...fields.map((field) => idOf(body[field]))].join(' '));
}

/** @param {unknown} value a user, a member of a connection, or the id of something */
function idOf(value) {
  return isObject(value) ? value.userID ?? value.live : value;
}

/**
 * The ends of a request.
 *
 * @param {string} name
 * @param {Context} context with the states that show the request
 * @param {any} [detail] the payload of the event that has announced a request of another user, or what a snapshot tells
 * of the other side of this user's own
 * @returns {Ends | undefined} undefined for an application of another user: a host is not told if it times out
 */
export function endsOf(name, context, detail) {
  const { audience, coGuest, coHost, live } = context.states;
  const [kind, first, second] = name.split(' ');
  const self = hostOfLive(context, context.liveID);
  switch (kind) {
    case 'ownApplication':
      // The owner stands for the host who has accepted, whom the live's state does not name.
      return {
        accepted: event('coGuest', 'onGuestApplicationResponded', { isAccept: true, hostUser: live.info.liveOwner }),
        unanswered: event('coGuest', 'onGuestApplicationNoResponse', { reason: 'timeout' }),
      };
    case 'ownInvitation': {
      const known = [...coGuest.invitees, ...audience.audienceList];
      const guestUser = detail?.guestUser ?? known.find((user) => user.userID === first) ?? bareUser(first);
      return {
        accepted: event('coGuest', 'onHostInvitationResponded', { isAccept: true, guestUser }),
        unanswered: event('coGuest', 'onHostInvitationNoResponse', { guestUser, reason: 'timeout' }),
      };
    }
    case 'ownCoHost': {
      const known = detail?.invitee ?? coHost.invitees.find((host) => host.liveID === first);
      const invitee = known ?? { ...emptySeatUser, liveID: first };
      return {
        accepted: event('coHost', 'onCoHostRequestAccepted', { invitee }),
        unanswered: event('coHost', 'onCoHostRequestTimeout', { inviter: self, invitee }),
      };
    }
    case 'ownBattle': {
      const sides = { battleID: first, inviter: self, invitee: detail?.invitee ?? hostOfLive(context, second) };
      return { accepted: event('battle', 'onBattleRequestAccept', sides),
        unanswered: event('battle', 'onBattleRequestTimeout', sides) };
    }
    case 'invitation':
      return { unanswered: event('coGuest', 'onHostInvitationCancelled', { hostUser: detail.hostUser, isTimeout: false }) };
    case 'coHost':
      return { unanswered: event('coHost', 'onCoHostRequestTimeout', { inviter: detail.inviter, invitee: self }) };
    case 'battle': {
      const { inviter, invitee } = detail;
      return { unanswered: event('battle', 'onBattleRequestTimeout', { battleID: first, inviter, invitee }) };
    }
    default: return undefined;
  }
}

/**
 * Whether the live's state shows that a request was accepted.
 *
 * @param {string} name
 * @param {Context} context
 */
export function isShownAccepted(name, { liveID, selfID, states }) {
  const [kind, first, second] = name.split(' ');
  const isSeated = (/** @type {string} */ user) => states.coGuest.connected.some((other) => other.userID === user);
  const isConnected = (/** @type {string} */ live) => states.coHost.connected.some((host) => host.liveID === live);
  const isInBattle = (/** @type {string} */ live) => {
    const sides = battleOf(states.stage.record, first)?.sides;
    return Array.isArray(sides) && sides.some((side) => side?.live === live);
  };
  switch (kind) {
    case 'ownApplication':
    case 'invitation': return isSeated(selfID);
    case 'ownInvitation': return isSeated(first);
    case 'coHost':
    case 'ownCoHost': return isConnected(first) && isConnected(liveID);
    default: return isInBattle(second ?? liveID);
  }
}

/**
 * @param {StoreEvent['store']} store
 * @param {string} type
 * @param {object} detail
 * @returns {StoreEvent}
 */
function event(store, type, detail) {
  return { store, type, detail };
}
