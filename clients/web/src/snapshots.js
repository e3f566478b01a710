// SPDX-License-Identifier: Apache-2.0
import { object } from './core/read.js';

/** How many mutes a host reads at most. A viewer reads one page, because a live may have very many viewers. */
const maxMutes = 1000;
const mutesPerPage = 100;

/**
 * How each snapshot is read, by a host or by a viewer.
 *
 * @type {Record<string, (call: (method: string, params: object) => Promise<import('./core/read.js').JSONObject>, isHost: boolean) => Promise<import('./core/read.js').JSONObject>>}
 */
export const snapshots = {
  details: async (call) => object((await call('live.get', {})).details, 'details'),
  audience: (call) => call('audience.list', { count: 200 }),
  statistics: (call) => call('live.summary', {}),
  seatRequests: (call) => call('seat.requests', {}),
  coHostRequests: (call) => call('cohost.requests', {}),
  battleRequests: (call) => call('battle.requests', {}),
  mutes: async (call, isHost) => {
    const maxCount = isHost ? maxMutes : mutesPerPage;
    /** @type {unknown[]} */
    const items = [];
    /** @type {import('./core/read.js').JSONObject | undefined} */
    let first;
    let offset = 0;
    do {
      const page = object((await call('live.mutes', { offset, count: mutesPerPage })).page, 'page');
      first ??= page;
      items.push(...(Array.isArray(page.items) ? page.items : []));
      offset = Number(page.nextOffset ?? 0);
    } while (offset > 0 && offset < maxCount);
    // Each page also tells whether this user is muted, whichever page this mute is on. The time is that of the first
    // page, because the others may contain later changes only.
    return { page: { ...first, items } };
  },
};
