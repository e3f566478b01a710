// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BitmapPool } from '../../pages/barrage/bitmap-pool.js';
import { LaneScheduler } from '../../pages/barrage/lanes.js';

/** A small random generator with a seed, so that a failure can be repeated. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const left = ({ startX, speed, startedAt }, now) => startX - (now - startedAt) * speed;

function assertApart(onScreen, now, gap) {
  const lanes = new Map();
  for (const placement of onScreen) lanes.set(placement.lane, [...(lanes.get(placement.lane) ?? []), placement]);
  for (const list of lanes.values()) {
    const spans = list.map((placement) => [left(placement, now), left(placement, now) + placement.item.width]);
    spans.sort((a, b) => a[0] - b[0]);
    for (let index = 1; index < spans.length; index += 1) {
      assert.ok(spans[index][0] - spans[index - 1][1] >= gap - 0.01, `overlap at ${now}: ${spans[index - 1]} and ${spans[index]}`);
    }
  }
}

test('no two messages of a lane overlap, whatever their lengths and however the screen changes', () => {
  for (let seed = 1; seed <= 8; seed += 1) {
    const random = generator(seed);
    const scheduler = new LaneScheduler({ lanes: 6, width: 800, gap: 20, cap: 60 });
    for (let now = 0; now < 60_000; now += 16) {
      if (random() < 0.5) scheduler.offer({ width: 20 + random() ** 3 * 1500, isGift: random() < 0.1 }, now);
      if (random() < 0.002) scheduler.resize({ lanes: 2 + Math.floor(random() * 8), width: 300 + random() * 900 });
      scheduler.expire(now);
      scheduler.advance(now);
      assertApart(scheduler.onScreen, now, 0);
    }
  }
});

test('a longer and faster message does not catch up with the one before it', () => {
  const scheduler = new LaneScheduler({ lanes: 1, width: 1000, duration: 8000, gap: 0 });
  scheduler.offer({ width: 100 }, 0);
  assert.equal(scheduler.advance(0).length, 1);
  scheduler.offer({ width: 2000 }, 1000);
  // The first message is completely on the screen at 728 ms, but the second one is three times as fast.
  assert.equal(scheduler.advance(1000, undefined).length, 0);
  let started;
  for (let now = 1000; now < 9000 && started === undefined; now += 1) {
    scheduler.patience = Infinity;
    if (scheduler.advance(now).length > 0) started = now;
  }
  // The second message needs 2,667 ms to the left edge. The first one leaves the screen at 8,000 ms.
  assert.ok(Math.abs(started - (8000 - (1000 / 3000) * 8000)) <= 2, `started at ${started}`);
});

test('a gift waits for a lane and is never left out; others are, after their patience', () => {
  const scheduler = new LaneScheduler({ lanes: 1, width: 100, duration: 8000, cap: 1, patience: 500 });
  const dropped = [];
  for (let index = 0; index < 5; index += 1) scheduler.offer({ width: 50, name: `text ${index}` }, 0);
  for (let index = 0; index < 3; index += 1) scheduler.offer({ width: 50, name: `gift ${index}`, isGift: true }, 0);
  const shown = [];
  for (let now = 0; now < 60_000; now += 16) {
    scheduler.expire(now);
    shown.push(...scheduler.advance(now, (item) => dropped.push(item.name)).map(({ item }) => item.name));
  }
  assert.deepEqual(shown, ['gift 0', 'gift 1', 'gift 2']);
  assert.equal(dropped.length, 5);
  assert.equal(scheduler.dropped, 5);
});

test('the screen holds no more than its cap, and gifts come on top', () => {
  const scheduler = new LaneScheduler({ lanes: 50, width: 1000, cap: 10 });
  for (let index = 0; index < 30; index += 1) scheduler.offer({ width: 50 }, 0);
  scheduler.advance(0);
  assert.equal(scheduler.onScreen.length, 10);
  scheduler.offer({ width: 50, isGift: true }, 1);
  scheduler.advance(1);
  assert.equal(scheduler.onScreen.length, 11);
});

test('what has left the screen is taken away, whatever the order of the ends', () => {
  const scheduler = new LaneScheduler({ lanes: 3, width: 1000 });
  scheduler.offer({ width: 10 }, 0);
  scheduler.offer({ width: 900 }, 0);
  scheduler.advance(0);
  assert.equal(scheduler.expire(7999).length, 0);
  assert.equal(scheduler.expire(8000).length, 2);
  assert.equal(scheduler.onScreen.length, 0);
});

test('bitmaps are used again, and the pool does not grow', () => {
  let made = 0;
  const pool = new BitmapPool((width, height) => ({ width, height, number: (made += 1) }), 4);
  for (let round = 0; round < 100; round += 1) {
    const canvases = [70, 100, 130, 700].map((width) => pool.take(width, 34));
    assert.ok(canvases.every((canvas, index) => canvas.width >= [70, 100, 130, 700][index]));
    for (const canvas of canvases) pool.give(canvas);
  }
  assert.equal(made, 4);
  const many = Array.from({ length: 10 }, () => pool.take(60, 34));
  for (const canvas of many) pool.give(canvas);
  assert.equal(pool.idle, 4);
});
