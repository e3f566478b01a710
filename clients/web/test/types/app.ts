// SPDX-License-Identifier: Apache-2.0
// A whole app, compiled by the type check (deploy/web-test.sh) and shown in README.md's words: every store, its state
// and events.
import {
  BarrageStore, BattleStore, CoGuestStore, CoHostLayoutTemplate, CoHostStore, GiftStore, LikeStore, LiveAudienceStore,
  LiveListStore, LivePlaza, LiveSeatStore, LiveSummaryStore, LoginStore, ModifyFlag, PlazaError, ReplyCode,
} from '../../src/index.js';
import type { Barrage, LiveInfo, SeatInfo, StoreEvent } from '../../src/index.js';

const liveID = 'concert';

/** Begins as a viewer, and shows what comes. */
export async function watch(tokenProvider: () => Promise<string>, show: (lines: string[]) => void): Promise<() => void> {
  LivePlaza.configure({ url: 'wss://live.example.org/v1', tokenProvider });
  const profile = await LoginStore.shared.login();
  const barrage = BarrageStore.create(liveID);
  const audience = LiveAudienceStore.create(liveID);
  const end = barrage.select((state) => state.messageList, (list) => show(list.map(line)));
  audience.addEventListener('onAudienceJoined', ({ detail }) => barrage.appendLocalTip({ textContent: `${detail.audience.userName} is here` }));
  LiveListStore.shared.addEventListener('onKickedOutOfLive', (event: StoreEvent<{ reason: string }>) => show([event.detail.reason]));
  try {
    const info: LiveInfo = await LiveListStore.shared.joinLive({ liveID });
    await barrage.sendTextMessage({ text: `hello from ${profile.nickname} to ${info.liveOwner.userName}` });
  } catch (error) {
    if (error instanceof PlazaError && error.code === ReplyCode.roomFull) show(['full']);
    else throw error;
  }
  return end;
}

function line({ sender, textContent, messageType }: Barrage): string {
  return messageType === 'text' ? `${sender.userName}: ${textContent}` : '';
}

/** Hosts a live: seats, another host, a battle. */
export async function host(plaza: LivePlaza): Promise<number> {
  const { liveListStore } = plaza;
  await liveListStore.createLive({ liveID, liveName: 'Concert', seatMode: 'apply', seatTemplate: 600 });
  await liveListStore.updateLiveInfo({ notice: 'Tonight' }, { modifyFlag: ModifyFlag.notice });
  const { coGuest, seat, coHost, battle, gift, like, summary, audience } = plaza.live(liveID);
  coGuest.addEventListener('onGuestApplicationReceived', (event) => {
    void coGuest.acceptApplication({ userID: event.detail.guestUser.userID });
  });
  seat.subscribe(({ seatList }) => void seatList.filter((entry: SeatInfo) => entry.userInfo.userID === '').length);
  battle.addEventListener('onBattleEnded', ({ detail }) => void detail.battleInfo.endTime);
  gift.addEventListener('onReceiveGift', ({ detail }) => void (detail.gift.coins * detail.count));
  await coHost.requestHostConnection({ targetHost: 'duet', layoutTemplate: CoHostLayoutTemplate.hostDynamicGrid, timeout: 30 });
  const { resultMap } = await battle.requestBattle({ config: { duration: 60 }, userIDList: coHost.state.connected.map((user) => user.userID) });
  await gift.refreshUsableGifts();
  await like.sendLike({ count: 2 });
  await audience.disableSendMessage({ userID: 'bob', isDisable: true });
  const { totalViewers } = await liveListStore.endLive();
  return totalViewers + summary.state.summaryData.totalViewers + Object.keys(resultMap).length;
}

/** The stores of the default instance by their classes. */
export const stores: [CoGuestStore, CoHostStore, BattleStore, GiftStore, LikeStore, LiveSeatStore, LiveSummaryStore] = [
  CoGuestStore.create(liveID), CoHostStore.create(liveID), BattleStore.create(liveID), GiftStore.create(liveID),
  LikeStore.create(liveID), LiveSeatStore.create(liveID), LiveSummaryStore.create(liveID),
];

// What must not compile.
// @ts-expect-error a label is missing
void BarrageStore.create(liveID).sendTextMessage({});
// @ts-expect-error states are read only
LoginStore.shared.state.loginStatus = 'logined';
// @ts-expect-error no such event payload
LiveListStore.shared.addEventListener('onLiveEnded', ({ detail }) => detail.nothing);
