// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivePlaza } from '../src/index.js';
import { settle } from './support/fake-clock.js';
import { FakeNetwork } from './support/fake-network.js';
import { storeOf } from './support/conformance.js';
import { CuttableNetwork } from './support/cuttable-network.js';
import { callsOf, playSession, sessions, uncalled } from './support/sessions.js';

const plaza = new LivePlaza({ url: 'ws://gateway/v1', token: 't', page: {} });
const storeNames = ['login', 'liveList', ...Object.keys(plaza.live('one'))];
/** Methods that no session calls: two that only the SDK calls, and `reportDevice`, which other methods call. */
const otherMethods = ['login.received', 'login.disconnected', 'seat.reportDevice'];

/** The methods of a store's class, as `store.method`. */
const methodsOf = (store) => Object.getOwnPropertyNames(Object.getPrototypeOf(storeOf(plaza, store, 'one')))
  .filter((name) => name !== 'constructor').map((name) => `${store}.${name}`);

const called = new Set(sessions.flatMap(({ steps }) => callsOf(steps)).map(({ store, method }) => `${store}.${method}`));

describe('the sessions that are played on a real cluster', () => {
  it('call methods that the stores have', () => {
    const methods = new Set(storeNames.flatMap(methodsOf));
    assert.deepEqual([...called].filter((name) => !methods.has(name)), []);
  });

  it('call each method of each store that is not listed with a reason', () => {
    const methods = storeNames.flatMap(methodsOf).filter((name) => !otherMethods.includes(name));
    assert.ok(methods.length > 55, `only ${methods.length} methods were found`);
    const listed = new Set(uncalled.map(({ store, method }) => `${store}.${method}`));
    assert.deepEqual(methods.filter((name) => called.has(name) === listed.has(name)), []);
  });
});

const info = { liveID: 'this-one', liveName: 'One', liveOwner: { userID: 'alice', userName: '', avatarURL: '' }, createTime: 1 };

/** The replies of the server by method: a result, or a function that makes one. Other calls get an empty result. */
const usualAnswers = {
  login: { loggedIn: { gateway: 'g', notices: '1-1', session: 's', user: { userID: 'carol', userName: '', avatarURL: '' } } },
  'live.join': { joined: { confirmed: true, epoch: 77, ticket: 1, token: '77.0' } },
  'live.get': { room: { details: { audience: { at: 1, count: 0, live: 'this-one', stale: false, totalViewers: 1 }, epoch: 77, info } } },
  'audience.list': { audience: { page: { members: [], cursor: '', count: 0 } } },
  'live.mutes': { sanctions: { page: { items: [], nextOffset: 0 } } },
  'live.summary': { statistics: { statistics: {} } },
};

/** A WebSocket class of a server that replies at once; `received` collects the frames of the clients. */
function serverWith(answers, received) {
  const network = new FakeNetwork();
  network.opensAtOnce = true;
  network.onSent = ({ id, method, params }, socket) => queueMicrotask(() => {
    if (socket.isClosed) return;
    received.push({ method, params });
    const answer = answers[method] ?? { done: {} };
    socket.receive({ reply: { id, result: typeof answer === 'function' ? answer() : answer } });
  });
  network.WebSocket.prototype.terminate = function terminate() {
    this.isClosed = true;
  };
  return network.WebSocket;
}

/** An environment for sessions with such a server. */
function environment(moreAnswers = {}) {
  const answers = { ...usualAnswers, ...moreAnswers };
  const received = [];
  const clients = [];
  const connectable = (WebSocket) => {
    clients.push(new LivePlaza({ url: 'ws://gateway/v1', token: 't', WebSocket, page: {} }));
    return clients[clients.length - 1];
  };
  const network = new CuttableNetwork(serverWith(answers, received));
  return {
    network, received, client: connectable(network.WebSocket), id: (name) => `this-${name}`,
    callAs: async () => ({ battle: 'b-7' }), makeClient: async () => connectable(serverWith(answers, [])),
    end: () => clients.forEach((client) => client.disconnect()),
  };
}

const login = { call: { store: 'login', method: 'login' } };
const play = (steps, fake, frames) => playSession({ live: 'one', steps }, fake, frames).finally(() => fake.end());

describe('the runner of sessions', () => {
  it('makes calls with the ids and results of this run, and sends them again after a cut', async () => {
    const fake = environment();
    const accept = { call: { store: 'battle', method: 'acceptBattle', params: { battleID: { $result: ['asked', 'battle'] } } } };
    // The cut is at the reply to the call.
    await play([login, { other: { user: 'rival', method: 'battle.request', params: {}, as: 'asked' } }, accept], fake, 1);
    const accepts = fake.received.filter(({ method }) => method === 'battle.accept');
    assert.deepEqual(accepts.map(({ params }) => params), Array(2).fill({ live: 'this-one', battle: 'b-7' }));
  });

  it('cuts once within the steps of a cut, and compares with a witness and a newcomer', async () => {
    const fake = environment();
    const join = { call: { store: 'liveList', method: 'joinLive', params: { liveID: { $id: 'one' } }, is: { liveName: 'One' } } };
    // The cut is at the reply to the login.
    await play([{ cut: { steps: [login, join] } }, { witness: {} }, { sameStates: { messages: [] } }], fake, 3);
    assert.equal(fake.received.filter(({ method }) => method === 'login').length, 2);
    assert.equal(fake.received.filter(({ method }) => method === 'live.join').length, 1);
  });

  it('makes a call again until the state is there', async () => {
    let reads = 0;
    const read = () => {
      reads += 1;
      return { gifts: { categories: reads === 1 ? [] : [{ categoryID: 'b' }, { categoryID: 'c' }] } };
    };
    const fake = environment({ 'gift.list': read });
    const join = { call: { store: 'liveList', method: 'joinLive', params: { liveID: { $id: 'one' } } } };
    const until = { store: 'gift', is: { usableGifts: { $contains: { categoryID: 'c' } } } };
    await play([login, join, { call: { store: 'gift', method: 'refreshUsableGifts', until } }], fake);
    assert.equal(reads, 2);
  });

  it('fails at a call that fails, at another result and at another state', async () => {
    const turnOn = { store: 'gift', method: 'setGiftEnabled', params: { isEnabled: true } };
    await play([login, { call: turnOn }], environment());
    await assert.rejects(play([{ call: turnOn }], environment()), { codeName: 'notLoggedIn' });
    await assert.rejects(play([login, { call: { ...turnOn, is: { a: 1 } } }], environment()), /result is undefined/);
    const state = { state: { store: 'login', is: { loginUserInfo: { userID: 'dan' } } } };
    await assert.rejects(play([login, state], environment()), /login.loginUserInfo.userID/);
    await assert.rejects(play([{ jump: {} }], environment()), /no step of the kind jump/);
  });
});

describe('a network with cuts', () => {
  it('loses the frame after the planned number, in either direction', async () => {
    // The attempt to connect is frame 0 and its success frame 1; frame 2 is sent, and frame 3 is received.
    for (const count of [0, 1, 2, 3]) {
      const inner = new FakeNetwork();
      inner.opensAtOnce = true;
      inner.WebSocket.prototype.terminate = function terminate() {
        this.isClosed = true;
      };
      const network = new CuttableNetwork(inner.WebSocket);
      network.planCut(count);
      const socket = new network.WebSocket('ws://g', 'p');
      const seen = [];
      socket.onopen = () => {
        seen.push('opened');
        socket.send('{"id":1}');
        inner.socket.receive('x');
      };
      socket.onmessage = () => seen.push('received');
      socket.onclose = ({ code }) => seen.push(code);
      await settle();
      const [isOpened, isSent] = [count > 1, count > 2];
      assert.deepEqual(seen, [...(isOpened ? ['opened'] : []), 1006], `${count} frames`);
      assert.equal(inner.socket?.sent.length ?? 0, isSent ? 1 : 0, `${count} frames`);
      assert.equal(network.isCutPlanned, false);
      assert.equal(network.isOpen, false);
    }
  });
});
