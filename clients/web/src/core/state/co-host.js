// SPDX-License-Identifier: Apache-2.0
import { emptySeatUser, hostOf, liveInfo, memberHost, seconds } from '../models.js';
import { array, isObject, object, text, whole } from '../read.js';
import { withUnconfirmed } from '../requests.js';

/** @typedef {import('../../index.js').CoHostState} State */

/** @returns {State} */
export const initial = () => ({
  coHostStatus: 'disconnected', connected: [], invitees: [], applicant: null, candidates: [], candidatesCursor: '',
  mutedLives: [],
});

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, input, context) {
  const { record, events } = context.states.stage;
  let next = step(state, input, context);
  if (context.isCovered('coHostRequests')) next = state;
  if (record !== undefined && record !== context.before.stage.record) next = connection(next, record, context.liveID);
  // Another device of this user may have accepted the request.
  if (next.applicant !== null && context.isAccepted(`coHost ${next.applicant.liveID}`)) next = { ...next, applicant: null };
  for (const { kind, body } of events) {
    if (kind === 'coHostJoined') context.emit('onCoHostUserJoined', { userInfo: memberHost(body.member) });
    else if (kind === 'coHostLeft') context.emit('onCoHostUserLeft', { userInfo: memberHost(body.member) });
  }
  return next;
}

/**
 * Shows the connection that a stage has.
 *
 * @param {State} state
 * @param {import('../read.js').JSONObject} record
 * @param {string} liveID
 * @returns {State}
 */
function connection(state, record, liveID) {
  const value = isObject(record.connection) ? record.connection : { members: [], mutedLives: [] };
  const connected = array(value.members, 'members').map(memberHost);
  const lives = new Set(connected.map((host) => host.liveID));
  return {
    ...state,
    connected,
    coHostStatus: lives.has(liveID) ? 'connected' : 'disconnected',
    invitees: state.invitees.filter((host) => !lives.has(host.liveID)),
    candidates: state.candidates.filter((host) => !lives.has(host.liveID)),
    mutedLives: array(value.mutedLives ?? [], 'mutedLives').map((live) => text(live, 'live')),
  };
}

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
function step(state, { type, body }, { liveID, emit, unconfirmed }) {
  /** @param {string} live */
  const known = (live) => state.invitees.find((host) => host.liveID === live)
    ?? (state.applicant?.liveID === live ? state.applicant : undefined)
    ?? state.candidates.find((host) => host.liveID === live)
    ?? { ...emptySeatUser, liveID: live };
  /** @param {string} name of a side of a request: its live, and perhaps its member */
  const host = (name) => (isObject(body[`${name}Member`]) ? memberHost(body[`${name}Member`]) : known(text(body[name], name)));
  switch (type) {
    case 'notice.coHostRequestReceived':
      return { ...state, applicant: received(body, emit) };
    case 'notice.coHostRequestCancelled': {
      const inviter = memberHost(body.inviter);
      emit('onCoHostRequestCancelled', { inviter, invitee: host('invitee') });
      return ended(state, inviter.liveID, text(body.invitee, 'invitee'), liveID);
    }
    case 'notice.coHostRequestAccepted':
    case 'notice.coHostRequestRejected': {
      const invitee = memberHost(body.invitee);
      emit(type === 'notice.coHostRequestAccepted' ? 'onCoHostRequestAccepted' : 'onCoHostRequestRejected', { invitee });
      return ended(state, liveID, invitee.liveID, liveID);
    }
    case 'notice.coHostRequestTimedOut': {
      emit('onCoHostRequestTimeout', { inviter: host('inviter'), invitee: host('invitee') });
      return ended(state, text(body.inviter, 'inviter'), text(body.invitee, 'invitee'), liveID);
    }
    case 'snapshot.coHostRequests': {
      const invitees = array(body.sent, 'sent').map((request) => memberHost(object(request, 'request').invitee));
      const applicants = array(body.received, 'received').map((request) => received(object(request, 'request'), emit));
      return {
        ...state,
        invitees: withUnconfirmed(invitees, state.invitees, unconfirmed, (host) => `ownCoHost ${host.liveID}`),
        applicant: applicants[applicants.length - 1] ?? null,
      };
    }
    case 'local.coHostRequested': {
      const lives = array(body.lives, 'lives').map((live) => text(live, 'live'));
      const asked = lives.filter((live) => !state.invitees.some((host) => host.liveID === live)).map(known);
      return { ...state, invitees: [...state.invitees, ...asked] };
    }
    case 'local.coHostRequestEnded':
      return ended(state, text(body.inviter, 'inviter'), text(body.invitee, 'invitee'), liveID);
    case 'snapshot.candidates': {
      const page = array(body.items, 'items').map((item) => liveInfo(object(item, 'item').info));
      const isFirst = body.isFirst === true;
      const old = isFirst ? [] : state.candidates;
      const fresh = page.filter((info) => !old.some((host) => host.liveID === info.liveID));
      const candidates = [...old, ...fresh.map((info) => hostOf(info.liveID, info.liveOwner))];
      return { ...state, candidates, candidatesCursor: text(body.cursor, 'cursor', '') };
    }
    default:
      return state;
  }
}

/**
 * Another live has asked this one to connect. The end of the time tells the requests of a live apart.
 *
 * @param {import('../read.js').JSONObject} request
 * @param {import('../live-fold.js').Context['emit']} emit
 */
function received(request, emit) {
  const inviter = memberHost(request.inviter);
  const expiresAt = seconds(request.expiresAt, 'expiresAt');
  const detail = { inviter, extensionInfo: text(request.extensionInfo, 'extensionInfo', ''), expiresAt };
  emit('onCoHostRequestReceived', detail, `${inviter.liveID} ${whole(request.expiresAt, 'expiresAt', 0)}`);
  return inviter;
}

/**
 * A request between two lives has ended, of which one is this.
 *
 * @param {State} state
 * @param {string} inviter
 * @param {string} invitee
 * @param {string} liveID
 * @returns {State}
 */
function ended(state, inviter, invitee, liveID) {
  if (inviter === liveID) return { ...state, invitees: state.invitees.filter((host) => host.liveID !== invitee) };
  return state.applicant?.liveID === inviter ? { ...state, applicant: null } : state;
}
