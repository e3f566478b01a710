// SPDX-License-Identifier: Apache-2.0
import { backOff } from './back-off.js';
import { CallQueue } from './call-queue.js';
import { allowsReconnect, CloseCode, plazaError, ReplyCode } from './errors.js';
import { callFrame } from './frames.js';
import { LivePlace } from './live-place.js';
import { object, text } from './read.js';
import { renewalDelay } from './token-schedule.js';

/**
 * @typedef {object} CoreOptions
 * @property {string} session
 * @property {() => number} random gives numbers from 0 to below 1
 * @property {boolean} hasTokenProvider whether `fetchToken` actions can be performed
 * @property {string} [name] how others see the user, unless the token says it
 * @property {string} [avatarURL]
 * @property {number} [callTimeout] how long a call may take, in milliseconds (15,000)
 * @property {number} [pingInterval] after how long a silence a ping is sent, in milliseconds (20,000)
 *
 * @typedef {{ type: 'connect', toNextAddress: boolean }
 *   | { type: 'send', text: string }
 *   | { type: 'disconnect', code: number }
 *   | { type: 'fetchToken' }
 *   | { type: 'callEnded', id: number, method: string, result?: { kind: string, body: import('./read.js').JSONObject }, error?: import('./errors.js').PlazaError }
 *   | { type: 'event', event: CoreEvent }} Action
 *
 * @typedef {{ kind: string, [detail: string]: any }} CoreEvent
 */

/** How long a connection may take to open, and a login or a ping to be answered, in milliseconds. */
const answerTimeout = 10_000;
/** How often a call is repeated because the server was busy. */
const maxRepeats = 3;
const maxUnfinished = 1000;
/** A gateway that stops asks its clients to leave within some time; longer ones are cut to this. */
const maxDrain = 60_000;

/**
 * The client's side of the protocol without IO: login, calls, resume, reconnect, heartbeat, renewal of tokens.
 *
 * Each method takes an event and the time in milliseconds of any monotonic clock, and returns the actions that its owner
 * performs. It reads no clock and makes no random numbers by itself.
 */
export class ClientCore {
  /** @type {'idle' | 'fetchingToken' | 'connecting' | 'loggingIn' | 'open' | 'waiting' | 'ended'} */
  state = 'idle';
  /** Which live the client is in, and where in its feed. */
  place = new LivePlace();
  #options;
  #calls = new CallQueue(16);
  /** @type {Action[]} */
  #actions = [];
  #nextID = 1;
  #loginID = 0;
  #renewalID = 0;
  #failures = 0;
  /** @type {string | undefined} */
  #token;
  #renewAt = Infinity;
  #tokenFailures = 0;
  /**
   * The token that was refused since the last login; a second refusal ends the client.
   *
   * @type {string | undefined}
   */
  #refused;
  /** When the present state ends by itself: an attempt that takes too long, or a pause. */
  #stateEndsAt = Infinity;
  #drainAt = Infinity;
  #lastSent = 0;
  #lastReceived = 0;
  #pingSentAt = Infinity;
  #isOnline = true;

  /** @param {CoreOptions} options */
  constructor(options) {
    this.#options = { callTimeout: 15_000, pingInterval: 20_000, name: '', avatarURL: '', ...options };
  }

  /**
   * Begins to connect.
   *
   * @param {{ text: string, left: number } | undefined} token the token, and for how many milliseconds it is valid yet;
   *   without one the token provider is asked
   * @param {number} now
   */
  start(token, now) {
    if (this.state !== 'idle') return [];
    if (token !== undefined) this.#useToken(token, now);
    this.#beginConnect(false, now);
    return this.#take();
  }

  /** Ends the client for good; unfinished calls fail. */
  stop() {
    if (this.state === 'ended') return [];
    this.#end(CloseCode.normal, plazaError('failed', 'the client was stopped'), false);
    return this.#take();
  }

  /**
   * The connection is open.
   *
   * @param {number} now
   */
  opened(now) {
    if (this.state !== 'connecting') return [];
    this.state = 'loggingIn';
    this.#stateEndsAt = now + answerTimeout;
    this.#loginID = this.#nextID++;
    const { session, name, avatarURL } = this.#options;
    const params = {
      ...(avatarURL ? { avatarURL } : {}), ...(name ? { name } : {}), ...this.place.resumeParams(),
      session, token: this.#token,
    };
    this.#send(callFrame(this.#loginID, 'login', params), now);
    return this.#take();
  }

  /**
   * The connection was closed, or an attempt to open it failed (1006).
   *
   * @param {number} code
   * @param {number} now
   */
  closed(code, now) {
    if (this.state === 'ended' || this.state === 'idle' || this.state === 'waiting') return [];
    this.#connectionLost(code, now);
    return this.#take();
  }

  /**
   * A frame was received.
   *
   * @param {import('./frames.js').ServerFrame} frame
   * @param {number} now
   */
  received(frame, now) {
    if (this.state === 'ended') return [];
    this.#lastReceived = now;
    this.#pingSentAt = Infinity;
    if (frame.kind === 'reply') this.#reply(frame, now);
    else if (frame.kind === 'drain') {
      this.#drainAt = now + this.#options.random() * Math.min(frame.reconnectWithin, maxDrain);
      this.#event({ kind: 'draining' });
    } else if (frame.kind !== 'unknown') for (const event of this.place.received(frame)) this.#event(event);
    return this.#take();
  }

  /**
   * Makes a call.
   *
   * @param {string} method
   * @param {object} params
   * @param {string | undefined} live the live that the call is about
   * @param {number} now
   * @returns {{ id: number, actions: Action[] }} `callEnded` reports the call's end
   */
  call(method, params, live, now) {
    const id = this.#nextID++;
    const reason = this.state === 'idle' || this.state === 'ended'
      ? plazaError('notLoggedIn', 'log in first')
      : this.#calls.size >= maxUnfinished ? plazaError('overloaded', 'too many calls wait', 1000) : undefined;
    if (reason) this.#actions.push({ type: 'callEnded', id, method, error: reason });
    else {
      const deadline = now + this.#options.callTimeout;
      this.#calls.add({ id, method, params, live, deadline, firstSent: undefined, isSent: false, notBefore: 0, repeats: 0 });
      if (method === 'live.join' && live !== undefined) this.place.joining(live);
      this.#sendCalls(now);
    }
    return { id, actions: this.#take() };
  }

  /**
   * The token provider has answered.
   *
   * @param {{ text: string, left: number }} token and for how many milliseconds it is valid yet
   * @param {number} now
   */
  tokenFetched(token, now) {
    this.#tokenFailures = 0;
    this.#useToken(token, now);
    if (this.state === 'fetchingToken') this.#connect(false, now);
    else if (this.state === 'open') {
      this.#renewalID = this.#nextID++;
      this.#send(callFrame(this.#renewalID, 'login', { token: token.text }), now);
    }
    return this.#take();
  }

  /**
   * The token provider has failed; it is asked again later.
   *
   * @param {number} now
   */
  tokenFailed(now) {
    const pause = backOff(this.#tokenFailures++, this.#options.random(), 1000, 30_000);
    if (this.state === 'fetchingToken') this.#wait(pause, now);
    else this.#renewAt = now + Math.max(1000, pause);
    return this.#take();
  }

  /**
   * The page is shown again, or the network may be back: connects at once, or checks the connection.
   *
   * @param {number} now
   * @param {number} [spread] over how many milliseconds to spread the attempt
   */
  probe(now, spread = 0) {
    if (this.state === 'waiting') {
      this.#stateEndsAt = Math.min(this.#stateEndsAt, now + this.#options.random() * spread);
    } else if (this.state === 'open' && this.#pingSentAt === Infinity) this.#ping(now);
    return this.#take();
  }

  /**
   * The system says whether it has a network. While it has none, attempts are rare.
   *
   * @param {boolean} isOnline
   * @param {number} now
   */
  setOnline(isOnline, now) {
    if (this.#isOnline === isOnline) return [];
    this.#isOnline = isOnline;
    if (isOnline) return this.probe(now, 1000);
    if (this.state === 'waiting') this.#stateEndsAt = Math.max(this.#stateEndsAt, now + 30_000);
    return this.#take();
  }

  /**
   * The name and picture for the next login.
   *
   * @param {{ name?: string, avatarURL?: string }} profile
   */
  setProfile(profile) {
    Object.assign(this.#options, profile);
  }

  /** When `tick` must be called next, in milliseconds of the clock; infinite if nothing is due. */
  dueAt() {
    if (this.state === 'idle' || this.state === 'ended') return Infinity;
    let due = Math.min(this.#stateEndsAt, this.#calls.dueAt(), this.#drainAt);
    if (this.state === 'open') due = Math.min(due, this.#renewAt, this.#pingDue(), this.#pingSentAt + answerTimeout);
    return due;
  }

  /**
   * Does what is due.
   *
   * @param {number} now
   */
  tick(now) {
    for (const call of this.#calls.takeExpired(now)) {
      this.#callEnded(call, { error: plazaError('timedOut', 'no answer in time', 1000) });
    }
    if (this.#stateEndsAt <= now) {
      if (this.state === 'waiting') this.#beginConnect(true, now);
      else if (this.state === 'connecting' || this.state === 'loggingIn') this.#disconnect(now);
    }
    if (this.#drainAt <= now || this.#pingSentAt + answerTimeout <= now) this.#disconnect(now);
    if (this.state === 'open') {
      if (this.#pingDue() <= now) this.#ping(now);
      if (this.#renewAt <= now) {
        this.#renewAt = Infinity;
        if (this.#options.hasTokenProvider) this.#actions.push({ type: 'fetchToken' });
      }
      this.#sendCalls(now);
    }
    return this.#take();
  }

  /**
   * @param {import('./frames.js').ReplyFrame} frame
   * @param {number} now
   */
  #reply(frame, now) {
    if (frame.id === this.#loginID && this.state === 'loggingIn') this.#loginReply(frame, now);
    else if (frame.id === this.#renewalID && this.#renewalID !== 0) {
      // A refused token is followed by the server's close frame, which decides.
      this.#renewalID = 0;
      this.#event(frame.error ? { kind: 'renewalFailed', error: frame.error } : { kind: 'renewed' });
    } else {
      const call = this.#calls.get(frame.id);
      if (call === undefined) return;
      if (frame.error && this.#repeatLater(call, frame.error, now)) return;
      this.#calls.remove(frame.id);
      this.#callEnded(call, frame);
      this.#sendCalls(now);
    }
  }

  /**
   * Reads the reply to a login or to a resume.
   *
   * @param {import('./frames.js').ReplyFrame} frame
   * @param {number} now
   */
  #loginReply(frame, now) {
    const { error, result } = frame;
    if (error) {
      if (error.code === ReplyCode.tokenExpired) return this.#connectionLost(CloseCode.tokenExpired, now, error);
      if (error.code === ReplyCode.tokenInvalid) return this.#connectionLost(CloseCode.tokenRefused, now, error);
      if (error.code === ReplyCode.signedInElsewhere) return this.#end(CloseCode.signedInElsewhere, error, true);
      if (error.code === ReplyCode.overLimit) return this.#end(CloseCode.tooManyConnections, error, true);
      const isBusy = isRetriable(error) || error.code === ReplyCode.tooFrequent;
      if (isBusy || this.place.live === undefined) {
        if (!isBusy) return this.#end(CloseCode.normal, error, true);
        return this.#disconnect(now, error.retryAfter ?? 0);
      }
    }
    this.state = 'open';
    this.#stateEndsAt = Infinity;
    this.#failures = 0;
    this.#refused = undefined;
    if (error) {
      const isLeaving = this.#calls.find('live.leave', this.place.live ?? '') !== undefined;
      for (const event of this.place.lost(error, isLeaving)) this.#event(event);
      // The login itself may have been refused because of the resume; a new one without it is always right.
      return this.#disconnect(now);
    }
    if (result?.kind === 'loggedIn') {
      this.place.noticesFrom(text(result.body.notices, 'notices', ''));
      this.#event({ kind: 'loggedIn', user: object(result.body.user, 'user'), session: result.body.session });
    } else if (result?.kind === 'resumed') for (const event of this.place.resumed(result.body)) this.#event(event);
    this.#sendCalls(now);
  }

  /**
   * Ends a call, and follows joins and leaves.
   *
   * @param {import('./call-queue.js').UnfinishedCall} call
   * @param {{ result?: any, error?: any }} outcome
   */
  #callEnded(call, outcome) {
    const events = this.place.callEnded(call, outcome);
    this.#actions.push({ type: 'callEnded', id: call.id, method: call.method, result: outcome.result, error: outcome.error });
    for (const event of events) this.#event(event);
  }

  /**
   * Whether a call that the server was too busy for is repeated, with the same id.
   *
   * @param {import('./call-queue.js').UnfinishedCall} call
   * @param {import('./errors.js').PlazaError} error
   * @param {number} now
   */
  #repeatLater(call, error, now) {
    if (!isRetriable(error) || call.repeats >= maxRepeats) return false;
    const at = now + (error.retryAfter ?? 1000) + backOff(call.repeats, this.#options.random(), 200);
    if (at >= call.deadline) return false;
    Object.assign(call, { isSent: false, repeats: call.repeats + 1, notBefore: at });
    return true;
  }

  /** @param {number} now */
  #sendCalls(now) {
    if (this.state !== 'open') return;
    for (const call of this.#calls.takeSendable(now)) {
      const age = call.firstSent === undefined ? undefined : Math.max(0, Math.round(now - call.firstSent));
      call.firstSent ??= now;
      this.#send(callFrame(call.id, call.method, call.params, age), now);
    }
  }

  #pingDue() {
    if (this.#pingSentAt !== Infinity) return Infinity;
    return Math.min(this.#lastSent, this.#lastReceived) + this.#options.pingInterval;
  }

  /** @param {number} now */
  #ping(now) {
    this.#pingSentAt = now;
    this.#send(callFrame(this.#nextID++, 'ping', {}), now);
  }

  /**
   * @param {{ text: string, left: number }} token
   * @param {number} now
   */
  #useToken(token, now) {
    this.#token = token.text;
    this.#renewAt = this.#options.hasTokenProvider ? now + renewalDelay(token.left, this.#options.random()) : Infinity;
  }

  /**
   * Connects, with a new token if the present one ends soon.
   *
   * @param {boolean} toNextAddress
   * @param {number} now
   */
  #beginConnect(toNextAddress, now) {
    const needsToken = this.#token === undefined || this.#token === this.#refused || this.#renewAt <= now;
    if (needsToken && this.#options.hasTokenProvider) {
      this.state = 'fetchingToken';
      this.#stateEndsAt = Infinity;
      this.#actions.push({ type: 'fetchToken' });
    } else this.#connect(toNextAddress, now);
  }

  /**
   * @param {boolean} toNextAddress
   * @param {number} now
   */
  #connect(toNextAddress, now) {
    this.state = 'connecting';
    this.#stateEndsAt = now + answerTimeout;
    this.#lastSent = this.#lastReceived = now;
    this.#actions.push({ type: 'connect', toNextAddress });
  }

  /**
   * Gives the connection up, and connects again later.
   *
   * @param {number} now
   * @param {number} [atLeast]
   */
  #disconnect(now, atLeast = 0) {
    this.#actions.push({ type: 'disconnect', code: CloseCode.normal });
    this.#connectionLost(CloseCode.lost, now, undefined, atLeast);
  }

  /**
   * @param {number} code
   * @param {number} now
   * @param {import('./errors.js').PlazaError} [error]
   * @param {number} [atLeast]
   */
  #connectionLost(code, now, error, atLeast = 0) {
    this.#calls.connectionLost();
    const isTokenFault = code === CloseCode.tokenExpired || code === CloseCode.tokenRefused;
    const hasNewToken = isTokenFault && this.#options.hasTokenProvider && this.#refused === undefined;
    if (!allowsReconnect(code) && !hasNewToken) {
      return this.#end(code, error ?? plazaError('failed', `the connection ended with code ${code}`), true);
    }
    if (error) this.#actions.push({ type: 'disconnect', code: CloseCode.normal });
    if (isTokenFault) this.#refused = this.#token;
    this.#event({ kind: 'disconnected', code });
    this.#wait(atLeast + backOff(this.#failures++, this.#options.random()), now);
  }

  /**
   * @param {number} pause
   * @param {number} now
   */
  #wait(pause, now) {
    this.state = 'waiting';
    this.#drainAt = this.#pingSentAt = Infinity;
    this.#stateEndsAt = now + (this.#isOnline ? pause : Math.max(pause, 30_000));
  }

  /**
   * @param {number} code
   * @param {import('./errors.js').PlazaError} error
   * @param {boolean} tells
   */
  #end(code, error, tells) {
    this.state = 'ended';
    this.#actions.push({ type: 'disconnect', code: CloseCode.normal });
    if (tells) this.#event({ kind: 'ended', code, error });
    for (const call of this.#calls.takeAll()) this.#actions.push({ type: 'callEnded', id: call.id, method: call.method, error });
  }

  /**
   * @param {string} frame
   * @param {number} now
   */
  #send(frame, now) {
    this.#lastSent = now;
    this.#actions.push({ type: 'send', text: frame });
  }

  /** @param {CoreEvent} event */
  #event(event) {
    this.#actions.push({ type: 'event', event });
  }

  #take() {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
}

/**
 * Whether the same call with the same id may be tried again.
 *
 * @param {import('./errors.js').PlazaError} error
 */
function isRetriable(error) {
  return error.code === ReplyCode.overloaded || error.code === ReplyCode.unavailable || error.code === ReplyCode.timedOut;
}
