// SPDX-License-Identifier: Apache-2.0
import { emptySeatUser, hostOf, memberHost, seconds } from '../models.js';
import { array, bool, isObject, object, text, whole } from '../read.js';

/** @typedef {import('../../index.js').BattleState} State */

/** @returns {State} */
export const initial = () => ({ currentBattleInfo: null, battleUsers: [], battleScore: {} });

/**
 * The events of requests, by the notice.
 *
 * @type {Record<string, string>}
 */
const requestEvents = {
  'notice.battleRequestReceived': 'onBattleRequestReceived',
  'notice.battleRequestCancelled': 'onBattleRequestCancelled',
  'notice.battleRequestAccepted': 'onBattleRequestAccept',
  'notice.battleRequestRejected': 'onBattleRequestReject',
  'notice.battleRequestTimedOut': 'onBattleRequestTimeout',
};

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, { type, body }, context) {
  const { record, events } = context.states.stage;
  const { emit, liveID } = context;
  const next = record !== undefined && record !== context.before.stage.record ? shown(state, record) : state;
  for (const event of events) battleEvent(event, state, context);
  if (type in requestEvents) {
    /** @param {unknown} value a member, a live's id, or nothing: this live */
    const host = (value) => (isObject(value) ? memberHost(value) : hostOfLive(context, typeof value === 'string' ? value : liveID));
    const battleID = text(body.battle, 'battle');
    const isReceived = type === 'notice.battleRequestReceived';
    const [inviter, invitee] = [host(body.inviterMember ?? body.inviter), host(body.inviteeMember ?? body.invitee)];
    emit(requestEvents[type], { battleID, inviter, invitee, ...(isReceived ? requestDetail(body) : {}) }, isReceived ? battleID : undefined);
  } else if (type === 'snapshot.battleRequests') {
    // What this live has asked for is in no state, and is used only by `OpenRequests`.
    for (const entry of array(body.sent, 'sent')) memberHost(object(entry, 'request').invitee);
    for (const entry of array(body.received, 'received')) {
      const request = object(entry, 'request');
      if (bool(request.hasAccepted, 'hasAccepted', false)) continue;
      const battleID = text(request.battle, 'battle');
      emit('onBattleRequestReceived', {
        battleID, inviter: memberHost(request.inviter), invitee: memberHost(request.invitee),
        ...requestDetail(request),
      }, battleID);
    }
  } else if (type === 'notice.battleNotStarted') emit('onBattleNotStarted', { battleID: text(body.battle, 'battle') });
  return next;
}

/** @param {import('../read.js').JSONObject} request */
function requestDetail(request) {
  return {
    durationSeconds: whole(request.durationSeconds, 'durationSeconds', 0),
    expiresAt: seconds(request.expiresAt, 'expiresAt'),
    extensionInfo: text(request.extensionInfo, 'extensionInfo', ''),
  };
}

/**
 * Shows the battle that a stage has. Its scores stay after its end, for a screen with the result.
 *
 * @param {State} state
 * @param {import('../read.js').JSONObject} record
 * @returns {State}
 */
function shown(state, record) {
  if (!isObject(record.battle)) return { ...state, currentBattleInfo: null, battleUsers: [] };
  const { battle } = record;
  const sides = array(battle.sides, 'sides').map((side) => object(side, 'side'));
  const battleScore = Object.fromEntries(sides.map((side) => [hostOf('', side.host).userID, whole(side.score, 'score', 0)]));
  if (battle.ended !== undefined) return { currentBattleInfo: null, battleUsers: [], battleScore };
  const fighting = sides.filter((side) => !bool(side.hasLeft, 'hasLeft', false));
  return { currentBattleInfo: battleInfo(battle), battleUsers: fighting.map(sideUser), battleScore };
}

/**
 * @param {{ kind: string, body: import('../read.js').JSONObject }} event
 * @param {State} state
 * @param {import('../live-fold.js').Context} context
 */
function battleEvent({ kind, body }, state, context) {
  if (!/^battle(Started|Ended|UserJoined|UserExited)$/.test(kind)) return;
  const battleID = text(body.battle, 'battle');
  const battle = battleOf(context.states.stage.record, battleID);
  const sides = battle === undefined ? [] : array(battle.sides, 'sides').map((side) => object(side, 'side'));
  const last = state.currentBattleInfo?.battleID === battleID ? state.currentBattleInfo : undefined;
  const info = battle === undefined ? last ?? battleInfo({ id: battleID }) : battleInfo(battle);
  if (kind === 'battleStarted') {
    const [inviter, ...invitees] = sides.map(sideUser);
    context.emit('onBattleStarted', { battleInfo: info, inviter: inviter ?? emptySeatUser, invitees });
  } else if (kind === 'battleEnded') {
    context.emit('onBattleEnded', { battleInfo: info, reason: text(body.reason, 'reason') });
  } else {
    const live = text(body.live, 'live');
    const side = sides.find((entry) => entry.live === live);
    const battleUser = side ? sideUser(side) : hostOfLive(context, live);
    context.emit(kind === 'battleUserJoined' ? 'onUserJoinBattle' : 'onUserExitBattle', { battleID, battleUser });
  }
}

/**
 * A battle of a stage: the one that the live shows, or one of its connection.
 *
 * @param {import('../read.js').JSONObject | undefined} record
 * @param {string} battleID
 */
export function battleOf(record, battleID) {
  const others = Array.isArray(record?.otherBattles) ? record?.otherBattles ?? [] : [];
  return [record?.battle, ...others].filter(isObject).find((battle) => battle.id === battleID);
}

/**
 * @param {import('../read.js').JSONObject} battle
 * @returns {import('../../index.js').BattleInfo}
 */
function battleInfo(battle) {
  return {
    battleID: text(battle.id, 'battle.id'),
    config: {
      duration: whole(battle.durationSeconds, 'durationSeconds', 0),
      needResponse: bool(battle.needResponse, 'needResponse', false),
      extensionInfo: text(battle.extensionInfo, 'extensionInfo', ''),
    },
    startTime: seconds(battle.startTime, 'startTime'),
    endTime: seconds(battle.endTime, 'endTime'),
  };
}

/** @param {import('../read.js').JSONObject} side */
function sideUser(side) {
  return hostOf(text(side.live, 'side.live'), side.host);
}

/**
 * The host of a live of the connection.
 *
 * @param {{ liveID: string, states: import('../live-fold.js').LiveStates }} context
 * @param {string} live
 */
export function hostOfLive({ liveID, states }, live) {
  const member = states.coHost.connected.find((host) => host.liveID === live);
  if (member) return member;
  return live === liveID ? hostOf(live, states.live.info.liveOwner) : { ...emptySeatUser, liveID: live };
}
