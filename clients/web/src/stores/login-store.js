// SPDX-License-Identifier: Apache-2.0
import { plazaError } from '../core/errors.js';
import { defaultPlaza, defined } from './live-store.js';
import { emit, publish, Store } from './store.js';

/** @returns {import('../index.js').LoginState} */
const initial = () => ({ loginStatus: 'unlogin', loginUserInfo: null, connectionStatus: 'disconnected' });

/** How long a login may take by default, in milliseconds. */
const loginTimeout = 15_000;
/** How long a logout waits for the live to be left, in milliseconds. */
const leaveTimeout = 2000;

/**
 * Who is logged in, and how the connection is. Events: `kickedOffline`, `loginExpired`, and `connectionEnded`
 * {code, error} after either and whenever the client does not reconnect.
 *
 * @extends {Store<import('../index.js').LoginState>}
 */
export class LoginStore extends Store {
  #plaza;
  /**
   * @type {{ resolve: (profile: import('../index.js').UserProfile) => void, reject: (error: Error) => void } | undefined}
   */
  #waiting;
  /**
   * The logout that has not ended yet.
   *
   * @type {Promise<void> | undefined}
   */
  #logout;

  /** @param {import('../live-plaza.js').LivePlaza} plaza */
  constructor(plaza) {
    super(initial());
    this.#plaza = plaza;
  }

  /** The store of the default instance. */
  static get shared() {
    return /** @type {any} */ (defaultPlaza.get)().loginStore;
  }

  /**
   * Connects and logs in.
   *
   * @param {import('../index.js').LoginOptions} [options] each of them instead of the instance's own
   * @returns {Promise<import('../index.js').UserProfile>}
   * @throws {import('../core/errors.js').PlazaError} `tokenInvalid`, `tokenExpired`, `overLimit`, `timedOut`; `failed`
   * if
   *   someone is logged in; the token provider's own error
   */
  async login(options = {}) {
    // A login that follows a logout at once finds no former login.
    while (this.#logout !== undefined) await this.#logout.catch(() => {});
    if (this.#waiting !== undefined || this.state.connectionStatus !== 'disconnected') {
      throw plazaError('failed', 'log out first');
    }
    const { clock } = this.#plaza.parts;
    this.#show({ connectionStatus: 'connecting' });
    /** @type {Promise<import('../index.js').UserProfile>} */
    const outcome = new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    const timer = clock.setTimeout(() => {
      this.#settle(plazaError('timedOut', 'no login in time', 1000));
      this.#plaza.disconnect();
    }, options.timeout ?? loginTimeout);
    try {
      this.#plaza.connect(options);
      return await outcome;
    } catch (error) {
      this.#waiting = undefined;
      this.#show(initial());
      throw error;
    } finally {
      clock.clearTimeout(timer);
    }
  }

  /**
   * Leaves the live, and disconnects.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notLoggedIn`
   */
  async logout() {
    if (this.#logout !== undefined) return this.#logout;
    this.#logout = this.#leaveAndDisconnect();
    try {
      await this.#logout;
    } finally {
      this.#logout = undefined;
    }
  }

  async #leaveAndDisconnect() {
    if (this.state.connectionStatus === 'disconnected') throw plazaError('notLoggedIn', 'log in first');
    const { clock } = this.#plaza.parts;
    const isConnected = this.state.connectionStatus === 'connected';
    if (isConnected && this.#plaza.liveListStore.state.currentLive.liveID !== '') {
      /** @type {unknown} */
      let timer;
      const tooLong = new Promise((resolve) => {
        timer = clock.setTimeout(() => resolve(undefined), leaveTimeout);
      });
      await Promise.race([this.#plaza.liveListStore.leaveLive().catch(() => {}), tooLong]);
      clock.clearTimeout(timer);
    }
    this.#settle(plazaError('failed', 'logged out'));
    this.#plaza.disconnect();
  }

  /**
   * Changes how others see the user. A field that is left out stays as it is.
   *
   * @param {{ nickname?: string, avatarURL?: string }} profile at most 100 and 200 bytes
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `noPermission` if the token says it, `badParameter`
   */
  async setSelfInfo({ nickname, avatarURL }) {
    const changes = /** @type {{ name?: string, avatarURL?: string }} */ (defined({ name: nickname, avatarURL }));
    await this.#plaza.call('self.update', changes);
    this.#plaza.setProfile(changes);
    const { loginUserInfo } = this.state;
    if (loginUserInfo) this.#show({ loginUserInfo: { ...loginUserInfo, ...defined({ nickname, avatarURL }) } });
  }

  /**
   * Follows an event of the connection. Not for apps.
   *
   * @param {import('../core/client-core.js').CoreEvent} event
   */
  received(event) {
    switch (event.kind) {
      case 'loggedIn': {
        const { userID, userName, avatarURL } = event.user;
        const profile = { userID, nickname: userName ?? '', avatarURL: avatarURL ?? '' };
        this.#show({ loginStatus: 'logined', loginUserInfo: profile, connectionStatus: 'connected' });
        this.#waiting?.resolve(profile);
        this.#waiting = undefined;
        return;
      }
      case 'resumed': return this.#show({ connectionStatus: 'connected' });
      case 'disconnected':
        return this.#show({ connectionStatus: this.state.loginStatus === 'logined' ? 'reconnecting' : 'connecting' });
      case 'tokenProviderFailed': {
        if (this.#waiting === undefined) return;
        this.#settle(event.error);
        return this.#plaza.disconnect();
      }
      case 'ended': return this.#ended(event.code, event.error);
    }
  }

  /** The client was disconnected on purpose. Not for apps. */
  disconnected() {
    this.#show(initial());
  }

  /**
   * @param {number} code
   * @param {import('../core/errors.js').PlazaError} error
   */
  #ended(code, error) {
    const isLogin = this.#waiting !== undefined;
    this.#settle(error);
    this.#show(initial());
    // A login that fails says so itself.
    if (isLogin) return;
    if (code === 4102 || code === 4105) this[emit]('kickedOffline', {});
    if (code === 4100 || code === 4101) this[emit]('loginExpired', {});
    this[emit]('connectionEnded', { code, error });
  }

  /** @param {Error} error */
  #settle(error) {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  /** @param {Partial<import('../index.js').LoginState>} changes */
  #show(changes) {
    this[publish]({ ...this.state, ...changes })();
  }
}
