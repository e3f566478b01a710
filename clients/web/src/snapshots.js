// SPDX-License-Identifier: Apache-2.0
import { MuteWalk, mutesPerPage } from './core/mute-walk.js';
import { object } from './core/read.js';

/** How many mutes a host reads at most. A viewer reads one page, because a live may have very many viewers. */
const maxMutes = 1000;

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
    const walk = new MuteWalk(isHost ? maxMutes : mutesPerPage);
    while (walk.offset !== undefined) {
      walk.received(object((await call('live.mutes', { offset: walk.offset, count: mutesPerPage })).page, 'page'));
    }
    return { page: walk.page };
  },
};
