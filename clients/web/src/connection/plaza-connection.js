// SPDX-License-Identifier: Apache-2.0
import { ClientCore } from '../core/client-core.js';
import { CloseCode, PlazaError, plazaError } from '../core/errors.js';
import { parseFrame } from '../core/frames.js';
import { badFrame } from '../core/read.js';
import { tokenEnd } from '../core/token-keeper.js';

/** How long a token without a readable end is taken to be valid, in milliseconds. */
const unknownLife = 3_600_000;

/**
 * @typedef {object} ConnectionOptions
 * @property {readonly string[]} urls the gateways' addresses: the first attempt takes a random one, each reconnect the
 * next one
 * @property {string} session the name under which calls are counted
 * @property {number} firstID the first call's id
 * @property {any} WebSocket the class of WebSockets
 * @property {import('./clock.js').Clock} clock
 * @property {() => number} random gives numbers from 0 to below 1
 * @property {string} [token]
 * @property {() => Promise<string> | string} [tokenProvider]
 * @property {string} [name]
 * @property {string} [avatarURL]
 * @property {number} [callTimeout] milliseconds
 * @property {() => number} serverTime milliseconds since 1970, by which tokens end
 * @property {(event: import('../core/client-core.js').CoreEvent) => void} onEvent
 */

/** One client: `ClientCore` over WebSockets, with the timers that it needs. */
export class PlazaConnection {
  #options;
  #core;
  /** @type {any} */
  #socket;
  #addressIndex;
  /** @type {unknown} */
  #timer;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: PlazaError) => void }>} */
  #waiting = new Map();
  /**
   * Actions that wait because others are being performed.
   *
   * @type {import('../core/client-core.js').Action[]}
   */
  #queue = [];
  #isPerforming = false;
  /** How often the token provider was asked; failures of earlier requests are ignored. */
  #fetchCount = 0;

  /** @param {ConnectionOptions} options */
  constructor(options) {
    this.#options = options;
    const { session, firstID, random, name, avatarURL, callTimeout, urls } = options;
    // Clients begin at different gateways.
    this.#addressIndex = Math.floor(random() * urls.length);
    this.#core = new ClientCore({
      session, firstID, random, name, avatarURL, hasTokenProvider: options.tokenProvider !== undefined,
      ...(callTimeout === undefined ? {} : { callTimeout }),
    });
  }

  /** Begins to connect. */
  start() {
    const { token } = this.#options;
    this.#perform(this.#core.start(token === undefined ? undefined : this.#tokenValue(token), this.#now()));
  }

  /** Ends the client; it cannot be restarted. */
  stop() {
    this.#perform(this.#core.stop());
  }

  /** The page is shown, or there may be a network again. */
  probe() {
    this.#perform(this.#core.probe(this.#now()));
  }

  /** @param {boolean} isOnline what the system says about its network */
  setOnline(isOnline) {
    this.#perform(this.#core.setOnline(isOnline, this.#now()));
  }

  /**
   * The name and picture to use at the next login.
   *
   * @param {{ name?: string, avatarURL?: string }} profile
   */
  setProfile(profile) {
    this.#core.setProfile(profile);
  }

  /**
   * Calls a method and waits for its reply, also across reconnects.
   *
   * @param {string} method a name of PROTOCOL.md, section 5
   * @param {object} params
   * @param {string} [live] the live that the call is about
   * @returns {Promise<import('../core/read.js').JSONObject>} the body of the result
   * @throws {PlazaError} the server's error, `timedOut`, `overloaded`, or `notLoggedIn`
   */
  call(method, params, live) {
    return new Promise((resolve, reject) => {
      const { handle, actions } = this.#core.call(method, params, live, this.#now());
      this.#waiting.set(handle, { resolve, reject });
      this.#perform(actions);
    });
  }

  #now() {
    return this.#options.clock.now();
  }

  /** @param {string} token */
  #tokenValue(token) {
    const end = tokenEnd(token);
    return { text: token, left: end === undefined ? unknownLife : end - this.#options.serverTime() };
  }

  /**
   * Performs actions in order. What an action causes in the core is performed after them.
   *
   * @param {import('../core/client-core.js').Action[]} actions
   */
  #perform(actions) {
    this.#queue.push(...actions);
    if (this.#isPerforming) return;
    this.#isPerforming = true;
    try {
      for (let action = this.#queue.shift(); action !== undefined; action = this.#queue.shift()) this.#act(action);
    } finally {
      this.#isPerforming = false;
    }
    this.#schedule();
  }

  /** @param {import('../core/client-core.js').Action} action */
  #act(action) {
    switch (action.type) {
      case 'connect': return this.#connect(action.toNextAddress);
      case 'send': return this.#socket?.send(action.text);
      case 'disconnect': return this.#detach(action.code);
      case 'fetchToken': return void this.#fetchToken();
      case 'event': return this.#options.onEvent(action.event);
      case 'callEnded': {
        const waiting = this.#waiting.get(action.handle);
        this.#waiting.delete(action.handle);
        if (action.error) waiting?.reject(action.error);
        else waiting?.resolve(action.result?.body ?? {});
      }
    }
  }

  /** @param {boolean} toNextAddress */
  #connect(toNextAddress) {
    const { urls, WebSocket } = this.#options;
    if (toNextAddress) this.#addressIndex = (this.#addressIndex + 1) % urls.length;
    this.#detach(CloseCode.normal);
    /** @type {any} */
    let socket;
    /** @type {unknown} */
    let fault;
    // A fault is not one of the network: another attempt with this address would fail as well, so the next one is
    // tried.
    for (let tries = 0; socket === undefined && tries < urls.length; tries += 1) {
      try {
        socket = new WebSocket(urls[this.#addressIndex], 'liveplaza.v1');
      } catch (error) {
        fault = error;
        this.#addressIndex = (this.#addressIndex + 1) % urls.length;
      }
    }
    if (socket === undefined) {
      return this.#perform(this.#core.noAddressUsable(plazaError('invalidParameter', `no WebSocket: ${fault}`)));
    }
    this.#socket = socket;
    // What a former connection still says is not heard.
    const ifPresent = (/** @type {(event: any) => void} */ action) => (/** @type {any} */ event) => {
      if (this.#socket === socket) action(event);
    };
    socket.onopen = ifPresent(() => this.#perform(this.#core.opened(this.#now())));
    socket.onmessage = ifPresent((event) => this.#received(event.data));
    socket.onerror = () => {};
    socket.onclose = ifPresent((event) => {
      this.#socket = undefined;
      this.#perform(this.#core.closed(event.code ?? CloseCode.lost, this.#now()));
    });
  }

  /** @param {unknown} data */
  #received(data) {
    try {
      this.#perform(this.#core.received(parseFrame(data), this.#now()));
    } catch (error) {
      const reason = error instanceof PlazaError ? error : badFrame(`what cannot be read: ${error}`);
      this.#options.onEvent({ kind: 'badFrame', error: reason });
    }
  }

  /** @param {number} code */
  #detach(code) {
    const socket = this.#socket;
    this.#socket = undefined;
    // A socket that is still connecting cannot be closed with a code in every browser.
    try {
      socket?.close(code);
    } catch {
      socket?.close();
    }
  }

  async #fetchToken() {
    const { tokenProvider } = this.#options;
    if (tokenProvider === undefined) return;
    this.#fetchCount += 1;
    const number = this.#fetchCount;
    /** @type {import('../core/client-core.js').Action[]} */
    let actions;
    try {
      const token = await tokenProvider();
      if (typeof token !== 'string' || token === '') throw new TypeError('the token provider gave no token');
      actions = this.#core.tokenFetched(this.#tokenValue(token), this.#now());
    } catch (error) {
      if (number !== this.#fetchCount) return;
      this.#options.onEvent({ kind: 'tokenProviderFailed', error });
      actions = this.#core.tokenFailed(this.#now());
    }
    this.#perform(actions);
  }

  /** Sets the one timer to the moment at which something is due. */
  #schedule() {
    const { clock } = this.#options;
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = this.#core.dueAt();
    if (due === Infinity) return;
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      this.#perform(this.#core.tick(this.#now()));
    }, Math.max(0, due - this.#now()));
  }
}
