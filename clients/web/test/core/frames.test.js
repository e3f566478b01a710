// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ClientCore } from '../../src/core/client-core.js';
import { PlazaError, ReplyCode, replyName } from '../../src/core/errors.js';
import { maxFrameLength, parseFrame, tokenPosition } from '../../src/core/frames.js';
import { LiveFold } from '../../src/core/live-fold.js';

const root = new URL('../../../../', import.meta.url);
const golden = JSON.parse(readFileSync(new URL('Tests/Model/PlazaWire/Golden/server-frames.json', root), 'utf8'));
const protocol = readFileSync(new URL('docs/PROTOCOL.md', root), 'utf8');

describe('frames', () => {
  it('are all read as the server writes them', () => {
    for (const [name, frame] of Object.entries(golden)) {
      // The sample of a feed frame has another token.
      if (name === 'feed') frame.feed.token = `77.${frame.feed.items.at(-1).n}`;
      const parsed = parseFrame(JSON.stringify(frame));
      assert.equal(parsed.kind, Object.keys(frame)[0], name);
    }
  });

  it('and all their items and notices change the states without an error', () => {
    const fold = new LiveFold('concert', 'alice');
    const details = golden['reply-room'].reply.result.room.details;
    assert.equal(fold.snapshotRead('details', details).error, undefined);
    for (const frame of Object.values(golden)) {
      const parsed = parseFrame(JSON.stringify(frame));
      if (parsed.kind === 'feed') {
        for (const item of parsed.items) {
          assert.equal(fold.apply({ type: `item.${item.kind}`, body: item.body, n: item.n, at: item.at }).error, undefined, item.kind);
        }
      } else if (parsed.kind === 'notice') {
        const { events, error } = fold.apply({ type: `notice.${parsed.name}`, body: parsed.body, at: parsed.at });
        assert.equal(error, undefined, parsed.name);
        const isSilent = parsed.name === 'applicationTimedOut' || parsed.name === 'kickedOut';
        assert.equal(events.length, isSilent ? 0 : 1, parsed.name);
      }
    }
  });

  it('of another form give a typed error, whatever is changed in them', () => {
    let tried = 0;
    const values = [null, 5, -1, 1.5, 1e300, 'x', true, [], {}, [null], [{}], { a: 1 }];
    const fold = new LiveFold('concert', 'alice');
    const variants = (value, build) => {
      for (const other of values) build(other);
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        variants(inner, (other) => build(Array.isArray(value) ? value.map((entry, index) => (String(index) === key ? other : entry)) : { ...value, [key]: other }));
      }
    };
    for (const name of ['feed', 'feed-history', 'counts', 'drain', 'error-retry', 'reply-loggedIn', 'notice-coHostRequestReceived', 'notice-kickedOut']) {
      variants(golden[name], (frame) => {
        tried += 1;
        try {
          const parsed = parseFrame(JSON.stringify(frame));
          if (parsed.kind === 'feed') for (const item of parsed.items) fold.apply({ type: `item.${item.kind}`, body: item.body, n: item.n, at: item.at });
          if (parsed.kind === 'notice') fold.apply({ type: `notice.${parsed.name}`, body: parsed.body });
          const core = new ClientCore({ session: 's', random: () => 0.5, hasTokenProvider: false });
          core.start({ text: 't', left: 1000 }, 0);
          core.opened(0);
          core.received(parsed, 0);
        } catch (error) {
          assert.ok(error instanceof PlazaError, `${JSON.stringify(frame)}: ${error.stack}`);
        }
      });
    }
    assert.ok(tried > 2000, `${tried}`);
  });

  it('that are too long are rejected before they are parsed', () => {
    assert.throws(() => parseFrame(`"${'x'.repeat(maxFrameLength)}"`), { codeName: 'badFrame' });
  });

  it('have tokens of two or three numbers', () => {
    assert.deepEqual(tokenPosition('77.12'), { epoch: 77, number: 12 });
    assert.deepEqual(tokenPosition('77.12.90817'), { epoch: 77, number: 12 });
    for (const bad of ['', '77', '77.', '.1', '-1.2', '77.12.', '77.12.x', '77.12.1.1', '1e3.2', '99999999999999999.1']) {
      assert.equal(tokenPosition(bad), undefined, bad);
    }
  });
});

describe('reply codes', () => {
  it('are those of the protocol, by name', () => {
    const table = protocol.split('## 13. Reply codes')[1].split('## 14')[0];
    const rows = [...table.matchAll(/^\| (-?\d+) \| `(\w+)` \|/gm)].map(([, code, name]) => [name, Number(code)]);
    assert.ok(rows.length > 70);
    assert.deepEqual(Object.entries(ReplyCode).sort(), rows.sort());
    for (const [name, code] of rows) assert.equal(replyName(code), name);
    assert.equal(replyName(102123), 'error102123');
  });
});
