// SPDX-License-Identifier: Apache-2.0
import { LivePlaza } from '../../src/index.js';
import { hasText, t } from '../lib/i18n.js';
import { observedSocket, Wire } from './observed-socket.js';

/** An error in words, for people. */
export function words(error) {
  // What a browser says when nothing could be loaded, in its own words.
  const isLost = error instanceof TypeError && /^(Failed to fetch|Load failed|Importing a module|NetworkError|error loading)/.test(error.message);
  const name = isLost ? 'connectionLost' : error?.codeName ?? '';
  if (hasText(`error.${name}`)) return t(`error.${name}`);
  return t('error.other', { code: error?.code ?? String(error?.message ?? error) });
}

/** What ends a session for good, as the name of an error, by the close code (PROTOCOL.md, section 14). */
const endings = {
  1006: 'connectionLost', 4100: 'tokenInvalid', 4101: 'tokenExpired', 4102: 'continuedElsewhere', 4103: 'badFrame',
  4104: 'tooFrequent', 4105: 'signedInElsewhere', 4106: 'tooManyConnections',
};

/** Why a session has ended, in words: where the server only closes the connection, the error is `failed`. */
export function endingWords({ code, error }) {
  return words(endings[code] || error.codeName === 'failed' ? { codeName: endings[code], code } : error);
}

/**
 * What the pages know of the SDK's login: one client for the whole page, which survives changes of the place.
 *
 * The settings come from the server that gave the page (`/pages/settings.json`): the gateways' addresses, and whether
 * tokens for trying out are given.
 */
export class Session {
  wire = new Wire();
  /** @type {LivePlaza} */
  plaza;
  #settings;
  #Socket;
  /** The last coming or going that has not ended yet. @type {Promise<void> | undefined} */
  #moving;

  /**
   * @param {{ gateways: string[], demoTokens: boolean }} settings
   * @param {typeof WebSocket} Socket
   */
  constructor(settings, Socket = WebSocket) {
    this.#settings = settings;
    this.#Socket = Socket;
    this.plaza = new LivePlaza();
  }

  get givesDemoTokens() {
    return this.#settings.demoTokens;
  }

  get login() {
    return this.plaza.loginStore;
  }

  get user() {
    const info = this.login.state.loginUserInfo;
    return info ? { userID: info.userID, userName: info.nickname, avatarURL: info.avatarURL } : undefined;
  }

  /**
   * Signs in with a token, or with a name alone where tokens for trying out are given: then one name is one user.
   *
   * @param {{ token?: string, name?: string }} who
   */
  async signIn({ token, name }) {
    const provider = token ? undefined : () => demoToken(userIDOf(name), name);
    await this.login.login({
      urls: this.#settings.gateways, token, tokenProvider: provider, nickname: name || undefined,
      WebSocket: observedSocket(this.#Socket, this.wire),
    });
  }

  /** Enters a live, leaving another one first. */
  enter(liveID) {
    const list = this.plaza.liveListStore;
    return this.#inTurn(async () => {
      if (list.state.currentLive.liveID === liveID) return list.state.currentLive;
      await this.#leaveNow();
      return list.joinLive({ liveID });
    });
  }

  /** Creates a live and enters it, leaving another one first. @param {object} info LiveInfo */
  goLive(info) {
    return this.#inTurn(async () => {
      await this.#leaveNow();
      return this.plaza.liveListStore.createLive(info);
    });
  }

  /** Leaves the live that the client is in. Its own live goes on while its owner looks at something else. */
  leave() {
    return this.#inTurn(() => this.#leaveNow());
  }

  async #leaveNow() {
    if (this.plaza.liveListStore.state.currentLive.liveID) await this.plaza.liveListStore.leaveLive().catch(() => {});
  }

  /**
   * One coming or going begins when the one before it has ended, and at once if there is none. Who goes on while a live
   * is being entered would else stay in it: before the answer there is nothing to leave.
   */
  #inTurn(action) {
    const move = this.#moving ? this.#moving.then(action) : action();
    const over = move.then(() => {}, () => {}).then(() => {
      if (this.#moving === over) this.#moving = undefined;
    });
    this.#moving = over;
    return move;
  }
}

/** Asks for a token that is for trying out. */
async function demoToken(userID, name) {
  const response = await fetch('/pages/demo-token', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ user: userID, name }),
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok || !body.token) throw Object.assign(new Error('no token'), { codeName: body.error?.name ?? 'failed' });
  return body.token;
}

/** A user id from a name: letters and digits as they are, all else by its number. */
function userIDOf(name) {
  const plain = [...name.trim().toLowerCase()].map((sign) => {
    if (/[a-z0-9_-]/.test(sign)) return sign;
    return sign === ' ' ? '-' : sign.codePointAt(0).toString(36);
  }).join('');
  return plain.slice(0, 32) || 'guest';
}

/** Reads where the gateways are. */
export async function readSettings() {
  const response = await fetch('/pages/settings.json', { cache: 'no-store' });
  if (!response.ok) throw new Error(`settings: ${response.status}`);
  return response.json();
}
