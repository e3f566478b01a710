// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import * as sdk from '../../src/index.js';

const types = readFileSync(new URL('../../src/index.d.ts', import.meta.url), 'utf8');
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The members of a class of index.d.ts, without those of its superclass. */
function declared(name) {
  const body = new RegExp(`export class ${name}(?:<[^{]*>)?(?: extends [^{]*)? \\{\\n([\\s\\S]*?)\\n\\}`).exec(types);
  assert.ok(body, `${name} is not declared`);
  return [...body[1].matchAll(/^ {2}(?:static )?(?:readonly )?(\w+)[(:<]/gm)].map((match) => match[1]);
}

describe('the types', () => {
  it('declare what the module exports', () => {
    for (const name of Object.keys(sdk)) assert.match(types, new RegExp(`export (class|const) ${name}\\b`), name);
  });

  it('declare the methods of each store, and README.md names them', () => {
    const stores = Object.entries(sdk).filter(([name]) => name.endsWith('Store'));
    assert.equal(stores.length, 11);
    for (const [name, store] of stores) {
      const methods = Object.getOwnPropertyNames(store.prototype).filter((method) => method !== 'constructor');
      // Members that the SDK itself calls.
      const own = methods.filter((method) => !(name === 'LoginStore' && ['received', 'disconnected'].includes(method)));
      const names = declared(name);
      for (const method of own) assert.ok(names.includes(method), `${name}.${method} is not declared`);
      for (const method of names) {
        if (method === 'shared' || method === 'create') assert.ok(method in store, `${name}.${method}`);
        else assert.ok(own.includes(method), `${name}.${method} does not exist`);
        if (method !== 'shared' && method !== 'create') assert.ok(readme.includes(`\`${method}`), `README.md lacks ${name}.${method}`);
      }
    }
  });

  it('declare the fields of each state', () => {
    const plaza = new sdk.LivePlaza();
    const stores = { LoginState: plaza.loginStore, LiveListState: plaza.liveListStore, ...Object.fromEntries(
      Object.values(plaza.live('a')).map((store) => [store.constructor.name.replace('Store', 'State'), store])) };
    for (const [name, { state }] of Object.entries(stores)) {
      const body = new RegExp(`export interface ${name} \\{\\n([\\s\\S]*?)\\n\\}`).exec(types)[1];
      const fields = [...body.matchAll(/^ {2}readonly (\w+):/gm)].map((match) => match[1]);
      assert.deepEqual(Object.keys(state).sort(), fields.sort(), name);
    }
  });
});
