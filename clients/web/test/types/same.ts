// SPDX-License-Identifier: Apache-2.0
// The classes are what index.d.ts says of them, with parameters and results: compiled by the type check.
import type * as declared from '../../src/index.js';
import type { LivePlaza } from '../../src/live-plaza.js';
import type { BarrageStore } from '../../src/stores/barrage-store.js';
import type { BattleStore } from '../../src/stores/battle-store.js';
import type { CoGuestStore } from '../../src/stores/co-guest-store.js';
import type { CoHostStore } from '../../src/stores/co-host-store.js';
import type { GiftStore } from '../../src/stores/gift-store.js';
import type { LikeStore } from '../../src/stores/like-store.js';
import type { LiveAudienceStore } from '../../src/stores/live-audience-store.js';
import type { LiveListStore } from '../../src/stores/live-list-store.js';
import type { LiveSeatStore } from '../../src/stores/live-seat-store.js';
import type { LiveSummaryStore } from '../../src/stores/live-summary-store.js';
import type { LoginStore } from '../../src/stores/login-store.js';

/** Without the methods of EventTarget, which index.d.ts narrows to the events of each store. */
type Own<Declared> = Omit<Declared, keyof EventTarget>;

export type Checked = [
  Same<BarrageStore, declared.BarrageStore>, Same<BattleStore, declared.BattleStore>, Same<CoGuestStore,
  declared.CoGuestStore>,
  Same<CoHostStore, declared.CoHostStore>, Same<GiftStore, declared.GiftStore>, Same<LikeStore, declared.LikeStore>,
  Same<LiveAudienceStore, declared.LiveAudienceStore>, Same<LiveListStore, declared.LiveListStore>, Same<LiveSeatStore,
  declared.LiveSeatStore>,
  Same<LiveSummaryStore, declared.LiveSummaryStore>, Same<LoginStore, declared.LoginStore>,
  Same<Pick<LivePlaza, 'call' | 'serverTime'>, Pick<declared.LivePlaza, 'call' | 'serverTime'>>,
];

/** Compiles only if a written class does all that is declared of it. */
type Same<Written extends Own<Declared>, Declared> = Written;
