// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Session } from '../../pages/session/session.js';

/** A session over a fake list of lives, which replies when the test says so. */
function slowSession() {
  const session = new Session({ gateways: [], demoTokens: false }, class {});
  const said = [];
  const answers = [];
  const state = { currentLive: { liveID: '' } };
  const call = (what, then) => {
    said.push(what);
    return new Promise((resolve, reject) => answers.push({ resolve: () => resolve(then()), reject }));
  };
  const enter = (liveID) => () => (state.currentLive = { liveID });
  session.plaza = { liveListStore: {
    state,
    joinLive: ({ liveID }) => call(`join ${liveID}`, enter(liveID)),
    createLive: ({ liveID }) => call(`create ${liveID}`, enter(liveID)),
    leaveLive: () => call('leave', enter('')),
  } };
  const answer = async (isOK = true) => {
    await new Promise((resolve) => setImmediate(resolve));
    const next = answers.shift();
    if (isOK) next.resolve();
    else next.reject(new Error('refused'));
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { session, said, answer };
}

test('who goes on while a live is being entered does not stay in it', async () => {
  const { session, said, answer } = slowSession();
  const first = session.enter('a');
  const left = session.leave();
  const second = session.enter('b');
  await answer();
  await first;
  assert.deepEqual(said, ['join a', 'leave']);
  await answer();
  await left;
  await answer();
  assert.equal((await second).liveID, 'b');
  assert.deepEqual(said, ['join a', 'leave', 'join b']);
});

test('a live that cannot be entered keeps nobody from the next one, nor from going live', async () => {
  const { session, said, answer } = slowSession();
  const first = session.enter('a');
  const second = session.enter('b');
  await answer(false);
  await assert.rejects(first, /refused/);
  await answer();
  await second;
  const own = session.goLive({ liveID: 'mine' });
  assert.equal(said.at(-1), 'leave', 'nothing waits when nothing is under way: a page that is closed has no time');
  await answer();
  await answer();
  assert.equal((await own).liveID, 'mine');
  await session.enter('mine');
  assert.deepEqual(said, ['join a', 'join b', 'leave', 'create mine']);
});
