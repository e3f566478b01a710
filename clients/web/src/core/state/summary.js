// SPDX-License-Identifier: Apache-2.0
import { statistics } from '../models.js';
import { object, whole } from '../read.js';

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
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, { type, body }, { isCovered }) {
  switch (type) {
    case 'item.liveEnded':
      return body.statistics === undefined ? state : { summaryData: summaryOf(statistics(body.statistics)) };
    case 'item.summary':
    case 'snapshot.statistics': {
      if (body.statistics === undefined || isCovered('statistics')) return state;
      // Of a running live only the counts tell how many have come.
      return raised({ summaryData: summaryOf(statistics(body.statistics)) }, state.summaryData.totalViewers);
    }
    case 'counts':
      return raised(state, Number(body.totalViewers ?? 0));
    case 'snapshot.details':
      return raised(state, Number(object(body.audience ?? {}, 'audience').totalViewers ?? 0));
    case 'local.elapsed': {
      // The server tells the figures every five seconds; in between the client counts the time itself.
      const { summaryData } = state;
      return { summaryData: { ...summaryData,
        totalDuration: summaryData.totalDuration + whole(body.milliseconds, 'elapsed') } };
    }
    default:
      return state;
  }
}

/**
 * @param {State} state
 * @param {number} totalViewers
 * @returns {State}
 */
function raised(state, totalViewers) {
  const { summaryData } = state;
  return totalViewers > summaryData.totalViewers ? { summaryData: { ...summaryData, totalViewers } } : state;
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
