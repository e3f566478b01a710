// SPDX-License-Identifier: Apache-2.0
import { gift, giftCategory, userInfo } from '../models.js';
import { array, text, whole } from '../read.js';

/** @typedef {import('../../index.js').GiftState} State */

/** @returns {State} */
export const initial = () => ({ usableGifts: [], isGiftEnabled: true });

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, { type, body }, { liveID, states, emit }) {
  if (type === 'item.gift') {
    emit('onReceiveGift', {
      liveID, gift: gift(body.gift), count: whole(body.count, 'count', 1), sender: userInfo(body.sender),
      receivers: array(body.receivers ?? [], 'receivers').map((user) => text(user, 'receiver')),
    });
  }
  const { isGiftEnabled } = states.live.info;
  const usableGifts = type === 'snapshot.gifts' ? array(body.categories, 'categories').map(giftCategory) : state.usableGifts;
  const isSame = usableGifts === state.usableGifts && isGiftEnabled === state.isGiftEnabled;
  return isSame ? state : { usableGifts, isGiftEnabled };
}
