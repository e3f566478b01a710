// SPDX-License-Identifier: Apache-2.0

/** Sets a store's state and tells its subscribers. Not for apps, which read states only. */
export const publish = Symbol('publish');
/** Dispatches an event of a store. Not for apps. */
export const emit = Symbol('emit');

/**
 * An event of a store: its `type` is the name of PROTOCOL's family, such as `onAudienceJoined`, its `detail` the
 * payload.
 */
export class StoreEvent extends Event {
  /**
   * @param {string} type
   * @param {any} detail
   */
  constructor(type, detail) {
    super(type);
    /** @readonly */
    this.detail = detail;
  }
}

/**
 * A state that can be observed, and events.
 *
 * The state is a plain object that is never changed: each change is a new object, in which what did not change is the
 * same as before. Events are told after the state shows what they say; who subscribes later does not get them.
 *
 * @template State
 */
export class Store extends EventTarget {
  /** @type {State} */
  #state;
  /** What calls each subscriber, unless it knows the state. @type {Set<() => void>} */
  #listeners = new Set();

  /** @param {State} initial */
  constructor(initial) {
    super();
    this.#state = initial;
  }

  /** The present state. */
  get state() {
    return this.#state;
  }

  /**
   * Calls a function with the state, now and after each change.
   *
   * @param {(state: State) => void} listener
   * @returns {() => void} ends the subscription
   */
  subscribe(listener) {
    // Each subscription is its own, also when the same function is given twice. One that is made after a change is
    // shown and before it is told begins with it, and is not told of it again.
    let last = /** @type {{ state: State } | undefined} */ (undefined);
    const own = () => {
      if (last !== undefined && Object.is(last.state, this.#state)) return;
      last = { state: this.#state };
      call(listener, this.#state);
    };
    this.#listeners.add(own);
    own();
    return () => void this.#listeners.delete(own);
  }

  /**
   * Calls a function with a part of the state, now and whenever that part changes.
   *
   * @template Part
   * @param {(state: State) => Part} selector
   * @param {(part: Part) => void} listener
   * @returns {() => void} ends the subscription
   */
  select(selector, listener) {
    let last = /** @type {{ part: Part } | undefined} */ (undefined);
    return this.subscribe((state) => {
      const part = selector(state);
      if (last !== undefined && Object.is(last.part, part)) return;
      last = { part };
      listener(part);
    });
  }

  /**
   * @param {State} state
   * @returns {() => void} tells the subscribers, if the state is another one
   */
  [publish](state) {
    if (Object.is(state, this.#state)) return () => {};
    this.#state = state;
    return () => {
      for (const own of [...this.#listeners]) if (this.#listeners.has(own)) own();
    };
  }

  /**
   * @param {string} type
   * @param {any} detail
   */
  [emit](type, detail) {
    this.dispatchEvent(new StoreEvent(type, detail));
  }
}

/**
 * Calls a subscriber. Its error is reported and does not keep others from being called.
 *
 * @template Value
 * @param {(value: Value) => void} listener
 * @param {Value} value
 */
function call(listener, value) {
  try {
    listener(value);
  } catch (error) {
    if (typeof globalThis.reportError === 'function') globalThis.reportError(error);
    else console.error(error);
  }
}
