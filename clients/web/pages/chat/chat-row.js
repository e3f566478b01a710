// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { t } from '../lib/i18n.js';

/**
 * Makes one row of the chat.
 *
 * @param {object} message
 *   `{kind: 'text', user, text, role?, isOwn?}`, `{kind: 'gift', user, gift, count, isOwn?}`,
 * `{kind: 'tip', key, user}` (a user has come or left), `{kind: 'note', key, values?}`, `{kind: 'welcome', text}`
 * @param {(user: object) => void} [onUser] if given, the sender's name is a button that calls it
 */
export function chatRow(message, onUser) {
  const { kind, user } = message;
  if (kind === 'tip') return h('div', { class: 'chat-row tip' }, bubble(t(message.key, { name: nameOf(user) })));
  if (kind === 'note') return h('div', { class: 'chat-row note' }, bubble(t(message.key, message.values)));
  if (kind === 'welcome') return h('div', { class: 'chat-row welcome' }, bubble(message.text));
  const isOwn = message.isOwn ? ' own' : '';
  const badge = message.role === 'owner' || message.role === 'admin'
    ? h('span', { class: `badge ${message.role === 'owner' ? 'hot' : 'second'}` }, t(message.role === 'owner' ? 'live.host' : 'live.admin'))
    : undefined;
  if (kind === 'gift') {
    const text = t('chat.gift', { count: message.count, gift: message.gift.name });
    return h('div', { class: `chat-row gift${isOwn}` }, bubble(badge, sender(user, onUser), text));
  }
  return h('div', { class: `chat-row${isOwn}` }, bubble(badge, sender(user, onUser), message.text));
}

function bubble(...children) {
  return h('span', { class: 'bubble' }, ...children);
}

function sender(user, onUser) {
  const name = nameOf(user);
  if (!onUser) return h('span', { class: 'who' }, `${name} `);
  // The names are not reachable with the Tab key: in a busy chat new names come faster than Tab passes them. The
  // audience list has the same people.
  return h('button', { class: 'who name-button', type: 'button', tabindex: '-1', on: { click: () => onUser(user) } }, name);
}
