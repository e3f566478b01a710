// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LikeStore } from '../../src/stores/like-store.js';
import { settle } from '../support/fake-clock.js';

describe('a store of likes', () => {
  it('adds a tap to the taps that wait, also when the pause has ended and they are not sent yet', async () => {
    const [sent, timers] = [[], []];
    const session = {
      call: async (method, params) => void sent.push([method, params.count]),
      clock: { setTimeout: (action) => timers.push(action) },
    };
    const store = new LikeStore('concert', session);
    const calls = [store.sendLike({ count: 1 }), store.sendLike({ count: 2 })];
    await settle();
    assert.deepEqual(sent, [['like.send', 1]]);
    timers[0]();
    // The call for the waiting taps was not made yet.
    calls.push(store.sendLike({ count: 3 }));
    await Promise.all(calls);
    assert.deepEqual(sent, [['like.send', 1], ['like.send', 5]]);
    // The next pause between two calls has begun.
    calls.push(store.sendLike({ count: 4 }));
    await settle();
    assert.equal(sent.length, 2);
    timers[1]();
    await Promise.all(calls);
    assert.deepEqual(sent.at(-1), ['like.send', 4]);
  });
});
