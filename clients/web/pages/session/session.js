// SPDX-License-Identifier: Apache-2.0
import { LivePlaza } from '../../src/index.js';
import { hasText, t } from '../lib/i18n.js';
import { observedSocket, Wire } from './observed-socket.js';

/** The text for an error. */
export function words(error) {
  // The browser's own error when a file could not be loaded.
  const isLost = error instanceof TypeError && /^(Failed to fetch|Load failed|Importing a module|NetworkError|error loading)/.test(error.message);
  const name = isLost ? 'connectionLost' : error?.codeName ?? '';
  if (hasText(`error.${name}`)) return t(`error.${name}`);
  return t('error.other', { code: error?.code ?? String(error?.message ?? error) });
}

/** The names of the errors that end a session for good, by the close code (PROTOCOL.md, section 14). */
const endings = {
  1006: 'connectionLost', 4100: 'tokenInvalid', 4101: 'tokenExpired', 4102: 'continuedElsewhere', 4103: 'badFrame',
  4104: 'tooFrequent', 4105: 'signedInElsewhere', 4106: 'tooManyConnections',
};

/** The text for the end of a session. If the server closed the connection without an error, it is `failed`. */
export function endingWords({ code, error }) {
  return words(endings[code] || error.codeName === 'failed' ? { codeName: endings[code], code } : error);
}

/**
 * The login of the pages: one client of the SDK, which all pages share.
 *
 * The settings come from the server of the pages (`/pages/settings.json`): the addresses of the gateways, and whether
 * demo tokens are available.
 */
export class Session {
  wire = new Wire();
  /** @type {LivePlaza} */
  plaza;
  #settings;
  #Socket;
  /** The last enter or leave, until it has ended. @type {Promise<void> | undefined} */
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
   * Signs in with a token, or with a name where demo tokens are available; equal names are then the same user.
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

  /** Creates a live and enters it, after leaving another one. @param {object} info LiveInfo */
  goLive(info) {
    return this.#inTurn(async () => {
      await this.#leaveNow();
      return this.plaza.liveListStore.createLive(info);
    });
  }

  /** Leaves the present live. A live continues when its owner opens another page. */
  leave() {
    return this.#inTurn(() => this.#leaveNow());
  }

  async #leaveNow() {
    if (this.plaza.liveListStore.state.currentLive.liveID) await this.plaza.liveListStore.leaveLive().catch(() => {});
  }

  /**
   * Runs enters and leaves one after another. A leave during an enter must wait: before the enter has succeeded there
   * is nothing to leave, and the user would stay in the live.
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

/** Requests a demo token. */
async function demoToken(userID, name) {
  const response = await fetch('/pages/demo-token', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ user: userID, name }),
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok || !body.token) throw Object.assign(new Error('no token'), { codeName: body.error?.name ?? 'failed' });
  return body.token;
}

/** Makes a user id from a name: letters and digits stay, any other character becomes its number. */
function userIDOf(name) {
  const plain = [...name.trim().toLowerCase()].map((sign) => {
    if (/[a-z0-9_-]/.test(sign)) return sign;
    return sign === ' ' ? '-' : sign.codePointAt(0).toString(36);
  }).join('');
  return plain.slice(0, 32) || 'guest';
}

/** Reads the settings of the pages. */
export async function readSettings() {
  const response = await fetch('/pages/settings.json', { cache: 'no-store' });
  if (!response.ok) throw new Error(`settings: ${response.status}`);
  return response.json();
}
