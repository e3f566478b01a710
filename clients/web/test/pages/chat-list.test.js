// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { FakeElement, makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
const { ChatList } = await import('../../pages/chat/chat-list.js');
await showLanguage();

/** The height of each row and of the visible part of the list, in pixels. */
const [rowHeight, viewHeight] = [20, 400];
/** A little more than the pause between two drawings, in milliseconds. */
const drawing = 220;

/** A list on a fake page with a simple layout: a hidden element has no height and the scroll position 0. */
function make() {
  const page = { isShown: true };
  document.createElement = (tag) => {
    let scrollTop = 0;
    return Object.defineProperties(new FakeElement(tag), {
      offsetHeight: { get: () => (page.isShown ? rowHeight : 0) },
      clientHeight: { get: () => (page.isShown ? viewHeight : 0) },
      scrollTop: { get: () => (page.isShown ? scrollTop : 0), set: (value) => { scrollTop = value; } },
    });
  };
  let told;
  globalThis.ResizeObserver = class {
    constructor(listener) {
      told = () => listener([{ contentRect: { height: page.isShown ? viewHeight : 0 } }]);
    }
    observe() {}
    disconnect() {}
  };
  const chat = new ChatList();
  told();
  let n = 0;
  return {
    chat,
    /** Adds messages, and lets the list draw them. */
    add: async (count) => {
      chat.add(...Array.from({ length: count }, () => ({ kind: 'text', user: { userID: 'u' }, text: `message ${(n += 1)}` })));
      await wait(drawing);
    },
    show: async (isShown) => {
      page.isShown = isShown;
      // A browser reports the scrolling after the drawing of the frame.
      await wait(drawing);
      told();
      await wait(drawing);
    },
    scroll: async (scrollTop) => {
      chat.view.scrollTop = scrollTop;
      chat.view.dispatchEvent(new Event('scroll'));
      await wait(drawing);
    },
  };
}

test('a list that is not shown keeps its messages, and makes no elements of them', async () => {
  const { chat, add, show } = make();
  await add(100);
  const seen = chat.list.childElementCount;
  assert.ok(seen < 60, `${seen}`);
  await show(false);
  // As many messages for each drawing as 40 messages a second give.
  for (let round = 0; round < 15; round += 1) await add(8);
  assert.equal(chat.messages.length, 220);
  assert.ok(chat.list.childElementCount < 60, `${chat.list.childElementCount} rows of a hidden list are elements`);
  await show(true);
  assert.ok(chat.list.childElementCount < 60, `${chat.list.childElementCount}`);
  assert.ok(chat.list.textContent.includes('message 220'));
  chat.dispose();
});

test('who reads further up is at the same place when the list is shown again, also when rows have fallen out', async () => {
  const { chat, add, show, scroll } = make();
  for (let round = 0; round < 4; round += 1) await add(200);
  await scroll(400 * rowHeight);
  const places = () => chat.list.children.map((row) => [row.textContent, parseFloat(/translateY\((.*)px\)/.exec(row.style.transform)[1]) - chat.view.scrollTop]);
  const [text, before] = places().find(([, y]) => y >= 0);
  const after = () => places().find((row) => row[0] === text)?.[1];
  await show(false);
  await add(100);
  await show(true);
  assert.ok(Math.abs(after() - before) <= 1, `${text} ${after()} ${before}`);
  await show(false);
  for (let round = 0; round < 2; round += 1) await add(100);
  await show(true);
  assert.equal(chat.messages.length, 1000);
  assert.ok(Math.abs(after() - before) <= 1, `${text} ${after()} ${before}`);
  assert.equal(chat.more.textContent, '300 new messages');
  chat.dispose();
});

test('a fast chat is read out two messages at a time, with pauses', async () => {
  const { chat, add } = make();
  const said = () => chat.announcer.textContent;
  await add(40);
  assert.ok(said().endsWith('message 39u message 40'), said());
  for (let round = 0; round < 5; round += 1) await add(40);
  assert.ok(said().endsWith('message 40'), said());
  await wait(2500);
  assert.ok(said().endsWith('message 240') && chat.announcer.childElementCount === 4, said());
  chat.dispose();
});
