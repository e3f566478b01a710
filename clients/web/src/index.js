// SPDX-License-Identifier: Apache-2.0
export { LivePlaza } from './live-plaza.js';
export { PlazaError, ReplyCode } from './core/errors.js';
export { StoreEvent } from './stores/store.js';
export { LoginStore } from './stores/login-store.js';
export { LiveListStore } from './stores/live-list-store.js';
export { ModifyFlag } from './stores/live-changes.js';
export { LiveAudienceStore } from './stores/live-audience-store.js';
export { BarrageStore } from './stores/barrage-store.js';
export { LiveSeatStore } from './stores/live-seat-store.js';
export { CoGuestStore } from './stores/co-guest-store.js';
export { CoHostStore, CoHostLayoutTemplate } from './stores/co-host-store.js';
export { BattleStore } from './stores/battle-store.js';
export { GiftStore } from './stores/gift-store.js';
export { LikeStore } from './stores/like-store.js';
export { LiveSummaryStore } from './stores/live-summary-store.js';
