// SPDX-License-Identifier: Apache-2.0
import { statistics } from '../models.js';
import { whole } from '../read.js';

/** @typedef {import('../../index.js').LiveSummaryState} State */

/** @returns {State} */
export const initial = () => ({
  summaryData: {
    totalDuration: 0, totalViewers: 0, totalGiftsSent: 0, totalGiftUniqueSenders: 0, totalGiftCoins: 0,
    totalLikesReceived: 0, totalMessageSent: 0,
  },
});

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @returns {State}
 */
export function reduce(state, { type, body }) {
  switch (type) {
    case 'item.summary':
    case 'item.liveEnded':
    case 'snapshot.statistics':
      return body.statistics === undefined ? state : { summaryData: summaryOf(statistics(body.statistics)) };
    case 'local.elapsed': {
      // The server tells the figures every five seconds; in between the client counts the time itself.
      const { summaryData } = state;
      return { summaryData: { ...summaryData, totalDuration: summaryData.totalDuration + whole(body.milliseconds, 'elapsed') } };
    }
    default:
      return state;
  }
}

/**
 * @param {import('../../index.js').LiveStatistics} figures
 * @returns {import('../../index.js').LiveSummaryData}
 */
function summaryOf(figures) {
  return {
    totalDuration: figures.liveDuration,
    totalViewers: figures.totalViewers,
    totalGiftsSent: figures.totalGiftsSent,
    totalGiftUniqueSenders: figures.totalUniqueGiftSenders,
    totalGiftCoins: figures.totalGiftCoins,
    totalLikesReceived: figures.totalLikesReceived,
    totalMessageSent: figures.totalMessageCount,
  };
}
