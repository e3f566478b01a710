// SPDX-License-Identifier: Apache-2.0
import { backOff } from './back-off.js';
import { allowsReconnect, CloseCode, plazaError } from './errors.js';
import { Heartbeat } from './heartbeat.js';
import { answerTimeout as tokenTimeout, TokenKeeper } from './token-keeper.js';

/** How long a connection may take to open, and a login or a ping to be answered, in milliseconds. */
const answerTimeout = 10_000;
/** How long to wait at least while the system has no network, in milliseconds. */
const offlinePause = 30_000;
/** A gateway that stops asks its clients to leave within some time; longer ones are cut to this, in milliseconds. */
const maxDrain = 60_000;

/**
 * @typedef {object} LinkOwner
 * @property {(action: import('./client-core.js').Action) => void} act
 * @property {() => void} lost the connection is lost, and another one follows
 * @property {(error: import('./errors.js').PlazaError) => void} ended no connection follows
 */

/**
 * The connection of a client: when it is opened, taken as lost, waited for, and given up; and with which token.
 */
export class Link {
  /** @type {'idle' | 'fetchingToken' | 'connecting' | 'loggingIn' | 'open' | 'waiting' | 'ended'} */
  state = 'idle';
  tokens;
  heartbeat;
  #random;
  #owner;
  /** Whether the present address was tried and lost, so that the next attempt goes to the next address. */
  #isAddressLost = false;
  /** How often the connection failed since the last login. */
  #failures = 0;
  /** When the present state ends by itself: an attempt that takes too long, or a pause. */
  #stateEndsAt = Infinity;
  /** When to leave a gateway that stops. */
  #drainAt = Infinity;
  #isOnline = true;
  /**
   * The token of the login that was sent last.
   *
   * @type {string | undefined}
   */
  #loginToken;

  /**
   * @param {{ random: () => number, hasTokenProvider: boolean, pingInterval: number }} options
   * @param {LinkOwner} owner
   */
  constructor({ random, hasTokenProvider, pingInterval }, owner) {
    this.#random = random;
    this.#owner = owner;
    this.tokens = new TokenKeeper(hasTokenProvider, random);
    this.heartbeat = new Heartbeat(pingInterval, answerTimeout);
  }

  /**
   * Connects, with a new token if the present one has ended or ends soon.
   *
   * @param {number} now
   */
  begin(now) {
    if (!this.tokens.needsNew(now)) return this.#connect(now);
    this.#enter('fetchingToken', now + tokenTimeout);
    this.#owner.act({ type: 'fetchToken' });
  }

  /**
   * The token provider has answered.
   *
   * @param {{ text: string, left: number }} token
   * @param {number} now
   */
  tokenFetched(token, now) {
    this.tokens.use(token, now);
    if (this.state === 'fetchingToken') this.#connect(now);
  }

  /**
   * The token provider has failed, or has not answered in time.
   *
   * @param {number} now
   */
  tokenFailed(now) {
    const pause = this.tokens.failed(now);
    if (this.state === 'fetchingToken') this.#wait(pause, now);
  }

  /**
   * The login was sent.
   *
   * @param {number} now
   */
  loggingIn(now) {
    this.#loginToken = this.tokens.text;
    this.#enter('loggingIn', now + answerTimeout);
  }

  /**
   * The login has succeeded.
   *
   * @returns {boolean} whether the connection is to be given a newer token: the provider has answered after the login
   * was sent
   */
  opened() {
    this.#enter('open', Infinity);
    this.#failures = 0;
    this.tokens.accepted();
    return this.tokens.text !== this.#loginToken;
  }

  /** Whether a connection is there or on its way. */
  get isUp() {
    return this.state === 'connecting' || this.state === 'loggingIn' || this.state === 'open';
  }

  /**
   * The gateway stops: the client leaves it at a random moment, so that not all of its clients come to the next one at
   * once.
   *
   * @param {number} within milliseconds
   * @param {number} now
   */
  drain(within, now) {
    this.#drainAt = now + this.#random() * Math.min(within, maxDrain);
  }

  /**
   * The page is shown, or there may be a network: a waiting client connects soon.
   *
   * @param {number} now
   * @param {number} spread over how many milliseconds to spread the attempt
   * @returns {boolean} whether an open connection is to be checked
   */
  probe(now, spread) {
    if (this.state === 'waiting') this.#stateEndsAt = Math.min(this.#stateEndsAt, now + this.#random() * spread);
    return this.state === 'open' && !this.heartbeat.isWaiting;
  }

  /**
   * @param {boolean} isOnline
   * @param {number} now
   * @returns {boolean} whether that is news
   */
  setOnline(isOnline, now) {
    if (this.#isOnline === isOnline) return false;
    this.#isOnline = isOnline;
    if (!isOnline && this.state === 'waiting') this.#stateEndsAt = Math.max(this.#stateEndsAt, now + offlinePause);
    return true;
  }

  /** When `tick` must be called next; infinite if nothing is due. */
  dueAt() {
    if (this.state !== 'open') return this.#stateEndsAt;
    return Math.min(this.#drainAt, this.tokens.renewAt, this.heartbeat.pingAt(), this.#lostAt());
  }

  /** When an open connection is taken as lost: sooner while the system has no network. */
  #lostAt() {
    return this.heartbeat.lostAt() - (this.#isOnline ? 0 : answerTimeout / 2);
  }

  /**
   * Ends pauses, attempts that take too long, and connections that are silent.
   *
   * @param {number} now
   */
  tick(now) {
    if (this.state === 'waiting') {
      if (this.#stateEndsAt <= now) this.begin(now);
    } else if (this.state === 'fetchingToken') {
      if (this.#stateEndsAt <= now) this.tokenFailed(now);
    } else if (this.state === 'connecting' || this.state === 'loggingIn') {
      if (this.#stateEndsAt <= now) this.disconnect(now);
    } else if (this.state === 'open') {
      if (Math.min(this.#drainAt, this.#lostAt()) <= now) return this.disconnect(now);
      if (this.tokens.renewAt > now) return;
      if (this.tokens.isRequested) return this.#tokenTimedOut(now);
      this.tokens.requested(now);
      this.#owner.act({ type: 'fetchToken' });
    }
  }

  /**
   * The token provider has not answered: it is asked again after a pause. A late answer still counts.
   *
   * @param {number} now
   */
  #tokenTimedOut(now) {
    this.tokens.failed(now);
    const error = plazaError('timedOut', 'the token provider does not answer');
    this.#owner.act({ type: 'event', event: { kind: 'renewalFailed', error } });
  }

  /**
   * Gives the connection up, and connects again later.
   *
   * @param {number} now
   * @param {number} [atLeast] milliseconds to wait besides the back-off
   */
  disconnect(now, atLeast = 0) {
    this.#owner.act({ type: 'disconnect', code: CloseCode.normal });
    this.lost(CloseCode.lost, now, undefined, atLeast);
  }

  /**
   * The connection is lost: waits for the next attempt, or ends.
   *
   * @param {number} code the close code
   * @param {number} now
   * @param {import('./errors.js').PlazaError} [error] the reason, if the server gave one before it closed
   * @param {number} [atLeast] milliseconds to wait besides the back-off
   */
  lost(code, now, error, atLeast = 0) {
    const isTokenFault = code === CloseCode.tokenExpired || code === CloseCode.tokenRefused;
    if (isTokenFault ? !this.tokens.rejected() : !allowsReconnect(code)) {
      return this.end(code, error ?? plazaError('failed', `the connection ended with code ${code}`), true);
    }
    if (error) this.#owner.act({ type: 'disconnect', code: CloseCode.normal });
    this.#isAddressLost = true;
    this.#owner.lost();
    this.#owner.act({ type: 'event', event: { kind: 'disconnected', code } });
    this.#wait(atLeast + backOff(this.#failures, this.#random()), now);
    this.#failures += 1;
  }

  /**
   * Ends for good.
   *
   * @param {number} code
   * @param {import('./errors.js').PlazaError} error what unfinished calls fail with
   * @param {boolean} tells whether the end is an event
   */
  end(code, error, tells) {
    this.#enter('ended', Infinity);
    this.#owner.act({ type: 'disconnect', code: CloseCode.normal });
    if (tells) this.#owner.act({ type: 'event', event: { kind: 'ended', code, error } });
    this.#owner.ended(error);
  }

  /** @param {number} now */
  #connect(now) {
    this.#enter('connecting', now + answerTimeout);
    this.heartbeat.start(now);
    this.#owner.act({ type: 'connect', toNextAddress: this.#isAddressLost });
    this.#isAddressLost = false;
  }

  /**
   * @param {number} pause
   * @param {number} now
   */
  #wait(pause, now) {
    this.#enter('waiting', now + (this.#isOnline ? pause : Math.max(pause, offlinePause)));
    this.#drainAt = Infinity;
  }

  /**
   * @param {Link['state']} state
   * @param {number} endsAt
   */
  #enter(state, endsAt) {
    this.state = state;
    this.#stateEndsAt = endsAt;
  }
}
