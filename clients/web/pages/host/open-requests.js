// SPDX-License-Identifier: Apache-2.0
import { Disposer } from '../lib/dom.js';

/**
 * An open request between this live and another one.
 *
 * @typedef {object} OpenRequest
 * @property {'coHost' | 'battle'} kind
 * @property {boolean} isIncoming whether the other live has sent the request
 * @property {{ liveID: string, userID: string, userName: string, avatarURL: string }} host the owner of the other live
 * @property {string} [battleID]
 * @property {number} expiresAt seconds since 1970 by the server's clock
 */

/** The key that distinguishes open requests. @param {Omit<OpenRequest, 'expiresAt'>} request */
export const keyOf = ({ kind, isIncoming, battleID, host }) => [kind, isIncoming ? 'from' : 'to', battleID ?? '', host.liveID].join(' ');

/** Makes a request from an item of the protocol's list. */
function requestOf(kind, isIncoming, { inviter, invitee, battle, expiresAt }) {
  const other = isIncoming ? inviter : invitee;
  return { kind, isIncoming, host: { ...other.host, liveID: other.live }, battleID: battle,
    expiresAt: expiresAt / 1000 };
}

/**
 * The open requests between a live and others, for its owner. The stores publish each incoming request once, perhaps
 * before this object subscribes. They do not publish all ends, nor outgoing requests of before a reload. So `read` asks
 * the server for the open requests, and events update them afterwards.
 */
export class OpenRequests extends Disposer {
  /** @type {Map<string, OpenRequest>} in the order of arrival */
  byKey = new Map();
  onChange = () => {};
  #plaza;
  #liveID;
  #reading;
  /** The keys of the requests that have arrived or ended since the last read began. @type {Set<string>} */
  #changed = new Set();

  constructor(plaza, liveID) {
    super();
    this.#plaza = plaza;
    this.#liveID = liveID;
    const { coHost, battle } = plaza.live(liveID);
    const hear = (store, types, action) => types.forEach((type) => this.listen(store, type, ({ detail }) => action(detail)));
    for (const [kind, store, name] of [['coHost', coHost, 'onCoHostRequest'], ['battle', battle, 'onBattleRequest']]) {
      hear(store, [`${name}Received`], ({ inviter, battleID, expiresAt }) => this.put({ kind, isIncoming: true, host: inviter, battleID, expiresAt }));
      // Outgoing requests end with the same events as incoming ones.
      hear(store, [`${name}Cancelled`, `${name}Timeout`], ({ inviter, invitee, battleID }) => {
        const isIncoming = inviter.liveID !== liveID;
        this.end({ kind, isIncoming, host: isIncoming ? inviter : invitee, battleID });
      });
      hear(store, ['Accept', 'Accepted', 'Reject', 'Rejected'].map((end) => name + end), ({ invitee, battleID }) => this.end({ kind, isIncoming: false, host: invitee, battleID }));
    }
    // Another device of the owner may have accepted the request.
    hear(coHost, ['onCoHostUserJoined'], ({ userInfo }) => [true, false].forEach((isIncoming) => this.end({ kind: 'coHost', isIncoming, host: userInfo })));
    hear(battle, ['onBattleStarted', 'onBattleNotStarted'], ({ battleID, battleInfo }) => this.#endAll((request) => request.battleID === (battleID ?? battleInfo.battleID)));
  }

  /** @param {OpenRequest} request */
  put(request) {
    const key = keyOf(request);
    this.#changed.add(key);
    this.byKey.set(key, request);
    this.onChange();
  }

  /** @param {Omit<OpenRequest, 'expiresAt'>} request it may be open or not */
  end(request) {
    const key = keyOf(request);
    this.#changed.add(key);
    if (this.byKey.delete(key)) this.onChange();
  }

  /** Removes the requests that have expired, at the same time as the server. */
  expire() {
    this.#endAll(({ expiresAt }) => expiresAt * 1000 <= this.#plaza.serverTime);
  }

  /** Reads the open requests. Throws if the server does not answer; the known requests stay. */
  read() {
    this.#reading ??= this.#read().finally(() => { this.#reading = undefined; });
    return this.#reading;
  }

  async #read() {
    this.#changed.clear();
    const live = this.#liveID;
    const [coHost, battle] = await Promise.all([this.#plaza.call('cohost.requests', { live }, live), this.#plaza.call('battle.requests', { live }, live)]);
    const open = [['coHost', coHost], ['battle', battle]].flatMap(([kind, { sent, received }]) => [
      ...received.map((request) => [kind, true, request]), ...sent.map((request) => [kind, false, request]),
    ]);
    const read = open.filter(([, , { hasAccepted }]) => !hasAccepted).map((request) => requestOf(...request));
    const isOpen = new Set(read.map(keyOf));
    // Requests that have arrived or ended since the read began may be newer than its answer.
    this.#endAll((request) => !isOpen.has(keyOf(request)) && !this.#changed.has(keyOf(request)));
    for (const request of read) if (!this.#changed.has(keyOf(request))) this.byKey.set(keyOf(request), request);
    this.onChange();
  }

  #endAll(hasEnded) {
    for (const request of [...this.byKey.values()]) if (hasEnded(request)) this.end(request);
  }
}
