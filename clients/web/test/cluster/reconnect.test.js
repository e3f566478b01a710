// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Cluster, plaza, until } from '../support/cluster.js';

const texts = (stores) => stores.barrage.state.messageList.map((message) => message.textContent);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('lost connections on a real cluster', { skip: plaza ? false : 'PLAZA names no program' }, () => {
  const cluster = new Cluster();
  before(() => cluster.start());
  after(() => cluster.stop());

  it('loses and repeats no message, whoever is cut off', async () => {
    const [alice, bob] = await Promise.all(['alice', 'bob'].map((user) => cluster.client(user)));
    await alice.liveListStore.createLive({ liveID: 'concert' });
    await bob.liveListStore.joinLive({ liveID: 'concert' });
    const [concert, seen] = [alice.live('concert'), bob.live('concert')];
    const sent = [];
    const cuts = (async () => {
      for (let n = 0; n < 12; n += 1) {
        await pause(150);
        (n % 3 === 0 ? alice : bob).cut();
      }
    })();
    for (let n = 0; n < 60; n += 1) {
      sent.push(seen.barrage.sendTextMessage({ text: `m${n}` }));
      await pause(35);
    }
    await Promise.all([...sent, cuts]);
    await until('all have come', () => texts(concert).length >= 60 && texts(seen).length >= 60);
    await pause(300);
    const wanted = Array.from({ length: 60 }, (_, n) => `m${n}`).sort();
    assert.deepEqual([...texts(concert)].sort(), wanted);
    assert.deepEqual(texts(concert), texts(seen));
    assert.deepEqual([...alice.faults, ...bob.faults], []);
    await alice.liveListStore.endLive();
  });

  it('renews its token on the open connection', async () => {
    let asked = 0;
    const later = await cluster.token('dan');
    const tokens = [await cluster.token('dan', { seconds: 20 }), later];
    const dan = await cluster.client('dan', { token: undefined, tokenProvider: () => tokens[Math.min(asked++, 1)] });
    const ended = [];
    dan.loginStore.addEventListener('connectionEnded', (event) => ended.push(event.detail));
    const states = new Set();
    dan.loginStore.select((state) => state.connectionStatus, (status) => states.add(status));
    // Waits until the first token has expired.
    await pause(22_000);
    assert.equal(asked, 2);
    assert.deepEqual([...states], ['connected']);
    assert.deepEqual(ended, []);
    await dan.loginStore.logout();
  });

  it('ends with its token where there is no provider', async () => {
    const eve = await cluster.client('eve', { token: await cluster.token('eve', { seconds: 6 }) });
    let isExpired = false;
    eve.loginStore.addEventListener('loginExpired', () => {
      isExpired = true;
    });
    await until('the login has expired', () => isExpired, 20_000);
    assert.equal(eve.loginStore.state.loginStatus, 'unlogin');
  });

  it('gives the session to a later client of the same name', async () => {
    const first = await cluster.client('fay', { session: 'phone' });
    await first.liveListStore.createLive({ liveID: 'earlier' });
    await first.liveListStore.endLive();
    let isOut = false;
    first.loginStore.addEventListener('kickedOffline', () => {
      isOut = true;
    });
    const second = await cluster.client('fay', { session: 'phone' });
    await until('the first is out', () => isOut);
    assert.equal(second.loginStore.state.connectionStatus, 'connected');
    // Both clients use one session, but their calls have different ids.
    await second.liveListStore.createLive({ liveID: 'fays' });
    assert.equal(second.liveListStore.state.currentLive.liveID, 'fays');
    await second.liveListStore.endLive();
    await second.loginStore.logout();
  });
});
