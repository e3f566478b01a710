// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LivePlaza } from '../../src/index.js';
import { FakeClock, settle } from '../support/fake-clock.js';
import { FakeNetwork } from '../support/fake-network.js';

const user = (userID) => ({ userID, userName: userID, avatarURL: '' });
const info = { liveID: 'concert', liveName: 'Concert', liveOwner: user('alice'), isMessageDisable: false };

/** A viewer in the live `concert`. */
async function viewer() {
  const network = new FakeNetwork();
  const plaza = new LivePlaza({
    url: 'ws://g/v1', session: 's', token: 't', WebSocket: network.WebSocket, clock: new FakeClock(), random: () => 0.5,
    page: {},
  });
  const answer = (method, kind, body) => {
    const { id } = network.socket.sent.find((frame) => frame.method === method);
    network.socket.reply(id, kind, body);
    return settle();
  };
  const login = plaza.loginStore.login();
  await settle();
  network.socket.open();
  await answer('login', 'loggedIn', { notices: '1-1', user: user('carol') });
  await login;
  const join = plaza.liveListStore.joinLive({ liveID: 'concert' });
  await settle();
  await answer('live.join', 'joined', { ticket: 421, epoch: 77, confirmed: true, token: '77.0.1' });
  const audience = { live: 'concert', count: 1, totalViewers: 1, stale: false, at: 1 };
  await answer('live.get', 'room', { details: { audience, epoch: 77, info } });
  await join;
  const receive = (...contents) => network.socket.receive({
    feed: { live: 'concert', epoch: 77, token: `77.${contents.length}`,
      items: contents.map((content, at) => ({ n: at + 1, at: 1, content })) },
  });
  return { plaza, receive, ...plaza.live('concert') };
}

describe('a subscriber of one store', () => {
  it('finds in the other stores what the same frame has changed, whichever store is told first', async () => {
    const { plaza, receive, audience, barrage } = await viewer();
    const log = [];
    const seen = (name) => () => log.push([
      name, plaza.liveListStore.state.currentLive.isMessageDisable, barrage.state.messageList.length,
      audience.state.messageBannedUserList.length,
    ]);
    const stores = { list: plaza.liveListStore, audience, barrage };
    for (const [name, store] of Object.entries(stores)) store.subscribe(seen(name));
    log.length = 0;
    receive(
      { text: { sender: user('bob'), text: 'a' } }, { messageDisabled: { isDisable: true, user: user('bob') } },
      { infoChanged: { info: { ...info, isMessageDisable: true } } }, { text: { sender: user('bob'), text: 'b' } });
    assert.deepEqual(log.sort(), [['audience', true, 2, 1], ['barrage', true, 2, 1], ['list', true, 2, 1]]);
  });
});
