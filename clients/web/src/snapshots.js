// SPDX-License-Identifier: Apache-2.0
import { object } from './core/read.js';

/**
 * How each snapshot is read.
 *
 * @type {Record<string, (call: (method: string, params: object) => Promise<import('./core/read.js').JSONObject>) => Promise<import('./core/read.js').JSONObject>>}
 */
export const snapshots = {
  details: async (call) => object((await call('live.get', {})).details, 'details'),
  audience: (call) => call('audience.list', { count: 200 }),
  statistics: (call) => call('live.summary', {}),
  seatRequests: (call) => call('seat.requests', {}),
  coHostRequests: (call) => call('cohost.requests', {}),
  battleRequests: (call) => call('battle.requests', {}),
  ownMute: (call) => call('live.mutes', { count: 1 }),
  mutes: async (call) => {
    /** @type {unknown[]} */
    const items = [];
    /** @type {import('./core/read.js').JSONObject | undefined} */
    let first;
    let offset = 0;
    do {
      const page = object((await call('live.mutes', { offset, count: 100 })).page, 'page');
      first ??= page;
      items.push(...(Array.isArray(page.items) ? page.items : []));
      offset = Number(page.nextOffset ?? 0);
    } while (offset > 0 && items.length < 1000);
    // The time is that of the first page, because the others may contain later changes only.
    return { page: { ...first, items } };
  },
};
