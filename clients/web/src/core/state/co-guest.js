// SPDX-License-Identifier: Apache-2.0
import { bareUser, seconds, seatUser, userInfo } from '../models.js';
import { array, bool, isObject, object, text, whole } from '../read.js';
import { withUnconfirmed } from '../requests.js';

/** @typedef {import('../../index.js').CoGuestState} State */

/** @returns {State} */
export const initial = () => ({ connected: [], invitees: [], applicants: [], candidates: [] });

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, input, context) {
  let next = step(state, input, context);
  if (context.isCovered('seatRequests')) next = state;
  const { record } = context.states.stage;
  if (record !== undefined && record !== context.before.stage.record) {
    const seats = array(record.seats, 'seats').map((seat) => object(seat, 'seat')).filter((seat) => isObject(seat.occupant));
    const connected = seats.map((seat) => seatUser(seat.occupant));
    // A user on a seat is invited no more.
    const invitees = next.invitees.filter((user) => !connected.some((other) => other.userID === user.userID));
    next = { ...next, connected, invitees };
  }
  // Another device of this user may have accepted an application.
  if (next.applicants.some((user) => context.isAccepted(`application ${user.userID}`))) {
    next = { ...next, applicants: next.applicants.filter((user) => !context.isAccepted(`application ${user.userID}`)) };
  }
  // A former admin answers no requests any more.
  if (!isHost(context) && next.applicants.length + next.invitees.length > 0) next = { ...next, applicants: [], invitees: [] };
  const { audience } = context.states;
  if (next === state && audience.audienceList === context.before.audience.audienceList) return state;
  // Who could be invited: the viewers who neither sit nor are invited.
  const taken = new Set([...next.connected, ...next.invitees].map((user) => user.userID));
  return { ...next, candidates: audience.audienceList.filter((user) => !taken.has(user.userID)) };
}

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
function step(state, { type, body }, context) {
  const { selfID, states, emit } = context;
  switch (type) {
    case 'snapshot.seatRequests': {
      const invitations = array(body.invitations, 'invitations').map((entry) => object(entry, 'invitation'));
      for (const entry of invitations) {
        if (userInfo(entry.guest).userID === selfID) invited(entry, emit);
      }
      const applications = array(body.applications, 'applications').map((entry) => object(entry, 'application'));
      // A viewer reads its own application only.
      if (isHost(context)) for (const entry of applications) applied(entry, context);
      const invitees = invitations.filter((entry) => userInfo(entry.host).userID === selfID).map((entry) => userInfo(entry.guest));
      return {
        ...state,
        applicants: applications.map((entry) => userInfo(entry.guest)),
        invitees: withUnconfirmed(invitees, state.invitees, context.unconfirmed, (user) => `ownInvitation ${user.userID}`),
      };
    }
    case 'notice.applicationReceived': {
      const guestUser = userInfo(body.guest);
      applied(body, context);
      return { ...state, applicants: [...without(state.applicants, guestUser.userID), guestUser] };
    }
    case 'notice.applicationCancelled': {
      const guestUser = userInfo(body.guest);
      emit('onGuestApplicationCancelled', { guestUser });
      return { ...state, applicants: without(state.applicants, guestUser.userID) };
    }
    case 'notice.applicationTimedOut':
      return { ...state, applicants: without(state.applicants, userInfo(body.guest).userID) };
    case 'notice.applicationProcessed': {
      const guestUser = userInfo(body.guest);
      const isAccept = bool(body.accepted, 'accepted');
      emit('onGuestApplicationProcessedByOtherHost', { guestUser, hostUser: userInfo(body.by), isAccept });
      return { ...state, applicants: without(state.applicants, guestUser.userID) };
    }
    case 'notice.invitationAnswered': {
      const guestUser = userInfo(body.guest);
      emit('onHostInvitationResponded', { isAccept: bool(body.accepted, 'accepted'), guestUser });
      return { ...state, invitees: without(state.invitees, guestUser.userID) };
    }
    case 'notice.invitationNoResponse': {
      const guestUser = userInfo(body.guest);
      emit('onHostInvitationNoResponse', { guestUser, reason: text(body.reason, 'reason') });
      return { ...state, invitees: without(state.invitees, guestUser.userID) };
    }
    case 'notice.invitationReceived':
      invited(body, emit);
      return state;
    case 'notice.invitationCancelled':
    case 'notice.invitationTimedOut':
      emit('onHostInvitationCancelled', { hostUser: userInfo(body.host), isTimeout: type === 'notice.invitationTimedOut' });
      return state;
    case 'notice.applicationAnswered':
      emit('onGuestApplicationResponded', { isAccept: bool(body.accepted, 'accepted'), hostUser: userInfo(body.host) });
      return state;
    case 'notice.applicationNoResponse':
      emit('onGuestApplicationNoResponse', { reason: text(body.reason, 'reason') });
      return state;
    case 'notice.kickedOffSeat':
      emit('onKickedOffSeat', { seatIndex: whole(body.seatIndex, 'seatIndex'), hostUser: userInfo(body.by) });
      return state;
    // What this user's own calls have done.
    case 'local.applicationAnswered':
      return { ...state, applicants: without(state.applicants, text(body.user, 'user')) };
    case 'local.invited': {
      const userID = text(body.user, 'user');
      const guest = states.audience.audienceList.find((user) => user.userID === userID) ?? bareUser(userID);
      return { ...state, invitees: [...without(state.invitees, userID), guest] };
    }
    case 'local.invitationCancelled':
      return { ...state, invitees: without(state.invitees, text(body.user, 'user')) };
    default:
      return state;
  }
}

/**
 * Another user has applied: an admin may apply as well. Who applies may withdraw that and apply anew, so the end of the
 * time tells its applications apart.
 *
 * @param {import('../read.js').JSONObject} body
 * @param {import('../live-fold.js').Context} context
 */
function applied(body, { selfID, emit }) {
  const guestUser = userInfo(body.guest);
  if (guestUser.userID === selfID) return;
  emit('onGuestApplicationReceived', { guestUser, ...requestDetail(body) }, `${guestUser.userID} ${whole(body.expiresAt, 'expiresAt', 0)}`);
}

/**
 * This user is invited. A host may invite anew within a second, so the end of the time tells invitations apart in
 * milliseconds.
 *
 * @param {import('../read.js').JSONObject} body
 * @param {import('../live-fold.js').Context['emit']} emit
 */
function invited(body, emit) {
  const hostUser = userInfo(body.host);
  emit('onHostInvitationReceived', { hostUser, ...requestDetail(body) }, `${hostUser.userID} ${whole(body.expiresAt, 'expiresAt', 0)}`);
}

/**
 * Whether the user is the owner of the live or an admin.
 *
 * @param {{ selfID: string, states: import('../live-fold.js').LiveStates }} context
 */
export function isHost({ selfID, states }) {
  const { info } = states.live;
  return info.liveOwner.userID === selfID || info.admins.includes(selfID);
}

/** @param {import('../read.js').JSONObject} body */
function requestDetail(body) {
  return {
    seatIndex: whole(body.seatIndex, 'seatIndex', -1),
    expiresAt: seconds(body.expiresAt, 'expiresAt'),
    extraInfo: text(body.extraInfo, 'extraInfo', ''),
  };
}

/**
 * @param {readonly import('../../index.js').LiveUserInfo[]} users
 * @param {string} userID
 */
function without(users, userID) {
  return users.filter((user) => user.userID !== userID);
}
