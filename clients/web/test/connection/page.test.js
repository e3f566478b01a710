// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivePlaza } from '../../src/index.js';
import { FakeClock, settle } from '../support/fake-clock.js';
import { FakeNetwork } from '../support/fake-network.js';

/** A fake of a browser's page, with the parts that the SDK uses. */
class FakePage extends EventTarget {
  document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  navigator = { onLine: true };
  show(isShown) {
    this.document.visibilityState = isShown ? 'visible' : 'hidden';
    this.document.dispatchEvent(new Event('visibilitychange'));
  }
  online(isOnline) {
    this.dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
  }
}

async function make(random = () => 0.5, urls = ['ws://a/v1', 'ws://b/v1']) {
  const run = { clock: new FakeClock(), network: new FakeNetwork(), page: new FakePage() };
  run.plaza = new LivePlaza({
    urls, session: 's', token: 't', WebSocket: run.network.WebSocket, clock: run.clock, random, page: run.page,
  });
  run.accept = () => {
    run.network.socket.open();
    run.network.socket.reply(run.network.socket.sent[0].id, 'loggedIn', { gateway: 'g', notices: '1-1', session: 's', user: { userID: 'carol' } });
  };
  const login = run.plaza.loginStore.login();
  await settle();
  run.accept();
  await login;
  return run;
}

describe('a page', () => {
  it('that is shown again checks the connection at once', async () => {
    const { page, network, clock } = await make();
    page.show(false);
    await clock.advance(5000);
    assert.equal(network.socket.sent.length, 1);
    page.show(true);
    assert.equal(network.socket.sent[1].method, 'ping');
    page.show(true);
    assert.equal(network.socket.sent.length, 2);
    await clock.advance(10_000);
    assert.equal(network.socket.isClosed, true);
  });

  it('that is shown while the client waits connects at once', async () => {
    const { page, network, clock } = await make();
    network.socket.end(1006);
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await clock.advance(5000);
      network.socket.end(1006);
    }
    const before = network.sockets.length;
    page.show(true);
    await clock.advance(0);
    assert.equal(network.sockets.length, before + 1);
  });

  it('without a network tries rarely, and soon after its return', async () => {
    const { page, network, clock } = await make();
    page.online(false);
    network.socket.end(1006);
    await clock.advance(29_999);
    assert.equal(network.sockets.length, 1);
    await clock.advance(1);
    assert.equal(network.sockets.length, 2);
    network.socket.end(1006);
    await clock.advance(1000);
    page.online(true);
    await clock.advance(499);
    assert.equal(network.sockets.length, 2);
    await clock.advance(1);
    assert.equal(network.sockets.length, 3);
  });

  it('without a network checks its connection at once, and gives it up after 5 s', async () => {
    const { page, network, clock, plaza } = await make();
    page.online(false);
    assert.deepEqual(network.socket.sent.map(({ method }) => method), ['login', 'ping']);
    page.online(false);
    assert.equal(network.socket.sent.length, 2, 'what is no news');
    await clock.advance(4999);
    assert.equal(plaza.loginStore.state.connectionStatus, 'connected');
    await clock.advance(1);
    assert.equal(network.socket.isClosed, true);
    assert.equal(plaza.loginStore.state.connectionStatus, 'reconnecting');
    // While the page is offline, attempts to connect are rare.
    await clock.advance(29_999);
    assert.equal(network.sockets.length, 1);
  });

  it('that is answered without a network keeps its connection', async () => {
    const { page, network, clock } = await make();
    page.online(false);
    network.socket.reply(network.socket.sent[1].id, 'done', {});
    await clock.advance(19_999);
    assert.equal(network.socket.isClosed, false);
    assert.equal(network.sockets.length, 1);
  });

  it('begins at a random gateway, and takes the others in turn', async () => {
    for (const [number, order] of [[0, 'abca'], [0.4, 'bcab'], [0.999999, 'cabc']]) {
      const { network, clock } = await make(() => number, ['ws://a/v1', 'ws://b/v1', 'ws://c/v1']);
      for (let attempt = 0; attempt < 3; attempt += 1) {
        network.socket.end(1006);
        await clock.advance(5000);
      }
      assert.deepEqual(network.sockets.map((socket) => socket.url), [...order].map((name) => `ws://${name}/v1`));
      assert.ok(network.sockets.every((socket) => socket.protocol === 'liveplaza.v1'));
    }
  });

  it('is not followed after a logout', async () => {
    const { page, network, plaza, clock } = await make();
    await plaza.loginStore.logout();
    page.show(true);
    page.online(false);
    page.online(true);
    await clock.advance(100_000);
    assert.equal(network.sockets.length, 1);
    assert.equal(network.socket.closedWith, 1000);
    assert.equal(clock.timerCount, 0);
  });

  it('does not hear what a former connection still says', async () => {
    const { network, clock, plaza } = await make();
    const old = network.socket;
    await clock.advance(20_000);
    await clock.advance(10_000);
    await clock.advance(5000);
    assert.notEqual(network.socket, old);
    old.receive({ reply: { id: 99, result: { done: {} } } });
    old.end(4102);
    assert.notEqual(plaza.loginStore.state.connectionStatus, 'disconnected');
  });
});
