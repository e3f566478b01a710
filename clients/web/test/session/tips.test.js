// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';

makePage();
const { ChatPanel } = await import('../../pages/live/chat-panel.js');
const { Session } = await import('../../pages/session/session.js');

/** A session that has joined a live, and the chat that is shown afterwards. */
function make() {
  const session = new Session({ gateways: [], demoTokens: false }, class {});
  let n = 0;
  const tips = (isDegraded) => {
    n += 1;
    session.wire.received(JSON.stringify({ feed: { live: 'a', epoch: 1, token: `1.${n}.9`, items: [{ n, at: 1, content: { tips: { isDegraded } } }] } }));
  };
  session.wire.received(JSON.stringify({ reply: { id: 1, result: { joined: { ticket: 1, epoch: 1, confirmed: true, token: '1.0.0' } } } }));
  const show = () => new ChatPanel({ shell: { session }, stores: session.plaza.live('a'), list: session.plaza.liveListStore, liveID: 'a' });
  /** The notes of a chat, when there are `count` of them. New rows are drawn together, after a pause. */
  const notes = async (panel, count) => {
    const end = Date.now() + 2000;
    do await settle(); while (panel.chat.messages.length < count && Date.now() < end);
    return panel.chat.messages.filter(({ kind }) => kind === 'note').map(({ key }) => key);
  };
  return { tips, show, notes };
}

test('tips that are left out before the chat is there are told once it is', async () => {
  const { tips, show, notes } = make();
  tips(true);
  const panel = show();
  assert.deepEqual(await notes(panel, 1), ['chat.degraded']);
  tips(true);
  tips(false);
  assert.deepEqual(await notes(panel, 2), ['chat.degraded', 'chat.complete']);
  panel.dispose();
});

test('a live whose tips are complete tells nothing of them', async () => {
  const { tips, show, notes } = make();
  tips(true);
  tips(false);
  const panel = show();
  assert.deepEqual(await notes(panel, 0), []);
  panel.dispose();
});
