// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backOff } from '../../src/core/back-off.js';
import { Heartbeat } from '../../src/core/heartbeat.js';
import { renewalDelay, tokenEnd, TokenKeeper } from '../../src/core/token-keeper.js';

const almostOne = 1 - Number.EPSILON;
const jwt = (claims) => `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;

describe('back-off', () => {
  it('has full jitter between 0 and min(5 s, 100 ms · 2^k)', () => {
    for (let failures = 0; failures < 100; failures += 1) {
      const most = Math.min(5000, 100 * 2 ** Math.min(failures, 30));
      assert.equal(backOff(failures, 0), 0);
      assert.equal(backOff(failures, 0.5), most / 2);
      assert.ok(backOff(failures, almostOne) <= most);
    }
  });
});

describe('the renewal of a token', () => {
  it('is asked for before the end, spread over clients', () => {
    for (const left of [1, 1000, 60_000, 300_000, 3_600_000, 86_400_000]) {
      const late = renewalDelay(left, 0);
      const early = renewalDelay(left, almostOne);
      assert.ok(Math.abs(left - late - Math.min(60_000, left / 5)) < 1e-9);
      assert.ok(early < late && early >= left - 2 * Math.min(60_000, left / 5), `${left}`);
    }
    assert.equal(renewalDelay(-5000, 0.5), 0);
  });

  it('reads the end of a token and survives what is none', () => {
    assert.equal(tokenEnd(jwt({ exp: 1_700_000_000, sub: 'ü?>' })), 1_700_000_000_000);
    for (const bad of ['', 'a', 'a.b.c', 'a.!!!.c', jwt({}), jwt({ exp: 'soon' }), jwt(null), jwt([]), '..']) {
      assert.equal(tokenEnd(bad), undefined);
    }
  });

  it('waits longer after each failure of the provider, at least a second and at most 30', () => {
    const keeper = new TokenKeeper(true, () => almostOne);
    keeper.use({ text: 't', left: 100 }, 0);
    const pauses = Array.from({ length: 10 }, () => keeper.failed(0));
    assert.deepEqual(pauses.map(Math.round), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000]);
    assert.ok(keeper.renewAt >= 1000);
    const quick = new TokenKeeper(true, () => 0);
    quick.use({ text: 't', left: 100 }, 0);
    quick.failed(0);
    assert.equal(quick.renewAt, 1000);
  });

  it('moves with the server\'s time, but neither while the provider is asked nor while it is left alone', () => {
    const keeper = new TokenKeeper(true, () => 0);
    keeper.use({ text: jwt({ exp: 3600 }), left: 3_600_000 }, 0);
    assert.equal(keeper.renewAt, 3_540_000);
    keeper.serverTime(1_000_000, 400_000);
    assert.equal(keeper.renewAt, 2_940_000);
    // The lead is fixed at the start. If it were a fifth of the remaining time, the renewal would be postponed for
    // ever.
    keeper.serverTime(3_500_000, 500_000);
    assert.equal(keeper.renewAt, 540_000);
    keeper.serverTime(3_590_000, 500_000);
    assert.equal(keeper.renewAt, 500_000);
    keeper.requested(500_000);
    keeper.serverTime(3_500_000, 500_000);
    assert.equal(keeper.renewAt, 530_000);
    keeper.failed(500_000);
    keeper.serverTime(3_590_000, 500_100);
    assert.equal(keeper.renewAt, 501_000);
  });

  it('stays where it was for a token whose end cannot be read, and is never without a provider', () => {
    const opaque = new TokenKeeper(true, () => 0);
    opaque.use({ text: 'opaque', left: 3_600_000 }, 0);
    opaque.serverTime(1_000_000, 0);
    assert.equal(opaque.renewAt, 3_540_000);
    const alone = new TokenKeeper(false, () => 0);
    alone.use({ text: jwt({ exp: 3600 }), left: 3_600_000 }, 0);
    alone.serverTime(3_599_000, 0);
    assert.equal(alone.renewAt, Infinity);
  });

  it('tries another token once after a rejection', () => {
    const keeper = new TokenKeeper(true, () => 0.5);
    keeper.use({ text: 't', left: 100_000 }, 0);
    assert.equal(keeper.needsNew(0), false);
    assert.equal(keeper.rejected(), true);
    assert.equal(keeper.needsNew(0), true);
    keeper.use({ text: 'u', left: 100_000 }, 0);
    assert.equal(keeper.rejected(), false);
    keeper.accepted();
    assert.equal(keeper.rejected(), true);
    const alone = new TokenKeeper(false, () => 0.5);
    alone.use({ text: 't', left: 1 }, 0);
    assert.equal(alone.rejected(), false);
    assert.equal(alone.needsNew(1e9), false);
  });
});

describe('the heartbeat', () => {
  it('pings after a silence of either side, and takes ten silent seconds as a loss', () => {
    const heartbeat = new Heartbeat(20_000, 10_000);
    heartbeat.start(0);
    assert.equal(heartbeat.pingAt(), 20_000);
    heartbeat.received(5000);
    assert.equal(heartbeat.pingAt(), 20_000);
    heartbeat.sent(6000);
    assert.equal(heartbeat.pingAt(), 25_000);
    assert.equal(heartbeat.lostAt(), Infinity);
    heartbeat.pinged(25_000);
    assert.equal(heartbeat.pingAt(), Infinity);
    assert.equal(heartbeat.lostAt(), 35_000);
    heartbeat.received(26_000);
    assert.equal(heartbeat.lostAt(), Infinity);
  });
});
