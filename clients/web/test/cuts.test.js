// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivePlaza } from '../src/index.js';
import { FakeClock, settle } from './support/fake-clock.js';
import { FakeServer } from './support/fake-server.js';

/** A user logs in, enters a live, chats and leaves; the connection is cut where `gate` says. */
async function evening(gate) {
  const server = new FakeServer();
  server.gate = gate;
  const clock = new FakeClock();
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  const plaza = new LivePlaza({
    url: 'ws://g/v1', token: 't', session: 's', WebSocket: server.network.WebSocket, clock, random, page: {},
  });
  /** Advances the time until a promise is settled. */
  const finished = async (promise) => {
    let isDone = false;
    const done = promise.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    for (let turn = 0; turn < 200 && !isDone; turn += 1) await clock.advance(60);
    assert.ok(isDone, 'it never ends');
    return done;
  };
  const { barrage } = plaza.live('concert');
  const shown = [];
  const events = [];
  for (const type of ['onLiveEnded', 'onKickedOutOfLive']) plaza.liveListStore.addEventListener(type, () => events.push(type));
  await finished(plaza.loginStore.login());
  await finished(plaza.liveListStore.joinLive({ liveID: 'concert' }));
  const first = server.feed.length;
  for (const text of ['a', 'b', 'c']) {
    const sending = barrage.sendTextMessage({ text });
    server.publish({ text: { sender: { userID: 'alice', userName: '', avatarURL: '' }, text: `${text}!` } });
    await finished(sending);
    await settle();
  }
  await clock.advance(20_000);
  shown.push(...barrage.state.messageList.map((message) => message.textContent));
  const published = server.feed.slice(first).map((item) => item.content.text.text);
  await finished(plaza.liveListStore.leaveLive());
  await finished(plaza.loginStore.logout());
  return { server, shown, published, events, timers: clock.timerCount };
}

describe('a connection that is cut anywhere', () => {
  it('changes nothing that the app sees', async () => {
    const { server, shown, published } = await evening(() => undefined);
    const frames = server.frameCount;
    assert.ok(frames > 20);
    assert.deepEqual(shown, published);
    for (let at = 0; at < frames; at += 1) {
      for (const verdict of ['before', 'after']) {
        const run = await evening((count) => (count === at ? verdict : undefined));
        const where = `cut ${verdict} frame ${at}`;
        assert.deepEqual(run.shown, run.published, where);
        assert.deepEqual([...run.published].sort(), [...published].sort(), where);
        assert.deepEqual(run.server.faults, [], where);
        assert.ok([...run.server.applied.values()].every((times) => times === 1), where);
        assert.deepEqual(run.events, [], where);
        assert.equal(run.timers, 0, `${where}: timers are left`);
      }
    }
  });

  it('changes nothing when it is cut again and again', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      let state = seed * 7919;
      const run = await evening(() => {
        state = (state * 48271) % 2147483647;
        return state % 6 === 0 ? (state % 4 < 2 ? 'before' : 'after') : undefined;
      });
      assert.deepEqual(run.shown, run.published, `seed ${seed}`);
      assert.deepEqual(run.server.faults, [], `seed ${seed}`);
      assert.deepEqual(run.events, [], `seed ${seed}`);
    }
  });
});
