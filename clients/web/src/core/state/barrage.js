// SPDX-License-Identifier: Apache-2.0
import { userInfo } from '../models.js';
import { text, textMap } from '../read.js';

/** How many messages a client keeps; the oldest are dropped. */
export const maxMessages = 1000;

/** @typedef {import('../../index.js').BarrageState} State */

/** @returns {State} */
export const initial = () => ({ messageList: [], allowSendMessage: true });

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, input, context) {
  const message = messageOf(input, context.liveID);
  const allowSendMessage = maySend(context);
  if (message === undefined) return allowSendMessage === state.allowSendMessage ? state : { ...state, allowSendMessage };
  return { messageList: added(state.messageList, message), allowSendMessage };
}

/**
 * A list with one more message.
 *
 * @param {State['messageList']} list
 * @param {import('../../index.js').Barrage} message
 */
function added(list, message) {
  // A history comes before what is there already. A local tip has no number of its own and stays where it was put.
  let at = list.length;
  if (!message.isLocal) while (at > 0 && !list[at - 1].isLocal && list[at - 1].sequence > message.sequence) at -= 1;
  return [...list.slice(0, at), message, ...list.slice(at)].slice(-maxMessages);
}

/**
 * The state of a live that the client is not in, with one more message of the app's own.
 *
 * @param {State} state
 * @param {string} liveID
 * @param {object} message
 * @returns {State}
 */
export function withTip(state, liveID, message) {
  return { ...state, messageList: added(state.messageList, tipOf(liveID, message)) };
}

/**
 * @param {import('../live-fold.js').Input} input
 * @param {string} liveID
 * @returns {import('../../index.js').Barrage | undefined}
 */
function messageOf({ type, body, n, at }, liveID) {
  const common = { liveID, sequence: n ?? 0, timestampInSecond: (at ?? 0) / 1000, isLocal: false };
  switch (type) {
    case 'item.text':
      return {
        ...common, sender: userInfo(body.sender), messageType: 'text', textContent: text(body.text, 'text'),
        extensionInfo: textMap(body.extensionInfo, 'extensionInfo'), businessID: '', data: '',
      };
    case 'item.custom':
      return {
        ...common, sender: userInfo(body.sender), messageType: 'custom', textContent: '', extensionInfo: {},
        businessID: text(body.businessID, 'businessID'), data: text(body.data, 'data'),
      };
    case 'local.tip':
      return tipOf(liveID, body);
    default:
      return undefined;
  }
}

/**
 * @param {string} liveID
 * @param {object} message
 * @returns {import('../../index.js').Barrage}
 */
function tipOf(liveID, message) {
  return /** @type {any} */ ({ sequence: 0, timestampInSecond: 0, ...message, liveID, isLocal: true });
}

/**
 * Whether the server would take a message of this user: neither the live nor the user is muted, or the user is a host.
 *
 * @param {import('../live-fold.js').Context} context
 */
function maySend({ selfID, states }) {
  const { info } = states.live;
  if (selfID === info.liveOwner.userID || info.admins.includes(selfID)) return true;
  return !info.isMessageDisable && !states.audience.messageBannedUserList.some((user) => user.userID === selfID);
}
