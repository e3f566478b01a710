// SPDX-License-Identifier: Apache-2.0
import { CallQueue } from './call-queue.js';
import { CloseCode, PlazaError, plazaError } from './errors.js';
import { callFrame, callParams } from './frames.js';
import { Link } from './link.js';
import { LiveMembership } from './live-membership.js';
import { badFrame, object, text, whole } from './read.js';
import { Rejoin } from './rejoin.js';
import { loginVerdict, wrongResultKind } from './reply-policy.js';

/**
 * @typedef {object} CoreOptions
 * @property {string} session
 * @property {number} [firstID] the first call's id: above all that this session has used before (1)
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
 *   |
 *   { type: 'callEnded', handle: number, method: string, result?: { kind: string, body: import('./read.js').JSONObject }, error?: import('./errors.js').PlazaError }
 *   | { type: 'event', event: CoreEvent }} Action
 *
 * @typedef {{ kind: string, [detail: string]: any }} CoreEvent
 */

/** How many calls may be unfinished. */
const maxUnfinished = 1000;

/**
 * The client's side of the protocol without IO: login, calls, resume, reconnect, heartbeat, renewal of tokens.
 *
 * Each method takes an event and the time in milliseconds of any monotonic clock, and returns the actions that its
 * owner performs. It reads no clock and makes no random numbers by itself.
 */
export class ClientCore {
  #options;
  #link;
  #calls;
  #membership = new LiveMembership();
  #rejoin = new Rejoin();
  /** @type {Action[]} */
  #actions = [];
  #nextID;
  #nextHandle = 1;
  #loginID = 0;
  #renewalID = 0;
  #pingID = 0;
  /** When the login and the ping were sent. */
  #loginSentAt = 0;
  #pingSentAt = 0;

  /** @param {CoreOptions} options */
  constructor(options) {
    this.#options = { callTimeout: 15_000, pingInterval: 20_000, name: '', avatarURL: '', ...options };
    this.#nextID = options.firstID ?? 1;
    this.#calls = new CallQueue(options.random);
    this.#link = new Link(this.#options, {
      act: (action) => void this.#actions.push(action),
      lost: () => this.#calls.connectionLost(),
      ended: (error) => {
        for (const { handle, method } of this.#calls.takeAll()) this.#actions.push({ type: 'callEnded', handle, method, error });
      },
    });
  }

  get state() {
    return this.#link.state;
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
    if (token !== undefined) this.#link.tokens.use(token, now);
    this.#link.begin(now);
    return this.#take();
  }

  /** Ends the client for good; unfinished calls fail. */
  stop() {
    if (this.state !== 'ended') this.#link.end(CloseCode.normal, plazaError('failed', 'the client was stopped'), false);
    return this.#take();
  }

  /**
   * The connection is open: logs in.
   *
   * @param {number} now
   */
  opened(now) {
    if (this.state !== 'connecting') return [];
    this.#rejoin.begin(this.#membership, this.#calls, now, now + this.#options.callTimeout);
    this.#link.loggingIn(now);
    this.#loginID = this.#makeID();
    this.#loginSentAt = now;
    const { session, name, avatarURL } = this.#options;
    const profile = { ...(name ? { name } : {}), ...(avatarURL ? { avatarURL } : {}) };
    const params = { token: this.#link.tokens.text, session, ...profile, ...this.#membership.resumeParams(!this.#rejoin.isRepeating) };
    this.#send(callFrame(this.#loginID, 'login', JSON.stringify(params)), now);
    return this.#take();
  }

  /**
   * The connection was closed, or an attempt to open it failed (1006).
   *
   * @param {number} code
   * @param {number} now
   */
  closed(code, now) {
    if (this.#link.isUp) this.#link.lost(code, now);
    return this.#take();
  }

  /**
   * None of the addresses can ever be connected to: ends the client.
   *
   * @param {PlazaError} error
   */
  noAddressUsable(error) {
    if (this.state === 'connecting') this.#link.end(CloseCode.lost, error, true);
    return this.#take();
  }

  /**
   * A frame was received.
   *
   * @param {import('./frames.js').ServerFrame} frame
   * @param {number} now
   */
  received(frame, now) {
    if (this.state !== 'loggingIn' && this.state !== 'open') return [];
    this.#link.heartbeat.received(now);
    try {
      if (frame.kind === 'reply') this.#reply(frame, now);
      else if (frame.kind === 'drain') {
        this.#link.drain(frame.reconnectWithin, now);
        this.#events([{ kind: 'draining' }]);
      } else if (frame.kind !== 'unknown') {
        this.#events(this.#membership.received(frame));
        if (this.#rejoin.mustPing(this.#membership)) this.#ping(now);
      }
    } catch (error) {
      if (!(error instanceof PlazaError)) throw error;
      this.#events([{ kind: 'badFrame', error }]);
      // Without a login that can be read there is nothing to go on with.
      if (this.state === 'loggingIn') this.#link.disconnect(now);
    }
    return this.#take();
  }

  /**
   * Makes a call.
   *
   * @param {string} method
   * @param {object} params
   * @param {string | undefined} live the live that the call is about
   * @param {number} now
   * @returns {{ handle: number, actions: Action[] }} `callEnded` reports the end of the call with this handle
   * @throws {PlazaError} `invalidParameter`, `messageTooLong`
   */
  call(method, params, live, now) {
    const json = callParams(params);
    const handle = this.#makeHandle();
    const isEnded = this.state === 'idle' || this.state === 'ended';
    if (isEnded || this.#calls.size >= maxUnfinished) {
      const error = isEnded ? plazaError('notLoggedIn', 'log in first') : plazaError('overloaded', 'too many calls wait', 1000);
      this.#actions.push({ type: 'callEnded', handle, method, error });
    } else {
      // A store creates a live only to enter it.
      const isJoining = method === 'live.join' || method === 'live.create';
      this.#calls.add(handle, method, json, live, now + this.#options.callTimeout, isJoining);
      this.#sendCalls(now);
    }
    return { handle, actions: this.#take() };
  }

  /**
   * The token provider has answered.
   *
   * @param {{ text: string, left: number }} token and for how many milliseconds it is valid yet
   * @param {number} now
   */
  tokenFetched(token, now) {
    this.#link.tokenFetched(token, now);
    // A token that comes while a login is on its way is sent after the login's reply.
    if (this.state === 'open') this.#renew(now);
    return this.#take();
  }

  /**
   * The token provider has failed; it is asked again later.
   *
   * @param {number} now
   */
  tokenFailed(now) {
    this.#link.tokenFailed(now);
    return this.#take();
  }

  /**
   * The page is shown again, or the network may be back: connects at once, or checks the connection.
   *
   * @param {number} now
   * @param {number} [spread] over how many milliseconds to spread the attempt
   */
  probe(now, spread = 0) {
    // After a sleep of the machine, much may be overdue of which no timer has told: timers stand still meanwhile.
    this.#doDue(now);
    if (this.#link.probe(now, spread)) this.#ping(now);
    return this.#take();
  }

  /**
   * The system says whether it has a network. While it has none, attempts are rare, and an open connection is checked
   * at once: nothing else would soon tell that it is lost.
   *
   * @param {boolean} isOnline
   * @param {number} now
   */
  setOnline(isOnline, now) {
    const isNews = this.#link.setOnline(isOnline, now);
    return isNews && (isOnline || this.state === 'open') ? this.probe(now, 1000) : this.#take();
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
    return Math.min(this.#link.dueAt(), this.#calls.dueAt(this.state === 'open'));
  }

  /**
   * Does what is due.
   *
   * @param {number} now
   */
  tick(now) {
    this.#doDue(now);
    return this.#take();
  }

  /** @param {number} now */
  #doDue(now) {
    for (const call of this.#calls.takeExpired(now)) {
      this.#callEnded(call, { error: plazaError('timedOut', 'no answer in time', 1000) }, now);
    }
    this.#link.tick(now);
    if (this.state === 'open' && this.#link.heartbeat.pingAt() <= now) this.#ping(now);
    this.#sendCalls(now);
  }

  /**
   * @param {import('./frames.js').ReplyFrame} frame
   * @param {number} now
   */
  #reply(frame, now) {
    if (frame.id === this.#loginID) {
      if (this.state === 'loggingIn') this.#loginReply(frame, now);
    } else if (frame.id === this.#renewalID) {
      // The close frame that follows a rejection decides what becomes of the connection.
      if (frame.error) this.#link.tokens.failed(now);
      this.#events([frame.error ? { kind: 'renewalFailed', error: frame.error } : { kind: 'renewed' }]);
    } else if (frame.id === this.#pingID) {
      if (frame.result?.kind === 'done') this.#serverTime(frame.result.body.at, this.#pingSentAt, now);
      // All frames of the history have come before this reply.
      if (this.#rejoin.resumesAfterPing) this.#link.disconnect(now);
    } else {
      const call = this.#calls.get(frame.id);
      if (call === undefined) return this.#lateReply(frame, now);
      if (frame.error && this.#calls.repeatsLater(call, frame.error, now)) return;
      this.#calls.remove(call);
      this.#callEnded(call, frame, now);
      this.#sendCalls(now);
    }
  }

  /**
   * Takes the reply to a join, a leave or an end of a live that has timed out already. A late leave or end is applied.
   * A late join is undone: its caller got an error, and the server would reject a join of another live.
   *
   * @param {import('./frames.js').ReplyFrame} frame
   * @param {number} now
   */
  #lateReply(frame, now) {
    const call = this.#calls.takeTimedOut(frame.id);
    if (call === undefined) return;
    if (!call.isJoining) return this.#events(this.#membership.callEnded(call, frame));
    const { live } = call;
    if (frame.error || !live || live === this.#membership.live || this.#calls.contains(live, (call) => call.isJoining)) return;
    this.#calls.add(this.#makeHandle(), 'live.leave', callParams({ live }), live, now + this.#options.callTimeout, false);
    this.#sendCalls(now);
  }

  /**
   * Reads the reply to a login or to a resume.
   *
   * @param {import('./frames.js').ReplyFrame} frame
   * @param {number} now
   */
  #loginReply({ error, result }, now) {
    if (error) return this.#loginRejected(error, now);
    if (result?.kind === 'resumed') this.#events(this.#membership.resumed(result.body));
    else if (result?.kind === 'loggedIn') {
      this.#membership.noticesFrom(text(result.body.notices, 'notices', ''));
      this.#serverTime(result.body.at, this.#loginSentAt, now);
      const user = object(result.body.user, 'user');
      this.#events([{ kind: 'loggedIn', user: { ...user, userID: text(user.userID, 'userID') } }]);
    } else throw badFrame('no login as the reply to a login');
    if (this.#link.opened()) this.#renew(now);
    this.#sendCalls(now);
  }

  /**
   * @param {PlazaError} error
   * @param {number} now
   */
  #loginRejected(error, now) {
    const { live } = this.#membership;
    const meaning = loginVerdict(error, live !== undefined && !this.#rejoin.isRepeating);
    if (meaning.verdict === 'closed') return this.#link.lost(meaning.code, now, error);
    if (meaning.verdict === 'end') return this.#link.end(CloseCode.normal, error, true);
    if (meaning.verdict === 'lost') {
      this.#events(this.#membership.lost(error, this.#calls.contains(live ?? '', (call) => call.method === 'live.leave')));
    }
    // After `lost` too: whether the login itself was accepted depends on the error; a new one without the live is sure.
    this.#link.disconnect(now, meaning.verdict === 'again' ? error.retryAfter : 0);
  }

  /**
   * Ends a call, and follows joins and leaves.
   *
   * @param {import('./call-queue.js').UnfinishedCall} call
   * @param {{ result?: { kind: string, body: import('./read.js').JSONObject }, error?: PlazaError }} outcome
   * @param {number} now
   */
  #callEnded(call, { result, error }, now) {
    if (this.#rejoin.isRepeat(call)) return this.#rejoinEnded(result, now);
    if (call.isJoining && result !== undefined) this.#rejoin.joined(call);
    /** @type {CoreEvent[]} */
    let events = [];
    try {
      events = this.#membership.callEnded(call, { result, error });
    } catch (fault) {
      if (!(fault instanceof PlazaError)) throw fault;
      error = fault;
    }
    if (result !== undefined) error ??= wrongResultKind(call.method, result.kind);
    this.#actions.push({ type: 'callEnded', handle: call.handle, method: call.method, result, error });
    this.#events(events);
  }

  /**
   * Handles the end of a repeated join. If it was not repeated, the client reconnects and resumes the live; the reply to
   * the resume tells why.
   *
   * @param {{ kind: string, body: import('./read.js').JSONObject } | undefined} result
   * @param {number} now
   */
  #rejoinEnded(result, now) {
    this.#rejoin.end(this.#calls);
    const isInLive = this.#membership.live !== undefined;
    this.#events(this.#membership.rejoined(result));
    if (isInLive && this.#membership.firstFrame === 'skipped') this.#link.disconnect(now);
  }

  /** @param {number} now */
  #sendCalls(now) {
    if (this.state !== 'open') return;
    const frames = this.#calls.takeFrames(now, () => this.#makeID());
    const join = this.#calls.sentJoin();
    if (join?.live !== undefined) this.#membership.joinSent(join.handle, join.live);
    for (const frame of frames) this.#send(frame, now);
  }

  /**
   * Logs in again with a newer token on the open connection.
   *
   * @param {number} now
   */
  #renew(now) {
    this.#renewalID = this.#makeID();
    this.#send(callFrame(this.#renewalID, 'login', JSON.stringify({ token: this.#link.tokens.text })), now);
  }

  /** @param {number} now */
  #ping(now) {
    this.#pingID = this.#makeID();
    this.#pingSentAt = now;
    this.#send(callFrame(this.#pingID, 'ping', '{}'), now);
    this.#link.heartbeat.pinged(now);
  }

  /**
   * The server has told its time in the answer to a call, half of whose round trip has passed since. An earlier server
   * tells none.
   *
   * @param {unknown} at
   * @param {number} sentAt
   * @param {number} now
   */
  #serverTime(at, sentAt, now) {
    if (at === undefined) return;
    const offset = whole(at, 'at') - (sentAt + now) / 2;
    this.#link.tokens.serverTime(now + offset, now);
    this.#events([{ kind: 'serverTime', offset }]);
  }

  /**
   * @param {string} frame
   * @param {number} now
   */
  #send(frame, now) {
    this.#link.heartbeat.sent(now);
    this.#actions.push({ type: 'send', text: frame });
  }

  /** @param {CoreEvent[]} events */
  #events(events) {
    for (const event of events) this.#actions.push({ type: 'event', event });
  }

  #makeHandle() {
    const handle = this.#nextHandle;
    this.#nextHandle += 1;
    return handle;
  }

  #makeID() {
    const id = this.#nextID;
    this.#nextID += 1;
    return id;
  }

  #take() {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
}
