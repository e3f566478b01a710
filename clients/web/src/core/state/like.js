// SPDX-License-Identifier: Apache-2.0
import { userInfo } from '../models.js';
import { object, whole } from '../read.js';

/** @typedef {import('../../index.js').LikeState} State */

/** @returns {State} */
export const initial = () => ({ totalLikeCount: 0 });

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, { type, body }, { liveID, emit }) {
  switch (type) {
    case 'item.likes': {
      const total = whole(body.total, 'total');
      const count = whole(body.count, 'count', 1);
      emit('onReceiveLikesMessage', { liveID, totalLikesReceived: total, sender: userInfo(body.sender), count });
      return { totalLikeCount: Math.max(state.totalLikeCount, total) };
    }
    case 'item.summary':
    case 'snapshot.statistics': {
      const total = whole(object(body.statistics, 'statistics').totalLikesReceived, 'totalLikesReceived', 0);
      return total > state.totalLikeCount ? { totalLikeCount: total } : state;
    }
    default:
      return state;
  }
}
