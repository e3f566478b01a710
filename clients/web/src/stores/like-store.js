// SPDX-License-Identifier: Apache-2.0
import { initial } from '../core/state/like.js';
import { LiveStore, liveStores } from './live-store.js';

/** Over how many milliseconds taps are gathered into one call. */
const gatherTime = 2000;
/** The most likes of one call. */
const maxCount = 1000;

/**
 * The likes of a live. Event: `onReceiveLikesMessage` {liveID, totalLikesReceived, sender, count}. The total is the
 * server's: a tap shows in it when the server has counted it.
 *
 * @extends {LiveStore<import('../index.js').LikeState>}
 */
export class LikeStore extends LiveStore {
  #taps = 0;
  /**
   * The call that the taps gathered now go with.
   *
   * @type {Promise<void> | undefined}
   */
  #gathering;
  #isPaused = false;
  /** @type {Promise<void>} */
  #pause = Promise.resolve();

  /**
   * @param {string} liveID
   * @param {import('../live-session.js').LiveSession} session
   */
  constructor(liveID, session) {
    super(liveID, session, initial());
  }

  /**
   * The store of a live: of the default instance, unless another is named.
   *
   * @param {string} liveID
   * @param {import('../live-plaza.js').LivePlaza} [plaza]
   */
  static create(liveID, plaza) {
    return liveStores(liveID, plaza).like;
  }

  /**
   * Likes. The first tap is sent at once; further ones within two seconds are gathered into one call.
   *
   * @param {{ count?: number }} [taps] at least 1; more than 1,000 in two seconds count as 1,000
   * @returns {Promise<void>} when the server has counted the taps
   * @throws {import('../core/errors.js').PlazaError} `notInRoom`
   */
  sendLike(taps = {}) {
    const { count = 1 } = taps;
    this.#taps = Math.min(maxCount, this.#taps + Math.max(1, Math.floor(count)));
    // What is gathered comes first, because it may still wait to be sent when the pause has just ended.
    if (this.#gathering !== undefined) return this.#gathering;
    if (!this.#isPaused) return this.#send();
    this.#gathering = this.#pause.then(() => this.#send());
    return this.#gathering;
  }

  async #send() {
    const count = this.#taps;
    this.#taps = 0;
    this.#gathering = undefined;
    this.#isPaused = true;
    this.#pause = this.#sleep();
    await this.call('like.send', { count });
  }

  /** @returns {Promise<void>} */
  #sleep() {
    return new Promise((resolve) => {
      this.session.clock.setTimeout(() => {
        this.#isPaused = false;
        resolve();
      }, gatherTime);
    });
  }
}
