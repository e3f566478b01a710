// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { matches, read, storeOf } from './conformance.js';

export const { sessions, uncalled } = read('sessions.json');

/** The maximum number of calls in a step with `until`. */
const maxCallCount = 10;
/** How long a step with `until` waits for the state after each call, in milliseconds. */
const waitAfterCall = 1000;
/** How long an expected state or event is awaited, in milliseconds. */
const waitForState = 30_000;

/** The calls of stores in the steps of a session, including nested steps. */
export function callsOf(steps) {
  return steps.flatMap(({ call, cut }) => [...(call ? [call] : []), ...(cut ? callsOf(cut.steps) : [])]);
}

/**
 * Runs a session of clients/conformance/sessions.json; the README there describes the steps.
 *
 * `environment` is the server with its users. `id(name)` returns the id of a user or live. `client` and `network` (a
 * `CuttableNetwork`) belong to the user under test. `makeClient(name)` returns a client that is not logged in.
 * `callAs(user, method, params)` makes a call of the protocol. Without `framesBeforeCut` there are no cuts.
 */
export async function playSession(session, environment, framesBeforeCut) {
  const run = new SessionRun(session, environment, framesBeforeCut);
  for (const step of session.steps) await run.step(step);
}

class SessionRun {
  #environment;
  #framesBeforeCut;
  #live;
  #results = {};
  #witness;
  /** Whether an enclosing step has planned a cut. */
  #isCutPlanned = false;

  constructor(session, environment, framesBeforeCut) {
    this.#environment = environment;
    this.#framesBeforeCut = framesBeforeCut;
    this.#live = environment.id(session.live);
  }

  async step(step) {
    const [[kind, value]] = Object.entries(step);
    assert.ok(kind in this.#kinds, `no step of the kind ${kind}`);
    // The steps of a `cut` may refer to results of earlier steps, so each is resolved when it runs.
    if (kind === 'cut') return this.#kinds.cut(value);
    try {
      await this.#kinds[kind](this.#resolve(value));
    } catch (error) {
      error.message = `${JSON.stringify(step)}: ${error.message}`;
      throw error;
    }
  }

  #kinds = {
    call: (call) => this.#call(call),
    cut: async ({ steps }) => {
      this.#planCut();
      this.#isCutPlanned = true;
      for (const step of steps) await this.step(step);
      this.#isCutPlanned = false;
      await this.#awaitCut();
    },
    other: async ({ user, method, params, as }) => {
      const result = await this.#environment.callAs(user, method, params);
      if (as !== undefined) this.#results[as] = result;
    },
    witness: async () => {
      this.#witness = await this.#enter('witness');
    },
    state: (expected) => this.#checkState(expected),
    wait: async (expected) => {
      await holds(() => this.#isState(expected), waitForState);
      this.#checkState(expected);
    },
    sameStates: ({ messages }) => this.#expectSameStates(messages),
  };

  async #call(call) {
    if (call.until === undefined) return this.#callOnce(call);
    for (let count = 0; count < maxCallCount; count += 1) {
      await this.#callOnce(call);
      if (await holds(() => this.#isState(call.until), waitAfterCall)) return;
    }
    this.#checkState(call.until);
  }

  async #callOnce({ store, method, params, is, as }) {
    const target = storeOf(this.#environment.client, store, this.#live);
    assert.equal(typeof target?.[method], 'function', 'this runner does not know the store or its method');
    if (!this.#isCutPlanned) this.#planCut();
    const { result, error } = await withinRate(() => target[method](params))
      .then((value) => ({ result: value }), (reason) => ({ error: reason }));
    if (!this.#isCutPlanned) await this.#awaitCut();
    if (error) throw error;
    if (is !== undefined) matches(result, is, 'result');
    if (as !== undefined) this.#results[as] = result;
  }

  #planCut() {
    if (this.#framesBeforeCut !== undefined) this.#environment.network.planCut(this.#framesBeforeCut);
  }

  /**
   * Waits until the cut has happened and the user is connected again. Without a further frame, it cuts after a second.
   */
  async #awaitCut() {
    const { client, network } = this.#environment;
    if (!(await holds(() => !network.isCutPlanned, 1000))) network.cutNow();
    const isBack = () => {
      const { loginStatus, connectionStatus } = client.loginStore.state;
      return loginStatus === 'unlogin' || (network.isOpen && connectionStatus === 'connected');
    };
    assert.ok(await holds(isBack, waitForState), 'the client is not connected again');
  }

  /** Makes a client that is never cut off, and enters the live. */
  async #enter(name) {
    const client = await this.#environment.makeClient(name);
    await withinRate(() => client.loginStore.login());
    await withinRate(() => client.liveListStore.joinLive({ liveID: this.#live }));
    return client;
  }

  #checkState({ store, is }) {
    matches(storeOf(this.#environment.client, store, this.#live).state, is, store);
  }

  #isState(expected) {
    try {
      this.#checkState(expected);
      return true;
    } catch {
      return false;
    }
  }

  async #expectSameStates(messages) {
    assert.ok(this.#witness, 'there is no witness yet');
    const newcomer = await this.#enter('newcomer');
    const own = () => sharedStates(this.#environment.client, this.#live);
    const witnessed = () => sharedStates(this.#witness, this.#live);
    // The newcomer does not have the messages from before it entered.
    const seenByNewcomer = () => ({ ...sharedStates(newcomer, this.#live), messages });
    const isSame = () => isDeepStrictEqual(own().messages, messages)
      && isDeepStrictEqual(own(), witnessed()) && isDeepStrictEqual(own(), seenByNewcomer());
    if (await holds(isSame, waitForState)) return;
    assert.deepEqual(own().messages, messages, 'other messages');
    assert.deepEqual(own(), witnessed(), 'the witness shows something else');
    assert.deepEqual(own(), seenByNewcomer(), 'the newcomer shows something else');
  }

  /** Replaces `{"$id": name}` by ids, and `{"$result": [name, key, …]}` by parts of results. */
  #resolve(value) {
    if (Array.isArray(value)) return value.map((entry) => this.#resolve(entry));
    if (typeof value !== 'object' || value === null) return value;
    if ('$id' in value) return this.#environment.id(value.$id);
    if ('$result' in value) {
      const part = value.$result.reduce((whole, key) => whole?.[key], this.#results);
      assert.notEqual(part, undefined, `there is no result ${value.$result}`);
      return part;
    }
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, this.#resolve(entry)]));
  }
}

/** The part of the stores' states that must be the same for all users in the live. */
function sharedStates(plaza, liveID) {
  const { audience, barrage, seat, coGuest, coHost, battle, gift, like, summary } = plaza.live(liveID);
  const sorted = (users) => [...users].sort((first, second) => (first.userID < second.userID ? -1 : 1));
  return {
    currentLive: plaza.liveListStore.state.currentLive,
    audience: { ...audience.state, audienceList: sorted(audience.state.audienceList),
      messageBannedUserList: sorted(audience.state.messageBannedUserList) },
    messages: barrage.state.messageList.map((message) => message.textContent),
    allowSendMessage: barrage.state.allowSendMessage,
    seat: seat.state,
    coGuest: { ...coGuest.state, applicants: [], invitees: [], candidates: [] },
    coHost: { ...coHost.state, applicant: null, invitees: [], candidates: [], candidatesCursor: '' },
    battle: battle.state,
    gift: { ...gift.state, usableGifts: [] },
    like: like.state,
    summary: { ...summary.state.summaryData, totalDuration: 0 },
  };
}

/** Makes a call, and repeats it as long as the server rejects it as too frequent. */
async function withinRate(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (error.codeName !== 'tooFrequent' || error.retryAfter === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter));
    }
  }
}

/** Waits until a condition holds; returns false if it does not hold within a time, in milliseconds. */
async function holds(condition, milliseconds) {
  const end = Date.now() + milliseconds;
  while (!condition()) {
    if (Date.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}
