// SPDX-License-Identifier: Apache-2.0
import { BarrageStore } from './barrage-store.js';
import { BattleStore } from './battle-store.js';
import { CoGuestStore } from './co-guest-store.js';
import { CoHostStore } from './co-host-store.js';
import { GiftStore } from './gift-store.js';
import { LikeStore } from './like-store.js';
import { LiveAudienceStore } from './live-audience-store.js';
import { LiveSeatStore } from './live-seat-store.js';
import { LiveSummaryStore } from './live-summary-store.js';

/**
 * The stores of a live, by each of them: who holds one holds all.
 *
 * @type {WeakMap<object, object>}
 */
const others = new WeakMap();

/**
 * Makes the stores of one live.
 *
 * @param {string} liveID
 * @param {import('../live-session.js').LiveSession} session
 */
export function storesOf(liveID, session) {
  const stores = Object.freeze({
    audience: new LiveAudienceStore(liveID, session),
    barrage: new BarrageStore(liveID, session),
    seat: new LiveSeatStore(liveID, session),
    coGuest: new CoGuestStore(liveID, session),
    coHost: new CoHostStore(liveID, session),
    battle: new BattleStore(liveID, session),
    gift: new GiftStore(liveID, session),
    like: new LikeStore(liveID, session),
    summary: new LiveSummaryStore(liveID, session),
  });
  for (const store of Object.values(stores)) others.set(store, stores);
  return stores;
}
