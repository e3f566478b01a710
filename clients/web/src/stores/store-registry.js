// SPDX-License-Identifier: Apache-2.0
import { storesOf } from './all.js';

/** @typedef {ReturnType<typeof storesOf>} Stores */

/** How many lives have their stores kept although the app may hold none of them. */
export const mostKept = 100;

/**
 * The stores of lives: the same id gives the same stores.
 *
 * Those of the live that the client is in, and of the lives last asked for, are kept. Those of other lives stay for as
 * long as the app holds one of them, so a client that goes from live to live does not fill the memory.
 */
export class StoreRegistry {
  #session;
  /** @type {Map<string, WeakRef<Stores>>} */
  #known = new Map();
  /**
   * The lives last asked for; the last one at the end.
   *
   * @type {Map<string, Stores>}
   */
  #kept = new Map();
  /** @type {FinalizationRegistry<string>} */
  #dropped = new FinalizationRegistry((liveID) => {
    // The live may have been asked for again since.
    if (this.#known.get(liveID)?.deref() === undefined) this.#known.delete(liveID);
  });

  /** @param {import('../live-session.js').LiveSession} session */
  constructor(session) {
    this.#session = session;
  }

  /** How many lives have stores, those of which are not yet collected among them. */
  get size() {
    return this.#known.size;
  }

  /**
   * @param {string} liveID
   * @returns {Stores}
   */
  stores(liveID) {
    const stores = this.#known.get(liveID)?.deref() ?? this.#make(liveID);
    this.#kept.delete(liveID);
    this.#kept.set(liveID, stores);
    if (this.#kept.size > mostKept) {
      const oldest = [...this.#kept.keys()].find((other) => other !== this.#session.liveID);
      this.#kept.delete(/** @type {string} */ (oldest));
    }
    return stores;
  }

  /** @param {string} liveID */
  #make(liveID) {
    const stores = storesOf(liveID, this.#session);
    this.#known.set(liveID, new WeakRef(stores));
    this.#dropped.register(stores, liveID);
    return stores;
  }
}
