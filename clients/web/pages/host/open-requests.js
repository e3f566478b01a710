// SPDX-License-Identifier: Apache-2.0
import { Disposer } from '../lib/dom.js';

/**
 * A request between the live and another one that has no answer yet.
 *
 * @typedef {object} OpenRequest
 * @property {'coHost' | 'battle'} kind
 * @property {boolean} isIncoming whether the other live asks, or is asked
 * @property {{ liveID: string, userID: string, userName: string, avatarURL: string }} host the owner of the other live
 * @property {string} [battleID]
 * @property {number} expiresAt seconds since 1970 by the server's clock
 */

/** What tells a request apart from all others that are open. @param {Omit<OpenRequest, 'expiresAt'>} request */
export const keyOf = ({ kind, isIncoming, battleID, host }) => [kind, isIncoming ? 'from' : 'to', battleID ?? '', host.liveID].join(' ');

/** A request as a read of the protocol gives it. */
function requestOf(kind, isIncoming, { inviter, invitee, battle, expiresAt }) {
  const other = isIncoming ? inviter : invitee;
  return { kind, isIncoming, host: { ...other.host, liveID: other.live }, battleID: battle,
    expiresAt: expiresAt / 1000 };
}

/**
 * The open requests between a live and others, for its owner. The stores tell each request of others once, perhaps
 * before somebody listens here. They tell neither all ends nor the own requests of before a reload. So `read` asks the
 * server for what is open, and the events tell what changes afterwards.
 */
export class OpenRequests extends Disposer {
  /** @type {Map<string, OpenRequest>} in the order in which they became known */
  byKey = new Map();
  onChange = () => {};
  #plaza;
  #liveID;
  #reading;
  /** The keys of the requests that have come or ended since the server was asked last. @type {Set<string>} */
  #changed = new Set();

  constructor(plaza, liveID) {
    super();
    this.#plaza = plaza;
    this.#liveID = liveID;
    const { coHost, battle } = plaza.live(liveID);
    const hear = (store, types, action) => types.forEach((type) => this.listen(store, type, ({ detail }) => action(detail)));
    for (const [kind, store, name] of [['coHost', coHost, 'onCoHostRequest'], ['battle', battle, 'onBattleRequest']]) {
      hear(store, [`${name}Received`], ({ inviter, battleID, expiresAt }) => this.put({ kind, isIncoming: true, host: inviter, battleID, expiresAt }));
      // The live's own requests end with the same events.
      hear(store, [`${name}Cancelled`, `${name}Timeout`], ({ inviter, invitee, battleID }) => {
        const isIncoming = inviter.liveID !== liveID;
        this.end({ kind, isIncoming, host: isIncoming ? inviter : invitee, battleID });
      });
      hear(store, ['Accept', 'Accepted', 'Reject', 'Rejected'].map((end) => name + end), ({ invitee, battleID }) => this.end({ kind, isIncoming: false, host: invitee, battleID }));
    }
    // Another device of the owner may have accepted.
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

  /** @param {Omit<OpenRequest, 'expiresAt'>} request that may be open */
  end(request) {
    const key = keyOf(request);
    this.#changed.add(key);
    if (this.byKey.delete(key)) this.onChange();
  }

  /** Ends the requests whose time is over, as the server does at the same time. */
  expire() {
    this.#endAll(({ expiresAt }) => expiresAt * 1000 <= this.#plaza.serverTime);
  }

  /** Reads what is open. Fails if the server does not say it; then what is known stays. */
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
    // What has come or ended meanwhile may be later than the answer.
    this.#endAll((request) => !isOpen.has(keyOf(request)) && !this.#changed.has(keyOf(request)));
    for (const request of read) if (!this.#changed.has(keyOf(request))) this.byKey.set(keyOf(request), request);
    this.onChange();
  }

  #endAll(hasEnded) {
    for (const request of [...this.byKey.values()]) if (hasEnded(request)) this.end(request);
  }
}
