// SPDX-License-Identifier: Apache-2.0
// Checks that the JavaScript stores have the members of the Swift stores, which docs/api/LivePlazaKit.txt lists.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import * as sdk from '../../src/index.js';

const types = readFileSync(new URL('../../src/index.d.ts', import.meta.url), 'utf8');
const swift = readFileSync(new URL('../../../../docs/api/LivePlazaKit.txt', import.meta.url), 'utf8');

/** The names of the members of one kind that a Swift type has. */
function members(type, kind) {
  const lines = swift.matchAll(new RegExp(`^${type}: (?:static )?${kind} (\\w+)`, 'gm'));
  return [...new Set([...lines].map(([, name]) => name))];
}

const stores = Object.keys(sdk).filter((name) => name.endsWith('Store'));
/** The names of the Swift types of each store's events. */
const events = {
  LoginStore: ['LoginEvent'], LiveListStore: ['LiveListEvent'], LiveAudienceStore: ['LiveAudienceEvent'],
  LiveSeatStore: ['LiveSeatEvent'],
  CoGuestStore: ['HostEvent', 'GuestEvent'], CoHostStore: ['CoHostEvent'], BattleStore: ['BattleEvent'],
  GiftStore: ['GiftEvent'], LikeStore: ['LikeEvent'],
};

/** The body of an interface of index.d.ts. */
const declared = (name) => new RegExp(`export interface ${name} (?:extends \\w+ )?\\{\\n([\\s\\S]*?)\\n\\}`).exec(types)?.[1] ?? '';

describe('the Swift SDK', () => {
  it('has no method of a store that is not here', () => {
    assert.equal(stores.length, 11);
    let count = 0;
    for (const store of stores) {
      for (const name of members(store, 'func')) {
        count += 1;
        assert.ok(name === 'create' ? name in sdk[store] : name in sdk[store].prototype, `${store}.${name}`);
      }
    }
    assert.ok(count > 60, `only ${count} methods were found`);
  });

  it('has no field of a state that is not here', () => {
    for (const store of stores) {
      const fields = members(store.replace(/Store$/, 'State'), 'var');
      assert.ok(fields.length > 0, store);
      for (const field of fields) assert.match(declared(store.replace(/Store$/, 'State')), new RegExp(`readonly ${field}: `), `${store}: ${field}`);
    }
  });

  it('has no event that is not here', () => {
    for (const [store, names] of Object.entries(events)) {
      const body = declared(store.replace(/Store$/, 'Events'));
      for (const event of names.flatMap((name) => members(name, 'case'))) assert.match(body, new RegExp(`^ {2}${event}: `, 'm'), `${store}: ${event}`);
    }
  });

  it('has no bit of an update that is not here', () => {
    const names = [...swift.matchAll(/^LiveInfo\.ModifyFlag: static let (\w+)/gm)].map(([, name]) => name);
    assert.ok(names.length > 8);
    for (const name of names) assert.ok(name in sdk.ModifyFlag, name);
  });
});
