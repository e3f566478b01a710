// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivePlaza } from '../../src/index.js';
import { FakeClock, settle } from '../support/fake-clock.js';
import { FakeNetwork } from '../support/fake-network.js';

/** A client whose token provider returns numbered tokens that are valid for an hour. */
function make(more = {}) {
  const clock = new FakeClock();
  const network = new FakeNetwork();
  const run = { clock, network, asked: 0, life: 3600, serverAhead: 0, fails: false, events: [], faults: [] };
  const tokenProvider = async () => {
    run.asked += 1;
    if (run.fails) throw new Error('the backend is away');
    if (run.isHanging) await new Promise((resolve) => { run.answer = resolve; });
    const exp = Math.floor((clock.wall() + run.serverAhead) / 1000) + run.life;
    return `${run.asked}.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.s`;
  };
  run.plaza = new LivePlaza({
    url: 'ws://g/v1', session: 's', WebSocket: network.WebSocket, clock, random: () => 0.5, page: {}, tokenProvider,
    ...more,
  });
  run.plaza.addEventListener('error', (event) => run.faults.push(event.detail));
  for (const type of ['kickedOffline', 'loginExpired', 'connectionEnded']) {
    run.plaza.loginStore.addEventListener(type, () => run.events.push(type));
  }
  run.login = async () => {
    const login = run.plaza.loginStore.login();
    await settle();
    run.accept();
    await login;
  };
  run.accept = () => {
    network.socket.open();
    network.socket.reply(network.socket.sent[0].id, 'loggedIn', { gateway: 'g', notices: '1-1', session: 's', user: { userID: 'carol' } });
  };
  run.last = () => network.socket.sent[network.socket.sent.length - 1];
  /** The server's clock: the machine's own, unless `serverAhead` says otherwise. */
  run.serverTime = () => clock.wall() + run.serverAhead;
  /** Makes the server reply with its time, and close the connection with 4101 when its token expires. */
  run.serve = () => {
    let end = Infinity;
    network.opensAtOnce = true;
    network.onSent = (frame, socket) => queueMicrotask(() => {
      const at = run.serverTime();
      if (frame.method === 'ping') return end <= at ? socket.end(4101) : socket.reply(frame.id, 'done', { at });
      if (frame.method !== 'login') return;
      end = JSON.parse(Buffer.from(frame.params.token.split('.')[1], 'base64url')).exp * 1000;
      socket.reply(frame.id, 'loggedIn', { gateway: 'g', notices: '1-1', session: 's', user: { userID: 'carol' }, at });
    });
    run.left = () => end - run.serverTime();
  };
  return run;
}

describe('tokens', () => {
  it('are renewed before their end on the open connection, with the token alone', async () => {
    const run = make();
    await run.login();
    assert.equal(run.asked, 1);
    for (let turn = 2; turn < 5; turn += 1) {
      // 90 s before the expiry: a minute, and half of the spread.
      while (run.asked < turn) {
        await run.clock.advance(20_000);
        if (run.last().method === 'ping') run.network.socket.reply(run.last().id, 'done');
        await settle();
      }
      const logins = run.network.socket.sent.filter((frame) => frame.method === 'login');
      assert.equal(logins.length, turn);
      assert.deepEqual(Object.keys(logins[turn - 1].params), ['token']);
      assert.ok(logins[turn - 1].params.token.startsWith(`${turn}.`));
      run.network.socket.reply(logins[turn - 1].id, 'loggedIn', { gateway: 'g', notices: '1-1', session: 's', user: { userID: 'carol' } });
      const elapsed = run.clock.time;
      assert.ok(elapsed <= (turn - 1) * 3600_000, `renewed after ${elapsed}`);
    }
    assert.equal(run.network.sockets.length, 1);
    assert.deepEqual(run.events, []);
  });

  it('end by the server\'s time, also where the machine\'s clock is hours ahead', async () => {
    const run = make();
    run.serverAhead = -2 * 3600_000;
    run.serve();
    await run.plaza.loginStore.login();
    for (let minute = 0; minute < 50; minute += 1) await run.clock.advance(60_000);
    // Before the first reply, the expiry was compared with the machine's clock.
    assert.equal(run.asked, 1);
    await run.clock.advance(9 * 60_000);
    assert.equal(run.asked, 2);
    assert.deepEqual(run.events, []);
  });

  it('end by the server\'s time, also where the machine\'s clock is hours behind', async () => {
    const run = make();
    run.serverAhead = 2 * 3600_000;
    run.serve();
    // By the machine's clock the token is still valid for three hours.
    await run.plaza.loginStore.login();
    for (let minute = 0; minute < 59; minute += 1) await run.clock.advance(60_000);
    assert.equal(run.asked, 2);
    assert.equal(run.network.sockets.length, 1);
    assert.ok(run.left() > 3000_000);
  });

  it('are renewed in time by a machine that sleeps, whose clock stands still meanwhile', async () => {
    const run = make();
    run.serve();
    await run.plaza.loginStore.login();
    const renewedWith = [];
    for (let turn = 0; turn < 200; turn += 1) {
      const before = run.left();
      // The time is short enough that the connection does not time out.
      run.clock.sleep(40_000);
      await run.clock.advance(25_000);
      if (run.left() > before) renewedWith.push(before);
    }
    assert.equal(run.network.sockets.length, 1, 'a token ended on the open connection');
    assert.equal(renewedWith.length, 3);
    // 90 s before the expiry, give or take the time since the last ping.
    for (const left of renewedWith) assert.ok(left > 60_000 && left < 225_000, `renewed with ${left} left`);
  });

  it('that come while the client logs in again are used once it has', async () => {
    const run = make();
    await run.login();
    run.network.onSent = (frame, socket) => {
      if (frame.method === 'ping') queueMicrotask(() => socket.reply(frame.id, 'done'));
    };
    run.isHanging = true;
    await run.clock.advance(3_600_000 - 80_000);
    assert.equal(run.asked, 2);
    run.network.socket.end(1006);
    await run.clock.advance(100);
    const { socket } = run.network;
    socket.open();
    assert.ok(socket.sent[0].params.token.startsWith('1.'));
    run.answer();
    await settle();
    assert.equal(socket.sent.length, 1, 'a second login before the reply to the first');
    socket.reply(socket.sent[0].id, 'loggedIn', { notices: '1-1', user: { userID: 'carol' } });
    assert.equal(socket.sent.length, 2);
    assert.equal(socket.sent[1].method, 'login');
    assert.deepEqual(Object.keys(socket.sent[1].params), ['token']);
    assert.ok(socket.sent[1].params.token.startsWith('2.'));
    socket.reply(socket.sent[1].id, 'loggedIn', { notices: '1-1', user: { userID: 'carol' } });
    await run.clock.advance(3_000_000);
    assert.equal(run.asked, 2);
  });

  it('that come before the client logs in again are not sent twice', async () => {
    const run = make();
    await run.login();
    run.isHanging = true;
    await run.clock.advance(20_000);
    run.network.socket.reply(run.last().id, 'done');
    run.network.onSent = (frame, socket) => {
      if (frame.method === 'ping') queueMicrotask(() => socket.reply(frame.id, 'done'));
    };
    await run.clock.advance(3_600_000 - 100_000);
    assert.equal(run.asked, 2);
    run.network.socket.end(1006);
    await run.clock.advance(100);
    run.answer();
    await settle();
    const { socket } = run.network;
    socket.open();
    assert.ok(socket.sent[0].params.token.startsWith('2.'));
    socket.reply(socket.sent[0].id, 'loggedIn', { notices: '1-1', user: { userID: 'carol' } });
    assert.equal(socket.sent.length, 1);
  });

  it('are asked for again while the provider fails', async () => {
    const run = make();
    await run.login();
    run.fails = true;
    run.network.onSent = (frame, socket) => {
      if (frame.method === 'ping') queueMicrotask(() => socket.reply(frame.id, 'done'));
    };
    await run.clock.advance(3_600_000 - 60_000);
    assert.ok(run.asked > 2, `asked ${run.asked} times`);
    assert.equal(run.faults.length, run.asked - 1);
    run.fails = false;
    await run.clock.advance(31_000);
    assert.equal(run.network.socket.sent.filter((frame) => frame.method === 'login').length, 2);
  });

  it('are asked for again on the open connection if the provider does not answer', async () => {
    const run = make();
    await run.login();
    const { socket } = run.network;
    run.network.onSent = (frame) => {
      if (frame.method === 'ping') queueMicrotask(() => socket.reply(frame.id, 'done'));
    };
    await run.clock.advance(20_000);
    socket.reply(run.last().id, 'done');
    run.isHanging = true;
    // 90 s before the expiry: a minute, and half of the spread.
    await run.clock.advance(3_600_000 - 110_000);
    assert.equal(run.asked, 2);
    run.isHanging = false;
    await run.clock.advance(31_000);
    assert.equal(run.asked, 3);
    assert.deepEqual(run.faults.map((fault) => fault.codeName), ['timedOut']);
    assert.equal(run.network.sockets.length, 1);
    assert.ok(run.last().params.token.startsWith('3.'));
    run.plaza.disconnect();
  });

  it('that cannot be had fail the login with the error of the provider', async () => {
    const run = make();
    run.fails = true;
    await assert.rejects(run.plaza.loginStore.login(), { message: 'the backend is away' });
    assert.deepEqual(run.plaza.loginStore.state, { loginStatus: 'unlogin', loginUserInfo: null, connectionStatus: 'disconnected' });
    assert.equal(run.clock.timerCount, 0);
    run.fails = false;
    await run.login();
    assert.equal(run.plaza.loginStore.state.connectionStatus, 'connected');
  });

  it('that end lead to a new one and a new connection', async () => {
    const run = make();
    await run.login();
    run.network.socket.end(4101);
    await run.clock.advance(100);
    assert.equal(run.asked, 2);
    assert.equal(run.network.sockets.length, 2);
    run.accept();
    assert.ok(run.network.socket.sent[0].params.token.startsWith('2.'));
    assert.equal(run.plaza.loginStore.state.connectionStatus, 'connected');
    assert.deepEqual(run.events, []);
  });

  it('that are rejected twice end the login', async () => {
    const run = make();
    await run.login();
    run.network.socket.end(4100);
    await run.clock.advance(100);
    run.network.socket.open();
    run.network.socket.fail(run.network.socket.sent[0].id, 70003, 'tokenInvalid');
    await run.clock.advance(60_000);
    assert.equal(run.asked, 2);
    assert.deepEqual(run.events, ['loginExpired', 'connectionEnded']);
  });

  it('that are rejected again after a login are asked for again', async () => {
    const run = make();
    await run.login();
    for (let turn = 2; turn < 5; turn += 1) {
      run.network.socket.end(4101);
      await run.clock.advance(100);
      run.accept();
      assert.equal(run.asked, turn);
    }
    assert.deepEqual(run.events, []);
    assert.equal(run.plaza.loginStore.state.connectionStatus, 'connected');
    run.plaza.disconnect();
  });

  it('are asked for before a connection when they have ended meanwhile', async () => {
    const run = make();
    await run.login();
    run.network.socket.end(1006);
    run.clock.time += 4_000_000;
    await run.clock.advance(100);
    assert.equal(run.asked, 2);
    run.accept();
    assert.ok(run.network.socket.sent[0].params.token.startsWith('2.'));
  });

  it('are asked for again if the provider does not answer, and the connection goes to the next address', async () => {
    const run = make({ url: ['one', 'two'] });
    await run.login();
    run.isHanging = true;
    run.network.socket.end(4101);
    await run.clock.advance(100);
    assert.equal(run.asked, 2);
    run.isHanging = false;
    await run.clock.advance(31_000);
    assert.equal(run.asked, 3);
    // With the random number 0.5 the client begins at the second address.
    assert.equal(run.network.socket.url, 'one');
    run.accept();
    run.plaza.disconnect();
  });

  it('are not asked for by a client that was stopped', async () => {
    const run = make();
    await run.login();
    run.plaza.disconnect();
    await run.clock.advance(86_400_000);
    assert.equal(run.asked, 1);
    assert.equal(run.clock.timerCount, 0);
  });
});
