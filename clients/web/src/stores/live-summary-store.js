// SPDX-License-Identifier: Apache-2.0
import { initial } from '../core/state/summary.js';
import { LiveStore, liveStores } from './live-store.js';

/**
 * The figures of a live, which the server tells every few seconds; `totalDuration` is counted on each second in
 * between.
 *
 * @extends {LiveStore<import('../index.js').LiveSummaryState>}
 */
export class LiveSummaryStore extends LiveStore {
  /**
   * @param {string} liveID
   * @param {import('../live-session.js').LiveSession} session
   */
  constructor(liveID, session) {
    super(liveID, session, initial());
  }

  /**
   * The store of a live: of the default instance, unless another is named.
   *
   * @param {string} liveID
   * @param {import('../live-plaza.js').LivePlaza} [plaza]
   */
  static create(liveID, plaza) {
    return liveStores(liveID, plaza).summary;
  }
}
