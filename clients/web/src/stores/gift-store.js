// SPDX-License-Identifier: Apache-2.0
import { initial } from '../core/state/gift.js';
import { LiveStore, liveStores } from './live-store.js';

/**
 * The gifts of a live. Event: `onReceiveGift` {liveID, gift, count, sender, receivers}, also of one's own gifts: a
 * sender shows the animation from the event.
 *
 * @extends {LiveStore<import('../index.js').GiftState>}
 */
export class GiftStore extends LiveStore {
  /** @type {string | undefined} */
  #language;

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
    return liveStores(liveID, plaza).gift;
  }

  /**
   * Reads the app's gifts into `usableGifts`, which are never read by themselves.
   *
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `notInRoom`: enter the live first
   */
  async refreshUsableGifts() {
    const params = this.#language === undefined ? {} : { language: this.#language };
    await this.showList('gifts', () => this.session.call('gift.list', params));
  }

  /**
   * Sends a gift.
   *
   * @param {{ giftID: string, count?: number, receivers?: readonly string[] }} order `count` is 1 to 255 for each
   * receiver;
   *   without receivers it is for the owner
   * @returns {Promise<void>} when the gift is kept for good
   * @throws {import('../core/errors.js').PlazaError} `giftsNotEnabled`, `noSuchGift`, `giftsOffInLive`,
   * `giftCheckFailed`, and the
   *   app's own codes 102100 to 102200
   */
  async sendGift({ giftID, count = 1, receivers }) {
    await this.call('gift.send', { gift: giftID, count, receivers });
  }

  /**
   * The language of names and descriptions, from the next refresh on.
   *
   * @param {string} language such as `en` or `zh-CN`
   */
  setLanguage(language) {
    this.#language = language;
  }

  /**
   * Turns gifts on or off in this live; for owner and admins.
   *
   * @param {{ isEnabled: boolean }} change
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `needsOwnerOrAdmin`
   */
  async setGiftEnabled({ isEnabled }) {
    await this.call('live.update', { isGiftEnabled: isEnabled });
  }
}
