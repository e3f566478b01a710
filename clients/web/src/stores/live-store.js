// SPDX-License-Identifier: Apache-2.0
import { plazaError } from '../core/errors.js';
import { isOutcomeUnknown } from '../core/reply-policy.js';
import { leftMeanwhile } from '../refresher.js';
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
   * Calls a method that changes open requests of one kind, and shows the changes. If it is not known whether the server
   * has applied the call, the open requests are read instead.
   *
   * @protected
   * @param {string} method
   * @param {object} params
   * @param {{ type: string, body: object, snapshot: string }[]} changes the changes, and the snapshot that shows them
   */
  async callAndChange(method, params, ...changes) {
    try {
      await this.call(method, params);
    } catch (error) {
      if (changes.length > 0) {
        this.session.readIfUnknown(this.liveID, changes[0].snapshot, error);
        // The request may have been answered by another host or by another device of this user.
        this.session.readIfGone(this.liveID, changes[0].snapshot, error);
      }
      throw error;
    }
    for (const { type, body } of changes) this.session.local(this.liveID, type, body);
  }

  /**
   * Makes a call that opens requests, and remembers after its end which of them are open. If it is not known whether
   * the server has applied the call, they may be, and the open requests are read.
   *
   * @protected
   * @template Result
   * @param {string} snapshot the snapshot that has such requests
   * @param {string[]} names the requests that the call may open; none if they are not known before its reply
   * @param {() => Promise<{ result: Result, opened: string[] }>} request makes the call; `opened` are the requests that
   * wait
   * @returns {Promise<Result>}
   */
  async request(snapshot, names, request) {
    const { session, liveID } = this;
    const former = session.stay;
    session.local(liveID, 'local.requestsSending', { names });
    const sent = (/** @type {string[]} */ opened) => {
      if (former === undefined || former === session.stay) session.local(liveID, 'local.requestsSent', { names, opened });
    };
    try {
      const { result, opened } = await request();
      sent(opened);
      session.readLackedRequests();
      return result;
    } catch (error) {
      const isUnknown = isOutcomeUnknown(error);
      sent(isUnknown ? names : []);
      if (isUnknown) session.readIfUnknown(liveID, snapshot, error);
      else session.readLackedRequests();
      throw error;
    }
  }

  /**
   * Reads a list at the app's request, and shows it in the live.
   *
   * @protected
   * @param {string} name
   * @param {() => Promise<import('../core/read.js').JSONObject>} read
   * @throws {import('../core/errors.js').PlazaError} `notInRoom` if the client is not in the live, or has left it since
   * the
   *   read began
   */
  async showList(name, read) {
    const { session, liveID } = this;
    const former = session.stay;
    const hasLeft = () => former !== undefined && former !== session.stay;
    const body = await read().catch((error) => {
      throw hasLeft() ? leftMeanwhile() : error;
    });
    // It is not checked before the read whether the client is in the live, because a join that the app has begun may be
    // complete by now.
    if (hasLeft()) throw leftMeanwhile();
    if (!session.snapshot(liveID, name, body)) throw plazaError('notInRoom', 'join the live before you read its lists');
  }

  /**
   * Calls a method that seats the user at once, or becomes an application.
   *
   * @protected
   * @param {string} method
   * @param {object} params
   * @returns {Promise<number | undefined>} the seat; undefined while an application waits
   */
  apply(method, params) {
    const names = ['ownApplication'];
    return this.request('seatRequests', names, async () => {
      const { index } = await this.call(method, params);
      return typeof index === 'number' ? { result: index, opened: [] } : { result: undefined, opened: names };
    });
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
