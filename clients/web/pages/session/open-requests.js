// SPDX-License-Identifier: Apache-2.0
import { Disposer } from '../lib/dom.js';

/**
 * What other hosts ask the owner of a live. The stores tell each request once, soon after the entry, and the panel that asks
 * the owner comes later.
 */
export class OpenRequests extends Disposer {
  /** The last event of a request that is open, by kind: `CoHost` or `Battle`. */
  byKind = {};
  /** @type {(kind: string) => void} */
  onChange = () => {};

  constructor({ coHost, battle }) {
    super();
    for (const [kind, store] of [['CoHost', coHost], ['Battle', battle]]) {
      const set = (detail) => {
        this.byKind[kind] = detail;
        this.onChange(kind);
      };
      this.listen(store, `on${kind}RequestReceived`, ({ detail }) => set(detail));
      for (const end of ['Cancelled', 'Timeout']) {
        // The live's own requests end with the same events.
        this.listen(store, `on${kind}Request${end}`, ({ detail }) => detail.inviter.liveID === this.byKind[kind]?.inviter.liveID && set());
      }
    }
  }
}
