// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Cluster, next, plaza, until } from '../support/cluster.js';

const texts = (stores) => stores.barrage.state.messageList.map((message) => `${message.sequence} ${message.textContent}`);

describe('a live evening on a real cluster', { skip: plaza ? false : 'PLAZA names no program' }, () => {
  const cluster = new Cluster();
  let alice;
  let bob;
  let dora;
  let [concert, seen, duet] = [];

  before(async () => {
    await cluster.start();
    [alice, bob, dora] = await Promise.all(['alice', 'bob', 'dora'].map((user) => cluster.client(user)));
    [concert, seen, duet] = [alice.live('concert'), bob.live('concert'), dora.live('duet')];
  });
  after(() => cluster.stop());

  it('begins: the owner creates, a viewer joins', async () => {
    const info = await alice.liveListStore.createLive({ liveID: 'concert', liveName: 'Concert', notice: 'Tonight' });
    assert.equal(info.liveOwner.userID, 'alice');
    const joined = next(concert.audience, 'onAudienceJoined');
    assert.equal((await bob.liveListStore.joinLive({ liveID: 'concert' })).liveName, 'Concert');
    assert.equal((await joined).audience.userName, 'BOB');
    await until('both count one viewer', () => concert.audience.state.audienceCount === 1 && seen.audience.state.audienceCount === 1);
    await until('the list shows the live', async () => {
      await bob.liveListStore.fetchLiveList();
      return bob.liveListStore.state.liveList.some((live) => live.liveID === 'concert');
    }, 10_000, 300);
  });

  it('chats both ways, in the same order', async () => {
    await Promise.all([1, 2, 3].flatMap((n) => [concert, seen].map((stores, side) => stores.barrage.sendTextMessage({ text: `${side}/${n}` }))));
    await seen.barrage.sendCustomMessage({ businessID: 'poll', data: '{"a":1}' });
    await until('both have seven', () => texts(concert).length === 7 && texts(seen).length === 7);
    assert.deepEqual(texts(concert), texts(seen));
  });

  it('changes its name and metadata', async () => {
    await alice.liveListStore.updateLiveInfo({ liveName: 'Encore' });
    await alice.liveListStore.updateLiveMetaData({ mood: 'good' });
    await until('the viewer sees both', () => {
      const { liveName, metaData } = bob.liveListStore.state.currentLive;
      return liveName === 'Encore' && metaData.mood === 'good';
    });
    await assert.rejects(bob.liveListStore.updateLiveInfo({ liveName: 'x' }), { codeName: 'needsOwnerOrAdmin' });
  });

  it('seats a guest who applied', async () => {
    const received = next(concert.coGuest, 'onGuestApplicationReceived');
    await seen.coGuest.applyForSeat({ timeout: 30, extraInfo: 'please' });
    assert.equal((await received).extraInfo, 'please');
    assert.deepEqual(concert.coGuest.state.applicants.map((user) => user.userID), ['bob']);
    const answered = next(seen.coGuest, 'onGuestApplicationResponded');
    await concert.coGuest.acceptApplication({ userID: 'bob' });
    assert.equal((await answered).isAccept, true);
    await until('both see two seats taken', () => [concert, seen].every((stores) => stores.coGuest.state.connected.length === 2));
    await seen.seat.unmuteMicrophone();
    await until('the microphone shows', () => concert.seat.state.seatList[1].userInfo.microphoneStatus === 'on');
    assert.deepEqual(concert.seat.state.seatList, seen.seat.state.seatList);
    const closed = next(seen.seat, 'onLocalMicrophoneClosedByAdmin');
    await concert.seat.closeRemoteMicrophone({ userID: 'bob' });
    await closed;
    await assert.rejects(seen.seat.unmuteMicrophone(), { codeName: 'microphoneNeedsHost' });
  });

  it('likes', async () => {
    const liked = next(concert.like, 'onReceiveLikesMessage');
    await seen.like.sendLike({ count: 3 });
    assert.equal((await liked).totalLikesReceived, 3);
    assert.equal(concert.like.state.totalLikeCount, 3);
  });

  it('connects with another live and battles', async () => {
    await dora.liveListStore.createLive({ liveID: 'duet' });
    const asked = next(duet.coHost, 'onCoHostRequestReceived');
    await concert.coHost.requestHostConnection({ targetHost: 'duet', timeout: 30, extraInfo: 'pk' });
    assert.equal((await asked).inviter.liveID, 'concert');
    await duet.coHost.acceptHostConnection({ fromHostLiveID: 'concert' });
    await until('all three see the connection', () => [concert, seen, duet].every((stores) => stores.coHost.state.connected.length === 2));
    assert.equal(seen.coHost.state.coHostStatus, 'connected');
    assert.deepEqual(concert.coHost.state.invitees, []);
    await until('the seats of both lives show', () => seen.seat.state.seatList.some((seat) => seat.userInfo.liveID === 'duet'));

    const started = next(seen.battle, 'onBattleStarted');
    const { battleInfo, resultMap } = await concert.battle.requestBattle({ config: { duration: 30 }, userIDList: ['dora'] });
    assert.deepEqual(resultMap, { dora: 0 });
    assert.equal((await started).battleInfo.battleID, battleInfo.battleID);
    await cluster.server('battle.score', { battle: battleInfo.battleID, operation: 2, scores: [{ live: 'duet', score: 7 }] });
    await until('all see the score', () => [concert, seen, duet].every((stores) => stores.battle.state.battleScore.dora === 7));
    const left = next(seen.battle, 'onUserExitBattle');
    await duet.battle.exitBattle({ battleID: battleInfo.battleID });
    assert.equal((await left).battleUser.userID, 'dora');
    const gone = next(seen.coHost, 'onCoHostUserLeft');
    await duet.coHost.exitHostConnection();
    assert.equal((await gone).userInfo.liveID, 'duet');
    await until('the connection is over', () => concert.coHost.state.coHostStatus === 'disconnected');
  });

  it('puts a viewer out, who may come back', async () => {
    const kicked = next(bob.liveListStore, 'onKickedOutOfLive');
    await concert.audience.kickUserOutOfRoom({ userID: 'bob' });
    assert.deepEqual(await kicked, { liveID: 'concert', reason: 'byAdmin', message: '' });
    assert.deepEqual(seen.barrage.state.messageList, []);
    await until('nobody else sits', () => concert.coGuest.state.connected.length === 1);
    await bob.liveListStore.joinLive({ liveID: 'concert' });
    await until('the viewer counts again', () => seen.audience.state.audienceCount === 1);
  });

  it('ends for all', async () => {
    const ended = [next(alice.liveListStore, 'onLiveEnded'), next(bob.liveListStore, 'onLiveEnded')];
    const figures = await alice.liveListStore.endLive();
    assert.equal(figures.totalLikesReceived, 3);
    assert.deepEqual((await Promise.all(ended)).map((detail) => detail.reason), ['endedByHost', 'endedByHost']);
    assert.ok(bob.liveListStore.state.currentLive.isEmpty);
    await dora.liveListStore.endLive();
    for (const client of [alice, bob, dora]) await client.loginStore.logout();
    assert.deepEqual([alice, bob, dora].flatMap((client) => client.faults), []);
  });
});
