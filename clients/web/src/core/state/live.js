// SPDX-License-Identifier: Apache-2.0
import { emptyLiveInfo, liveInfo, userInfo } from '../models.js';
import { array, object, text, textMap, whole } from '../read.js';

/**
 * @typedef {{ info: import('../../index.js').LiveInfo, revision: number | undefined }} State
 * The info of the live with its revision, if the server tells it, and whether the feed leaves out who comes and goes.
 */

/** @returns {State} */
export const initial = () => ({ info: emptyLiveInfo, revision: undefined });

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @returns {State}
 */
export function reduce(state, { type, body }) {
  const { info } = state;
  const revision = body.revision === undefined ? undefined : whole(body.revision, 'revision');
  if (/^item\.(infoChanged|metadataChanged|adminSet|adminRevoked)$/.test(type) && revision !== undefined) {
    // The info contains the change already.
    if (state.revision !== undefined && revision <= state.revision) return state;
    state = { ...state, revision };
  }
  switch (type) {
    case 'snapshot.details': {
      const audience = object(body.audience ?? {}, 'audience');
      const counts = { totalViewerCount: Number(audience.totalViewers ?? 0),
        audienceCount: Number(audience.count ?? 0) };
      // A gateway may answer with an info that is older than a change in its feed, which is not sent again.
      if ((revision ?? Infinity) < (state.revision ?? -Infinity)) return { ...state, info: { ...info, ...counts } };
      return { ...state, info: liveInfo(body.info, counts), revision };
    }
    case 'item.infoChanged':
      return { ...state, info: liveInfo(body.info, info) };
    case 'item.metadataChanged': {
      const removed = new Set(array(body.removed ?? [], 'removed').map((key) => text(key, 'key')));
      const merged = { ...info.metaData, ...textMap(body.set, 'set') };
      const metaData = Object.fromEntries(Object.entries(merged).filter(([key]) => !removed.has(key)));
      return { ...state, info: { ...info, metaData } };
    }
    case 'item.adminSet': {
      const user = text(body.user, 'user');
      return info.admins.includes(user) ? state : { ...state, info: { ...info, admins: [...info.admins, user] } };
    }
    case 'item.adminRevoked': {
      const user = text(body.user, 'user');
      return { ...state, info: { ...info, admins: info.admins.filter((admin) => admin !== user) } };
    }
    case 'item.userChanged': {
      const user = userInfo(body.user);
      return user.userID === info.liveOwner.userID ? { ...state, info: { ...info, liveOwner: user } } : state;
    }
    case 'counts': {
      const { count, totalViewers } = body;
      return { ...state, info: { ...info, audienceCount: Number(count), totalViewerCount: Number(totalViewers) } };
    }
    default:
      return state;
  }
}
