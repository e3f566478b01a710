// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivePlaza } from '../../src/index.js';
import { FakeClock, settle } from '../support/fake-clock.js';
import { FakeNetwork } from '../support/fake-network.js';

async function make() {
  const run = { clock: new FakeClock(), network: new FakeNetwork() };
  run.plaza = new LivePlaza({
    url: 'ws://g/v1', session: 's', token: 't', WebSocket: run.network.WebSocket, clock: run.clock, random: () => 0.5, page: {},
  });
  const login = run.plaza.loginStore.login();
  await settle();
  run.network.socket.open();
  run.network.socket.reply(run.network.socket.sent[0].id, 'loggedIn', { notices: '1-1', user: { userID: 'carol' } });
  await login;
  return run;
}

describe('calls', () => {
  it('that the server would close the connection for are refused by the client', async () => {
    const { plaza, network } = await make();
    const { barrage } = plaza.live('concert');
    await assert.rejects(barrage.sendTextMessage({ text: 'ü'.repeat(33_000) }), { codeName: 'messageTooLong' });
    const circle = {};
    circle.self = circle;
    await assert.rejects(plaza.call('barrage.sendText', circle), { codeName: 'invalidParameter' });
    await assert.rejects(plaza.call('barrage.sendText', { n: 1n }), { codeName: 'invalidParameter' });
    assert.equal(network.socket.sent.length, 1);
    void barrage.sendTextMessage({ text: 'x'.repeat(60_000) }).catch(() => {});
    await settle();
    assert.equal(network.socket.sent.length, 2);
    plaza.disconnect();
  });

  it('are at most 100 in any second, and wait in order', async () => {
    const { plaza, network, clock } = await make();
    network.onSent = (frame, socket) => queueMicrotask(() => socket.reply(frame.id, 'done'));
    const calls = Array.from({ length: 250 }, (_, n) => plaza.call('like.send', { live: 'l', count: n + 1 }, 'l'));
    await settle();
    const counts = () => network.socket.sent.filter((frame) => frame.method === 'like.send').map((frame) => frame.params.count);
    for (const [wait, sum] of [[0, 100], [999, 100], [1, 200], [1000, 250]]) {
      await clock.advance(wait);
      assert.equal(counts().length, sum, `after ${wait} ms`);
    }
    assert.deepEqual(counts(), Array.from({ length: 250 }, (_, n) => n + 1));
    await Promise.all(calls);
    plaza.disconnect();
    assert.equal(clock.timerCount, 0);
  });

  it('of a session that is used again have higher ids than before', async () => {
    const { plaza, network, clock } = await make();
    void plaza.call('like.send', { live: 'l' }).catch(() => {});
    await settle();
    const last = network.socket.sent.at(-1).id;
    await plaza.loginStore.logout();
    clock.time += 5000;
    void plaza.loginStore.login().catch(() => {});
    await settle();
    network.socket.open();
    assert.ok(network.socket.sent[0].id > last && Number.isSafeInteger(last));
    plaza.disconnect();
    const fresh = new LivePlaza({ url: 'ws://g/v1', token: 't', WebSocket: network.WebSocket, clock, page: {} });
    void fresh.loginStore.login().catch(() => {});
    await settle();
    network.socket.open();
    assert.equal(network.socket.sent[0].id, 1);
    assert.match(network.socket.sent[0].params.session, /^web-[0-9a-f]{24}$/);
    fresh.disconnect();
  });

  it('fail when the client is stopped', async () => {
    const { plaza } = await make();
    const call = plaza.call('like.send', { live: 'l' }, 'l');
    await settle();
    plaza.disconnect();
    await assert.rejects(call, { codeName: 'failed' });
    await assert.rejects(plaza.call('like.send', { live: 'l' }), { codeName: 'notLoggedIn' });
  });

  it('beyond 1,000 that wait are refused', async () => {
    const { plaza, network } = await make();
    network.socket.end(1006);
    const calls = Array.from({ length: 1001 }, () => plaza.call('like.send', { live: 'l' }, 'l').catch((error) => error.codeName));
    await settle();
    assert.equal(await calls[1000], 'overloaded');
    plaza.disconnect();
    assert.equal(await calls[0], 'failed');
  });
});
