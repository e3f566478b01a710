// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MuteWalk, mutesPerPage } from '../../src/core/mute-walk.js';

const usersOf = (count) => Array.from({ length: count }, (_, index) => `user-${index + 1000}`);

/** Walks through the pages of a list, which `change` changes after each page. */
function walkThrough(list, maxCount, change = () => {}) {
  const walk = new MuteWalk(maxCount);
  const users = [...list];
  let pages = 0;
  while (walk.offset !== undefined) {
    const items = users.slice(walk.offset, walk.offset + mutesPerPage).map((user) => ({ user }));
    const end = walk.offset + items.length;
    walk.received({ items, nextOffset: end < users.length ? end : 0 });
    pages += 1;
    change(pages, users);
  }
  return { users: walk.page.items.map(({ user }) => user), pages };
}

describe('a walk through the mutes', () => {
  it('reads a list that does not change once, up to the maximum', () => {
    for (const count of [0, 1, 99, 100, 101, 199, 250, 1000, 1500]) {
      const { users, pages } = walkThrough(usersOf(count), 1000);
      assert.deepEqual(users, usersOf(count).slice(0, 1000), `${count}`);
      assert.ok(pages <= count / 99 + 1, `${count}: ${pages} pages`);
    }
    assert.equal(walkThrough(usersOf(250), mutesPerPage).pages, 1);
  });

  it('misses no mute when others end meanwhile', () => {
    for (const ended of [1, 2, 9, 10, 50, 100]) {
      const { users } = walkThrough(usersOf(350), 1000, (page, list) => {
        if (page === 1) list.splice(0, ended);
      });
      for (const user of usersOf(350).slice(ended)) assert.ok(users.includes(user), `${ended}: ${user}`);
      assert.deepEqual(users, [...new Set(users)].sort());
    }
  });

  it('lists no mute twice when others begin meanwhile', () => {
    const { users } = walkThrough(usersOf(250), 1000, (page, list) => {
      if (page === 1) list.unshift('a', 'b', 'c');
    });
    assert.deepEqual(users, usersOf(250));
  });

  it('ends although the list changes all the time', () => {
    assert.ok(walkThrough(usersOf(3000), 1000, (_, list) => list.splice(0, 100)).pages <= 25);
  });
});
