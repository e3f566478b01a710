// SPDX-License-Identifier: Apache-2.0
import { systemClock } from './connection/clock.js';
import { followPage } from './connection/page-signals.js';
import { PlazaConnection } from './connection/plaza-connection.js';
import { plazaError } from './core/errors.js';
import { LiveSession } from './live-session.js';
import { LiveListStore } from './stores/live-list-store.js';
import { defaultPlaza } from './stores/live-store.js';
import { LoginStore } from './stores/login-store.js';
import { StoreRegistry } from './stores/store-registry.js';
import { emit, publish, StoreEvent } from './stores/store.js';

/** @type {LivePlaza | undefined} */
let shared;

/**
 * One client: a login, the list of lives, and the stores of the live that it is in. A page may have any number.
 *
 * It dispatches `error` events with a PlazaError as `detail` when a server sends what is not of the protocol (the frame
 * is dropped), and when the token provider fails (it is asked again).
 */
export class LivePlaza extends EventTarget {
  /** @type {import('./index.js').PlazaOptions} */
  #options;
  /** @type {PlazaConnection | undefined} */
  #connection;
  #stopFollowing = () => {};
  #selfID = '';
  /**
   * What to add to the clock's milliseconds for the server's time.
   *
   * @type {number | undefined}
   */
  #serverOffset;
  /** @type {LiveSession} */
  #session;
  #lives;

  /** @param {import('./index.js').PlazaOptions} [options] */
  constructor(options = {}) {
    super();
    this.#options = options;
    /**
     * What the stores use of the machine. Not for apps.
     *
     * @readonly
     */
    this.parts = { clock: options.clock ?? systemClock, random: options.random ?? Math.random };
    this.#session = new LiveSession({
      ...this.parts,
      call: (method, params, live) => this.call(method, params, live),
      checkHasLogin: () => this.#requireConnection(),
      selfID: () => this.#selfID,
      show: (current, liveID, states, events) => this.#show(current, liveID, states, events),
      tips: (liveID) => this.live(liveID).barrage.state.messageList,
      tellList: (type, detail) => this.liveListStore[emit](type, detail),
      report: (error) => this.#report(error),
    });
    this.#lives = new StoreRegistry(this.#session);
    /**
     * @readonly
     * @type {LoginStore}
     */
    this.loginStore = new LoginStore(this);
    /**
     * @readonly
     * @type {LiveListStore}
     */
    this.liveListStore = new LiveListStore(this.#session);
  }

  /** The default instance, to which `LoginStore.shared` and `BarrageStore.create(liveID)` belong. */
  static get shared() {
    shared ??= new LivePlaza();
    return shared;
  }

  /**
   * Sets the options of the default instance; before its login.
   *
   * @param {import('./index.js').PlazaOptions} options
   * @returns {LivePlaza}
   */
  static configure(options) {
    const plaza = LivePlaza.shared;
    plaza.#options = { ...plaza.#options, ...options };
    return plaza;
  }

  /**
   * The server's time, by which an app shows when a battle or a request ends: the machine's own clock may be wrong.
   * Before the first login it is the machine's time.
   */
  get serverTime() {
    const { clock } = this.parts;
    return new Date(this.#serverOffset === undefined ? clock.wall() : clock.now() + this.#serverOffset);
  }

  /**
   * The stores of a live. They show the defaults until the client is in that live. The same id gives the same stores,
   * for as long as the client is in the live, or the app holds one of them, or asked for them among the last 100 lives.
   *
   * @param {string} liveID case sensitive
   */
  live(liveID) {
    return this.#lives.stores(liveID);
  }

  /**
   * Calls a method of the protocol for which no store has a method.
   *
   * @param {string} method a name of PROTOCOL.md, section 5
   * @param {object} [params]
   * @param {string} [live] the live that the call is about
   * @returns {Promise<import('./core/read.js').JSONObject>} the body of the result
   * @throws {import('./core/errors.js').PlazaError}
   */
  async call(method, params = {}, live) {
    return this.#requireConnection().call(method, params, live);
  }

  /**
   * @returns {PlazaConnection}
   * @throws {import('./core/errors.js').PlazaError} `notLoggedIn`
   */
  #requireConnection() {
    if (this.#connection === undefined) throw plazaError('notLoggedIn', 'log in first');
    return this.#connection;
  }

  /**
   * Begins to connect. Apps call `LoginStore.login`.
   *
   * @param {import('./index.js').LoginOptions} login
   */
  connect(login) {
    const options = { ...this.#options, ...login };
    const urls = [options.url ?? [], options.urls ?? []].flat();
    const WebSocket = options.WebSocket ?? globalThis.WebSocket;
    if (urls.length === 0) throw plazaError('invalidParameter', 'name the url of a gateway');
    if (WebSocket === undefined) throw plazaError('invalidParameter', 'this runtime has no WebSocket: name a class');
    if (options.token === undefined && options.tokenProvider === undefined) {
      throw plazaError('invalidParameter', 'name a token or a token provider');
    }
    const { clock, random } = this.parts;
    const connection = new PlazaConnection({
      urls, WebSocket, clock, random, session: options.session ?? newSession(random),
      // A call of a session that an earlier page has used needs an id above that page's: the same id is the same call.
      firstID: options.session === undefined ? 1 : Math.floor(clock.wall()),
      token: options.token, tokenProvider: options.tokenProvider, callTimeout: options.callTimeout,
      name: options.nickname, avatarURL: options.avatarURL, serverTime: () => this.serverTime.getTime(),
      onEvent: (event) => {
        if (this.#connection === connection) this.#received(event);
      },
    });
    this.#connection = connection;
    this.#stopFollowing = followPage(connection, options.page);
    connection.start();
  }

  /** Ends the connection. Apps call `LoginStore.logout`. */
  disconnect() {
    const connection = this.#connection;
    this.#forgetConnection();
    connection?.stop();
    this.#session.received({ kind: 'ended' });
    this.loginStore.disconnected();
  }

  /** @param {{ name?: string, avatarURL?: string }} profile */
  setProfile(profile) {
    this.#connection?.setProfile(profile);
  }

  /** @param {import('./core/client-core.js').CoreEvent} event */
  #received(event) {
    if (event.kind === 'badFrame') return this.#report(event.error);
    if (event.kind === 'tokenProviderFailed') this.#report(plazaError('failed', `the token provider failed: ${event.error}`));
    if (event.kind === 'renewalFailed') this.#report(event.error);
    if (event.kind === 'serverTime') this.#serverOffset = event.offset;
    if (event.kind === 'loggedIn') this.#selfID = String(event.user.userID);
    if (event.kind === 'ended') this.#forgetConnection();
    this.#session.received(event);
    this.loginStore.received(event);
  }

  #forgetConnection() {
    this.#connection = undefined;
    this.#stopFollowing();
    this.#stopFollowing = () => {};
  }

  /**
   * Shows in which live the client is, and the states of a live in its stores: first all states, then the subscribers,
   * then the events.
   *
   * @param {import('./index.js').LiveInfo} current
   * @param {string} liveID
   * @param {import('./core/live-fold.js').LiveStates} states
   * @param {import('./core/live-fold.js').StoreEvent[]} events
   */
  #show(current, liveID, states, events) {
    const stores = /** @type {any} */ (this.live(liveID));
    const names = Object.keys(stores).filter((name) => name in states);
    const isRead = !states.live.info.isEmpty;
    const tell = [this.#showCurrent(current, isRead),
      ...names.map((name) => stores[name][publish](/** @type {any} */ (states)[name]))];
    for (const action of tell) action();
    for (const { store, type, detail } of events) stores[store]?.[emit](type, detail);
  }

  /**
   * @param {import('./index.js').LiveInfo} info
   * @param {boolean} isRead whether it has more than the live's id; until then the list keeps what it shows of the live
   * @returns {() => void} tells the subscribers
   */
  #showCurrent(info, isRead) {
    const { state } = this.liveListStore;
    const { currentLive } = state;
    const keys = /** @type {(keyof import('./index.js').LiveInfo)[]} */ (Object.keys(info));
    if (keys.every((key) => Object.is(currentLive[key], info[key]))) return () => {};
    const isListed = isRead && state.liveList.some((other) => other.liveID === info.liveID);
    const liveList = isListed ? state.liveList.map((other) => (other.liveID === info.liveID ? info : other)) : state.liveList;
    return this.liveListStore[publish]({ ...state, liveList, currentLive: info });
  }

  /** @param {import('./core/errors.js').PlazaError} error */
  #report(error) {
    this.dispatchEvent(new StoreEvent('error', error));
  }
}

defaultPlaza.get = () => LivePlaza.shared;

/**
 * A name for a new session, which no other client of the user has.
 *
 * @param {() => number} random
 */
function newSession(random) {
  return `web-${Array.from({ length: 24 }, () => Math.floor(random() * 16).toString(16)).join('')}`;
}
