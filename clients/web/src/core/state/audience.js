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
function step(state, { type, body }, { selfID, states, emit }) {
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
      const known = new Map(state.audienceList.map((user) => [user.userID, user]));
      const users = array(body.items, 'items').map((item) => text(object(item, 'item').user, 'user'));
      return { ...state, messageBannedUserList: users.map((user) => known.get(user) ?? bareUser(user)) };
    }
    case 'item.audienceJoined': {
      const audience = userInfo(body.user);
      // The owner is never among the audience.
      if (audience.userID === states.live.info.liveOwner.userID) return state;
      emit('onAudienceJoined', { audience });
      const others = without(state.audienceList, audience.userID);
      if (others.length < state.audienceList.length) return { ...state, audienceList: replaced(state.audienceList, audience) };
      return others.length < maxAudience ? { ...state, audienceList: [...others, audience] } : state;
    }
    case 'item.audienceLeft': {
      const audience = userInfo(body.user);
      if (audience.userID === states.live.info.liveOwner.userID) return state;
      emit('onAudienceLeft', { audience });
      return { ...state, audienceList: without(state.audienceList, audience.userID) };
    }
    case 'item.userChanged': {
      const user = userInfo(body.user);
      return {
        ...state,
        audienceList: replaced(state.audienceList, user),
        messageBannedUserList: replaced(state.messageBannedUserList, user),
      };
    }
    case 'item.messageDisabled': {
      const audience = userInfo(body.user);
      const isDisable = bool(body.isDisable, 'isDisable');
      emit('onAudienceMessageDisabled', { audience, isDisable });
      const others = without(state.messageBannedUserList, audience.userID);
      return { ...state, messageBannedUserList: isDisable ? [...others, audience] : others };
    }
    case 'local.selfMuted': {
      // A client does not learn its own mute at entry: its first message is refused.
      const others = without(state.messageBannedUserList, selfID);
      return { ...state, messageBannedUserList: [...others, bareUser(selfID)] };
    }
    default:
      return state;
  }
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
