// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { Session } from '../../pages/session/session.js';
import { StoreEvent } from '../../src/index.js';
import { Store } from '../../src/stores/store.js';

/** The owner of a live, as the stores show it. */
export const host = (liveID) => ({ userID: `host of ${liveID}`, userName: `Host of ${liveID}`, avatarURL: '', liveID });

const noConnection = { candidates: [], candidatesCursor: '', invitees: [], connected: [], mutedLives: [],
  coHostStatus: 'disconnected' };

const member = (live) => ({ live, host: { userID: `host of ${live}`, userName: `Host of ${live}`, avatarURL: '' } });
/** A request of one live to another, as a read returns it; it expires after `seconds`. */
export const openRequest = (from, to, expiresAt, more = {}) => ({ inviter: member(from), invitee: member(to), expiresAt: expiresAt * 1000, extensionInfo: '', ...more });

/**
 * The session and the page of the owner of the live `concert`, the messages over the page, and the server's answers to
 * reads of open requests.
 */
export function owner() {
  const stores = { coHost: new Store(noConnection), battle: new Store({ battleUsers: [] }) };
  const tell = (store, type, detail) => stores[store].dispatchEvent(new StoreEvent(type, detail));
  const session = new Session({ gateways: [], demoTokens: false }, class {});
  const state = { currentLive: { liveID: '' } };
  const enter = async ({ liveID }) => {
    state.currentLive = { liveID };
    return state.currentLive;
  };
  /** The answer by the method of the read; an error makes the read fail. */
  const open = { 'cohost.requests': { sent: [], received: [] }, 'battle.requests': { sent: [], received: [] } };
  const call = async (method) => {
    if (open[method] instanceof Error) throw open[method];
    return open[method];
  };
  session.plaza = {
    serverTime: 0, live: () => stores, loginStore: { state: { loginUserInfo: null } }, call,
    liveListStore: { state, joinLive: enter, createLive: enter },
  };
  const shown = new Set();
  const say = (text, options) => {
    const message = { text, ...options };
    shown.add(message);
    return () => {
      if (shown.delete(message)) options?.gone?.();
    };
  };
  const failed = [];
  const page = { liveID: 'concert', role: 'owner', stores,
    shell: { session, say, fail: (error) => failed.push(error) } };
  const texts = () => {
    assert.deepEqual(failed, []);
    return [...shown].map(({ text }) => text);
  };
  return { session, stores, tell, page, open, failed, texts, shown };
}
