// SPDX-License-Identifier: Apache-2.0
import { Store } from './store.js';

/**
 * The default instance, made when it is first asked for.
 *
 * @type {{ get?: () => import('../live-plaza.js').LivePlaza }}
 */
export const defaultPlaza = {};

/**
 * A store of one live.
 *
 * @template State
 * @extends {Store<State>}
 */
export class LiveStore extends Store {
  /** @readonly */
  liveID;
  /** @protected */
  session;

  /**
   * @param {string} liveID
   * @param {import('../live-session.js').LiveSession} session
   * @param {State} initial
   */
  constructor(liveID, session, initial) {
    super(initial);
    this.liveID = liveID;
    this.session = session;
  }

  /**
   * Calls a method about this store's live.
   *
   * @protected
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<import('../core/read.js').JSONObject>}
   */
  call(method, params = {}) {
    return this.session.call(method, { live: this.liveID, ...defined(params) }, this.liveID);
  }

  /**
   * Calls a method that changes an open request, and shows the change. If it is not known whether the server has applied the
   * call, the open requests are read instead.
   *
   * @protected
   * @param {string} method
   * @param {object} params
   * @param {{ type: string, body: object, snapshot: string }} change the change, and the snapshot that shows it
   */
  async callAndChange(method, params, { type, body, snapshot }) {
    try {
      await this.call(method, params);
    } catch (error) {
      this.session.readIfUnknown(this.liveID, snapshot, error);
      throw error;
    }
    this.session.local(this.liveID, type, body);
  }
}

/**
 * @param {string} liveID
 * @param {import('../live-plaza.js').LivePlaza} [plaza]
 */
export function liveStores(liveID, plaza) {
  const instance = plaza ?? defaultPlaza.get?.();
  if (instance === undefined) throw new Error('import the stores from index.js');
  return instance.live(liveID);
}

/**
 * An object without the fields that are undefined or null, which the protocol leaves out.
 *
 * @param {object} params
 * @returns {object}
 */
export function defined(params) {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined && value !== null));
}
