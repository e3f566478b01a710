// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plazaError } from '../../src/core/errors.js';
import { initial, reduce } from '../../src/core/state/live.js';
import * as seat from '../../src/core/state/seat.js';
import { Refresher } from '../../src/refresher.js';

const info = (notice) => ({
  activityStatus: 0, admins: [], backgroundURL: '', categoryList: [], coverURL: '', createTime: 1, isGiftEnabled: true,
  isMessageDisable: false, isPublicVisible: true, keepOwnerOnSeat: true, liveID: 'l', liveName: 'L',
  liveOwner: { avatarURL: '', userID: 'alice', userName: 'A' }, maxMemberCount: 0, maxSeatCount: 9, metaData: {},
  notice,
  seatMode: 'apply', seatTemplate: 600, status: 2,
});
const details = (notice, revision, totalViewers) => ({
  type: 'snapshot.details', body: { info: info(notice), revision, audience: { count: 1, totalViewers } },
});

describe('a stale read', () => {
  it('of an info does not undo a later change that is shown already', () => {
    let state = reduce(initial(), details('old', 3, 1));
    state = reduce(state, { type: 'item.infoChanged', body: { info: info('new'), revision: 5 } });
    // The gateway that answers the read has not received the change yet.
    state = reduce(state, details('old', 3, 9));
    assert.equal(state.info.notice, 'new');
    assert.equal(state.info.totalViewerCount, 9);
    assert.equal(reduce(state, details('newest', 6, 9)).info.notice, 'newest');
  });

  it('is repeated while the service is away, and given up after five failures of another kind', async () => {
    for (const [name, isRepeated] of [['unavailable', true], ['noPermission', false]]) {
      const timers = [];
      const clock = { setTimeout: (run) => timers.push(run), clearTimeout: () => {} };
      let reads = 0;
      const refresher = new Refresher(clock, () => 0.5, async () => {
        reads += 1;
        throw plazaError(name, 'no');
      });
      refresher.start();
      refresher.soon('audience');
      for (let turn = 0; turn < 40; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        timers.shift()?.();
      }
      assert.equal(reads > 6, isRepeated, `${name}: ${reads} reads`);
      refresher.stop();
    }
  });
});

describe('missed items', () => {
  it('leave nobody speaking, until an item says so again', () => {
    const stage = { record: undefined };
    const context = { before: { stage }, states: { stage }, emit: () => {} };
    const speaking = { type: 'item.speaking', body: { users: [{ user: 'carol', level: 60 }] } };
    let state = seat.reduce(seat.initial(), speaking, context);
    assert.deepEqual(state.speakingUsers, { carol: 60 });
    state = seat.reduce(state, { type: 'local.itemsMissed', body: {} }, context);
    assert.deepEqual(state.speakingUsers, {});
    assert.deepEqual(seat.reduce(state, speaking, context).speakingUsers, { carol: 60 });
  });
});
