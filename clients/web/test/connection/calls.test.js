// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivePlaza } from '../../src/index.js';
import { FakeClock, settle } from '../support/fake-clock.js';
import { FakeNetwork } from '../support/fake-network.js';

async function make() {
  const run = { clock: new FakeClock(), network: new FakeNetwork() };
  run.plaza = new LivePlaza({
    url: 'ws://g/v1', session: 's', token: 't', WebSocket: run.network.WebSocket, clock: run.clock, random: () => 0.5,
    page: {},
  });
  const login = run.plaza.loginStore.login();
  await settle();
  run.network.socket.open();
  run.network.socket.reply(run.network.socket.sent[0].id, 'loggedIn', { notices: '1-1', user: { userID: 'carol' } });
  await login;
  return run;
}

describe('addresses', () => {
  it('that are none are skipped; if all are, the login fails or the client ends', async () => {
    const run = { clock: new FakeClock(), network: new FakeNetwork(), ends: [] };
    run.plaza = new LivePlaza({
      urls: ['one', 'two'], session: 's', token: 't', WebSocket: run.network.WebSocket, clock: run.clock,
      random: () => 0.5, page: {},
    });
    const { loginStore } = run.plaza;
    loginStore.addEventListener('connectionEnded', ({ detail }) => run.ends.push(detail.error.codeName));
    run.network.badAddresses = new Set(['one', 'two']);
    await assert.rejects(loginStore.login(), { codeName: 'invalidParameter' });
    assert.equal(loginStore.state.connectionStatus, 'disconnected');
    run.network.badAddresses.delete('two');
    const login = loginStore.login();
    await settle();
    assert.equal(run.network.socket.url, 'two');
    run.network.socket.open();
    run.network.socket.reply(run.network.socket.sent[0].id, 'loggedIn', { notices: '1-1', user: { userID: 'carol' } });
    await login;
    assert.deepEqual(run.ends, []);
    run.network.badAddresses.add('two');
    const call = run.plaza.call('like.send', { live: 'l' }, 'l');
    run.network.socket.end(1006);
    await Promise.all([run.clock.advance(50), assert.rejects(call, { codeName: 'invalidParameter' })]);
    assert.deepEqual(run.ends, ['invalidParameter']);
    assert.equal(loginStore.state.connectionStatus, 'disconnected');
    assert.equal(run.clock.timerCount, 0);
  });
});

describe('the server\'s time', () => {
  it('is shown whatever the machine\'s clock says', async () => {
    const [clock, network] = [new FakeClock(), new FakeNetwork()];
    const plaza = new LivePlaza({ url: 'ws://g/v1', session: 's', token: 't', WebSocket: network.WebSocket, clock, random: () => 0.5, page: {} });
    const shown = () => plaza.serverTime.getTime();
    assert.equal(shown(), clock.wall());
    const login = plaza.loginStore.login();
    await settle();
    network.socket.open();
    await clock.advance(400);
    network.socket.reply(network.socket.sent[0].id, 'loggedIn', { notices: '1-1', user: { userID: 'carol' }, at: 1_800_000_000_000 });
    await login;
    assert.equal(shown(), 1_800_000_000_200);
    await clock.advance(20_000);
    assert.equal(shown(), 1_800_000_020_200);
    // The ping was sent 20 s after the login, 1.4 s before its answer.
    await clock.advance(1000);
    network.socket.reply(network.socket.sent.at(-1).id, 'done', { at: 1_800_000_020_000 });
    assert.equal(shown(), 1_800_000_020_700);
    plaza.disconnect();
  });
});

describe('calls', () => {
  it('that the server would close the connection for are rejected by the client', async () => {
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

  it('beyond 1,000 that wait are rejected', async () => {
    const { plaza, network } = await make();
    network.socket.end(1006);
    const calls = Array.from({ length: 1001 }, () => plaza.call('like.send', { live: 'l' }, 'l').catch((error) => error.codeName));
    await settle();
    assert.equal(await calls[1000], 'overloaded');
    plaza.disconnect();
    assert.equal(await calls[0], 'failed');
  });
});
