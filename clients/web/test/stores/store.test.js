// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BarrageStore, LiveListStore, LivePlaza, LoginStore } from '../../src/index.js';
import { publish, Store } from '../../src/stores/store.js';
import { mostKept, StoreRegistry } from '../../src/stores/store-registry.js';

describe('a store', () => {
  it('calls a subscriber at once and after each change, until it ends', () => {
    const store = new Store({ a: 1 });
    const seen = [];
    const listener = (state) => seen.push(state.a);
    const end = store.subscribe(listener);
    const other = store.subscribe(listener);
    store[publish]({ a: 2 })();
    end();
    end();
    store[publish]({ a: 3 })();
    other();
    store[publish]({ a: 4 })();
    assert.deepEqual(seen, [1, 1, 2, 2, 3]);
  });

  it('calls a subscriber that comes between a change and its publication once with the new state', () => {
    const [first, second] = [new Store(0), new Store(0)];
    const seen = [];
    let end = () => {};
    first.subscribe((state) => {
      if (state === 1) end = second.subscribe((other) => seen.push(other));
    });
    // Both states are set before any subscriber is called.
    for (const tell of [first[publish](1), second[publish](1)]) tell();
    second[publish](2)();
    end();
    assert.deepEqual(seen, [1, 2]);
  });

  it('tells nobody when the state is the same', () => {
    const state = { a: 1 };
    const store = new Store(state);
    let calls = 0;
    store.subscribe(() => {
      calls += 1;
    });
    store[publish](state)();
    assert.equal(calls, 1);
  });

  it('tells a part only when it changes', () => {
    const store = new Store({ a: 1, b: 1 });
    const seen = [];
    store.select((state) => state.a, (part) => seen.push(part));
    store[publish]({ a: 1, b: 2 })();
    store[publish]({ a: 2, b: 2 })();
    store[publish]({ a: NaN, b: 2 })();
    store[publish]({ a: NaN, b: 3 })();
    assert.deepEqual(seen, [1, 2, NaN]);
  });

  it('goes on when a subscriber throws, and when one ends another', () => {
    const store = new Store(0);
    const seen = [];
    const { error } = console;
    const errors = [];
    console.error = (...words) => errors.push(words);
    try {
      store.subscribe(() => {
        throw new Error('mine');
      });
      let end = () => {};
      store.subscribe((state) => {
        if (state === 1) end();
      });
      end = store.subscribe((state) => seen.push(state));
      store[publish](1)();
    } finally {
      console.error = error;
    }
    assert.deepEqual(seen, [0]);
    assert.ok(errors.length === 2 || typeof reportError === 'function');
  });
});

describe('instances', () => {
  it('give the same stores for the same live', () => {
    const plaza = new LivePlaza();
    assert.equal(plaza.live('a'), plaza.live('a'));
    assert.notEqual(plaza.live('a').barrage, plaza.live('A').barrage);
    assert.notEqual(new LivePlaza().live('a').barrage, plaza.live('a').barrage);
    assert.equal(BarrageStore.create('a', plaza), plaza.live('a').barrage);
    assert.equal(plaza.live('a').barrage.liveID, 'a');
  });

  it('drop the stores of lives that were asked for long ago, unless the app holds one or the client is in the live', async () => {
    setFlagsFromString('--expose_gc');
    const collect = runInNewContext('gc');
    const registry = new StoreRegistry({ liveID: 'current' });
    const held = registry.stores('held').barrage;
    const shown = [];
    registry.stores('current').like.subscribe((state) => shown.push(state));
    for (let number = 0; number < 5 * mostKept; number += 1) registry.stores(`live ${number}`);
    for (let round = 0; round < 50 && registry.size > mostKept + 1; round += 1) {
      // JavaScript does not collect the target of a new WeakRef before the present task has ended.
      await new Promise((done) => setImmediate(done));
      collect();
    }
    assert.equal(registry.size, mostKept + 1);
    assert.equal(registry.stores('held').barrage, held);
    registry.stores('current').like[publish]({ totalLikeCount: 1 })();
    assert.deepEqual(shown, [{ totalLikeCount: 0 }, { totalLikeCount: 1 }]);
  });

  it('have a default one', () => {
    assert.equal(BarrageStore.create('a'), LivePlaza.shared.live('a').barrage);
    assert.equal(LoginStore.shared, LivePlaza.shared.loginStore);
    assert.equal(LiveListStore.shared, LivePlaza.shared.liveListStore);
    assert.equal(LivePlaza.configure({ url: 'ws://x' }), LivePlaza.shared);
  });

  it('say what a login lacks', async () => {
    class WebSocket {
      constructor() {
        throw new SyntaxError('bad address');
      }
    }
    await assert.rejects(new LivePlaza().loginStore.login(), { codeName: 'invalidParameter' });
    await assert.rejects(new LivePlaza({ url: 'ws://x' }).loginStore.login({ token: 't', WebSocket: undefined, urls: [] }), { code: -1001 });
    await assert.rejects(new LivePlaza({ url: 'ws://x', WebSocket }).loginStore.login(), { message: /token/ });
    const plaza = new LivePlaza({ url: 'nonsense', WebSocket, token: 't' });
    await assert.rejects(plaza.loginStore.login(), { codeName: 'invalidParameter' });
    assert.equal(plaza.loginStore.state.connectionStatus, 'disconnected');
    await assert.rejects(plaza.loginStore.login(), { codeName: 'invalidParameter' });
    await assert.rejects(plaza.live('a').barrage.sendTextMessage({ text: 'x' }), { codeName: 'notLoggedIn' });
  });
});
