// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FeedTracker } from '../../src/core/feed-tracker.js';

const frame = (first, last, more = {}) => ({
  kind: 'feed', live: 'l', epoch: 7, number: last, token: `7.${last}.1`, isHistory: false,
  items: Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => ({ n: first + index })), ...more,
});
const numbers = ({ items }) => items.map((item) => item.n);

describe('the feed tracker', () => {
  it('begins anywhere and keeps the last token unchanged', () => {
    const tracker = new FeedTracker();
    assert.deepEqual(numbers(tracker.record(frame(12, 11))), []);
    assert.equal(tracker.token, '7.11.1');
    assert.deepEqual(numbers(tracker.record(frame(12, 13))), [12, 13]);
    assert.equal(tracker.token, '7.13.1');
  });

  it('gives each number once, in order, and finds each gap, whatever frames come', () => {
    let state = 1;
    const random = (limit) => {
      state = (state * 48271) % 2147483647;
      return state % limit;
    };
    for (let run = 0; run < 300; run += 1) {
      const tracker = new FeedTracker();
      tracker.record(frame(1, 0));
      let [last, missing] = [0, 0];
      for (let step = 0; step < 40; step += 1) {
        const first = Math.max(1, last + 1 + random(7) - 4);
        const end = first + random(4) - 1;
        const before = last;
        const { items, hasGap } = tracker.record(frame(first, end));
        const fresh = items.map((item) => item.n);
        const wanted = end > last ? Array.from({ length: end - first + 1 }, (_, index) => first + index).filter((n) => n > last) : [];
        assert.deepEqual(fresh, wanted);
        assert.equal(hasGap, end >= before && (fresh[0] ?? end + 1) > before + 1);
        if (end > last) {
          missing += (fresh[0] ?? end + 1) - before - 1;
          last = end;
        }
        assert.equal(tracker.missing, missing);
        assert.equal(tracker.position.number, last);
      }
    }
  });

  it('goes on in a later epoch, and ignores an earlier one', () => {
    const tracker = new FeedTracker();
    tracker.record(frame(5, 6));
    assert.deepEqual(numbers(tracker.record(frame(9, 9, { epoch: 6 }))), []);
    assert.deepEqual(numbers(tracker.record(frame(1, 1, { epoch: 8 }))), [1]);
    assert.deepEqual(tracker.position, { epoch: 8, number: 1 });
  });

  it('continues at the position of a resume without a replay, but never goes back', () => {
    const tracker = new FeedTracker();
    tracker.record(frame(5, 6));
    tracker.resume({ epoch: 7, number: 4 });
    assert.equal(tracker.position.number, 6);
    tracker.resume({ epoch: 7, number: 9 });
    assert.equal(tracker.missing, 3);
    assert.deepEqual(numbers(tracker.record(frame(10, 10))), [10]);
    assert.equal(tracker.missing, 3);
  });
});
