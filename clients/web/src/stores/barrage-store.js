// SPDX-License-Identifier: Apache-2.0
import { initial, withTip } from '../core/state/barrage.js';
import { LiveStore, liveStores } from './live-store.js';
import { ReplyCode } from '../core/errors.js';
import { publish } from './store.js';

/**
 * The messages of a live.
 *
 * @extends {LiveStore<import('../index.js').BarrageState>}
 */
export class BarrageStore extends LiveStore {
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
    return liveStores(liveID, plaza).barrage;
  }

  /**
   * Sends a text message to all, oneself included: it enters `messageList` from the feed.
   *
   * @param {{ text: string, extensionInfo?: Record<string, string> }} message at most 12,288 bytes in all
   * @returns {Promise<void>} when the message is kept for good
   * @throws {import('../core/errors.js').PlazaError} `messageTooLong`, `roomMuted`, `userMuted`, `tooFrequent`,
   * `sensitiveWords`,
   *   `droppedByBudget`, `notInRoom`
   */
  async sendTextMessage({ text, extensionInfo }) {
    await this.#send('barrage.sendText', { text, extensionInfo });
  }

  /**
   * Sends a message of the app's own kind.
   *
   * @param {{ businessID: string, data: string }} message `businessID` names the feature; `data` is usually JSON
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} as `sendTextMessage`
   */
  async sendCustomMessage({ businessID, data }) {
    await this.#send('barrage.sendCustom', { businessID, data });
  }

  /**
   * Adds a message to this client's own list, without sending it. That is possible before the live is entered, too:
   * then the message stays when the live is entered, before the live's messages.
   *
   * @param {Partial<import('../index.js').Barrage>} message
   */
  appendLocalTip(message) {
    const last = this.state.messageList[this.state.messageList.length - 1];
    const tip = {
      sender: { userID: '', userName: '', avatarURL: '' }, messageType: 'text', textContent: '', extensionInfo: {},
      businessID: '', data: '', sequence: last?.sequence ?? 0, timestampInSecond: this.session.clock.wall() / 1000,
      ...message,
    };
    if (this.session.liveID === this.liveID) this.session.local(this.liveID, 'local.tip', tip);
    else this[publish](withTip(this.state, this.liveID, tip))();
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  async #send(method, params) {
    try {
      await this.call(method, params);
    } catch (error) {
      if (/** @type {any} */ (error).code === ReplyCode.userMuted) this.session.local(this.liveID, 'local.selfMuted', {});
      throw error;
    }
  }
}
