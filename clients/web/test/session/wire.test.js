// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observedSocket, Wire } from '../../pages/session/observed-socket.js';

/** A `Wire`, and its reports about tips. */
function make() {
  const wire = new Wire();
  const told = [];
  wire.onTips = (isDegraded) => told.push(isDegraded);
  let n = 0;
  const reply = (result) => wire.received(JSON.stringify({ reply: { id: 1, result } }));
  const tips = (isDegraded) => {
    n += 1;
    wire.received(JSON.stringify({ feed: { live: 'a', epoch: 1, token: `1.${n}.9`, items: [{ n, at: 1, content: { tips: { isDegraded } } }] } }));
  };
  return { wire, told, reply, tips };
}

test('who asks later finds out that tips are left out, although repeats are not told again', () => {
  const { wire, told, reply, tips } = make();
  reply({ joined: { ticket: 1, epoch: 1, confirmed: true, token: '1.0.0' } });
  assert.equal(wire.isDegraded, false);
  tips(true);
  tips(true);
  assert.deepEqual(told, [true]);
  assert.equal(wire.isDegraded, true);
  tips(false);
  assert.deepEqual(told, [true, false]);
  assert.equal(wire.isDegraded, false);
});

test('another live, and a resume that leaves something out, begin anew', () => {
  const { wire, told, reply, tips } = make();
  tips(true);
  reply({ resumed: { replayed: true, position: { epoch: 1, number: 1 }, ticket: 2 } });
  assert.equal(wire.isDegraded, true);
  reply({ resumed: { replayed: false, position: { epoch: 1, number: 1 }, ticket: 3 } });
  assert.equal(wire.isDegraded, false);
  tips(true);
  reply({ joined: { ticket: 4, epoch: 1, confirmed: true, token: '1.0.0' } });
  assert.equal(wire.isDegraded, false);
  assert.deepEqual(told, [true, true]);
});

test('at another address the gateway is not known until it names itself', () => {
  const { wire, reply } = make();
  const Socket = observedSocket(EventTarget, wire);
  new Socket('ws://one/');
  reply({ loggedIn: { gateway: 'gateway-1', session: 's' } });
  new Socket('ws://one/');
  reply({ resumed: { replayed: true, position: { epoch: 1, number: 1 }, ticket: 2 } });
  assert.equal(wire.gateway, 'gateway-1');
  new Socket('ws://two/');
  reply({ resumed: { replayed: true, position: { epoch: 1, number: 1 }, ticket: 3 } });
  assert.equal(wire.gateway, '');
  assert.equal(wire.address, 'ws://two/');
});
