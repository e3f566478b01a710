// SPDX-License-Identifier: Apache-2.0
import { bareUser, userInfo } from '../models.js';
import { array, bool, object, text } from '../read.js';

/** How many viewers a client keeps; `audienceCount` can be far larger. */
export const maxAudience = 200;

/** @typedef {import('../../index.js').LiveAudienceState} State */

/** @returns {State} */
export const initial = () => ({
  audienceList: [], audienceCount: 0, isAudienceCountStale: false, adminList: [], messageBannedUserList: [],
});

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, input, context) {
  const next = step(state, input, context);
  const { admins } = context.states.live.info;
  const isKnown = next.adminList.length === admins.length && next.audienceList === state.audienceList
    && admins.every((admin, index) => next.adminList[index].userID === admin);
  if (isKnown) return next;
  const known = new Map(next.audienceList.map((user) => [user.userID, user]));
  return { ...next, adminList: admins.map((admin) => known.get(admin) ?? bareUser(admin)) };
}

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
function step(state, { type, body }, { selfID, states, emit, isCovered }) {
  switch (type) {
    case 'snapshot.audience': {
      const page = object(body.page, 'page');
      const members = array(page.members, 'members').map((member) => userInfo(object(member, 'member').user));
      return { ...state, audienceList: members.slice(0, maxAudience) };
    }
    case 'snapshot.details':
    case 'counts': {
      const count = object(type === 'counts' ? body : body.audience ?? {}, 'audience');
      return { ...state, audienceCount: Number(count.count ?? 0), isAudienceCountStale: count.stale === true };
    }
    case 'snapshot.mutes': {
      const page = object(body.page, 'page');
      const muted = array(page.items, 'items').map((item) => mutedUser(state, item));
      return withOwn({ ...state, messageBannedUserList: muted }, page.own);
    }
    case 'item.audienceJoined': {
      const audience = userInfo(body.user);
      // The owner is never among the audience.
      if (audience.userID === states.live.info.liveOwner.userID) return state;
      emit('onAudienceJoined', { audience });
      if (isCovered('audience')) return state;
      const others = without(state.audienceList, audience.userID);
      if (others.length < state.audienceList.length) return { ...state, audienceList: replaced(state.audienceList, audience) };
      return others.length < maxAudience ? { ...state, audienceList: [...others, audience] } : state;
    }
    case 'item.audienceLeft': {
      const audience = userInfo(body.user);
      if (audience.userID === states.live.info.liveOwner.userID) return state;
      emit('onAudienceLeft', { audience });
      if (isCovered('audience')) return state;
      return { ...state, audienceList: without(state.audienceList, audience.userID) };
    }
    case 'item.userChanged': {
      const user = userInfo(body.user);
      return {
        ...state,
        audienceList: isCovered('audience') ? state.audienceList : replaced(state.audienceList, user),
        messageBannedUserList: replaced(state.messageBannedUserList, user),
      };
    }
    case 'item.messageDisabled': {
      const audience = userInfo(body.user);
      const isDisable = bool(body.isDisable, 'isDisable');
      emit('onAudienceMessageDisabled', { audience, isDisable });
      if (isCovered('mutes')) return state;
      const others = without(state.messageBannedUserList, audience.userID);
      return { ...state, messageBannedUserList: isDisable ? [...others, audience] : others };
    }
    case 'local.selfMuted': {
      // The client does not know yet that its user is muted: the server has rejected a message.
      const others = without(state.messageBannedUserList, selfID);
      return { ...state, messageBannedUserList: [...others, bareUser(selfID)] };
    }
    default:
      return state;
  }
}

/**
 * The user of a mute as the list of viewers shows it, or as the server does, or with nothing but its id.
 *
 * @param {State} state
 * @param {unknown} value
 */
function mutedUser(state, value) {
  const mute = object(value, 'mute');
  const userID = text(mute.user, 'user');
  return state.audienceList.find((user) => user.userID === userID)
    ?? (mute.userInfo === undefined ? bareUser(userID) : userInfo(mute.userInfo));
}

/**
 * The state with the user's own mute, if there is one.
 *
 * @param {State} state
 * @param {unknown} own
 * @returns {State}
 */
function withOwn(state, own) {
  if (own === undefined) return state;
  const user = mutedUser(state, own);
  return { ...state, messageBannedUserList: [...without(state.messageBannedUserList, user.userID), user] };
}

/**
 * @param {readonly import('../../index.js').LiveUserInfo[]} users
 * @param {string} userID
 */
function without(users, userID) {
  return users.filter((user) => user.userID !== userID);
}

/**
 * @param {readonly import('../../index.js').LiveUserInfo[]} users
 * @param {import('../../index.js').LiveUserInfo} changed
 */
function replaced(users, changed) {
  return users.some((user) => user.userID === changed.userID)
    ? users.map((user) => (user.userID === changed.userID ? changed : user))
    : users;
}
