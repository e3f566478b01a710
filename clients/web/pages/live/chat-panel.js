// SPDX-License-Identifier: Apache-2.0
import { ChatList } from '../chat/chat-list.js';
import { Disposer, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { words } from '../session/session.js';
import { openPerson } from './sheets.js';

/** The chat of a live, and the input line. */
export class ChatPanel extends Disposer {
  /** The number of the last shown message, so that no message is shown twice. */
  #last = 0;

  constructor(page) {
    super();
    this.page = page;
    const { stores, list, shell } = page;
    this.chat = new ChatList((user) => openPerson(page, user));
    this.add(() => this.chat.dispose());
    this.element = this.chat.element;
    this.input = h('input', { class: 'input', name: 'text', autocomplete: 'off', maxlength: '500', placeholder: 'chat.placeholder', label: 'chat.placeholder', enterkeyhint: 'send' });
    this.sendButton = h('button', { class: 'button round primary', type: 'submit', label: 'chat.send', title: 'chat.send' }, icon('send'));
    this.composer = h('div', { class: 'composer' },
      h('form', { on: { submit: (event) => this.#send(event) } }, this.input, this.sendButton));

    const { notice } = list.state.currentLive;
    if (notice) this.chat.add({ kind: 'welcome', text: notice });
    this.add(stores.barrage.select(({ messageList }) => messageList, (messages) => this.#messages(messages)));
    this.add(stores.barrage.select(({ allowSendMessage }) => allowSendMessage, () => this.#permission()));
    this.add(list.select(({ currentLive }) => currentLive.isMessageDisable, () => this.#permission()));
    this.add(onLanguage(() => this.#permission()));
    this.listen(stores.gift, 'onReceiveGift', ({ detail: { sender, gift, count } }) => {
      this.chat.add({ kind: 'gift', user: sender, gift, count, isOwn: this.#isOwn(sender), role: this.#role(sender) });
    });
    this.listen(stores.audience, 'onAudienceJoined', ({ detail }) => this.chat.add({ kind: 'tip', key: 'chat.joined', user: detail.audience }));
    this.listen(stores.audience, 'onAudienceLeft', ({ detail }) => this.chat.add({ kind: 'tip', key: 'chat.left', user: detail.audience }));
    this.listen(stores.audience, 'onAudienceMessageDisabled', ({ detail: { audience, isDisable } }) => {
      this.#note(isDisable ? 'chat.muted' : 'chat.unmuted', { name: nameOf(audience) });
    });
    this.#followAdmins();
    shell.session.wire.onGap = (count) => this.#note('chat.gap', { count });
    this.add(() => { shell.session.wire.onGap = () => {}; });
  }

  /** Shows changes of states as messages: admins who come and go, and the omission of tips. */
  #followAdmins() {
    let admins;
    this.add(this.page.list.select(({ currentLive }) => currentLive.admins, (next) => {
      if (this.page.list.state.currentLive.liveID !== this.page.liveID) return;
      const known = new Map(this.page.stores.audience.state.audienceList.map((user) => [user.userID, user]));
      const name = (userID) => nameOf(known.get(userID) ?? { userID });
      for (const userID of admins ? next.filter((admin) => !admins.includes(admin)) : []) this.#note('chat.admin', { name: name(userID) });
      for (const userID of admins ? admins.filter((admin) => !next.includes(admin)) : []) this.#note('chat.noAdmin', { name: name(userID) });
      admins = next;
    }));
    const { wire } = this.page.shell.session;
    wire.onTips = (isDegraded) => this.#note(isDegraded ? 'chat.degraded' : 'chat.complete');
    this.add(() => { wire.onTips = () => {}; });
    // The server may have sent this state before the panel existed.
    if (wire.isDegraded) this.#note('chat.degraded');
  }

  #note(key, values) {
    this.chat.add({ kind: 'note', key, values });
  }

  #isOwn(user) {
    return user.userID === this.page.shell.session.user?.userID;
  }

  #role(user) {
    const { liveOwner, admins } = this.page.list.state.currentLive;
    return liveOwner.userID === user.userID ? 'owner' : admins.includes(user.userID) ? 'admin' : undefined;
  }

  #messages(messages) {
    // New messages are always at the end of the list, except the history, which is received first.
    const fresh = [];
    for (let index = messages.length - 1; index >= 0 && messages[index].sequence > this.#last; index -= 1) fresh.unshift(messages[index]);
    for (const message of fresh) {
      if (message.messageType !== 'text') continue;
      const isOwn = this.#isOwn(message.sender);
      this.chat.add({ kind: 'text', user: message.sender, text: message.textContent, isOwn, role: this.#role(message.sender), sequence: message.sequence });
      this.page.stage?.barrage.show(message.textContent, { isOwn });
    }
    if (messages.length > 0) this.#last = Math.max(this.#last, messages[messages.length - 1].sequence);
  }

  #permission() {
    const { allowSendMessage } = this.page.stores.barrage.state;
    const { isMessageDisable } = this.page.list.state.currentLive;
    this.input.disabled = !allowSendMessage;
    this.sendButton.disabled = !allowSendMessage;
    this.input.placeholder = t(allowSendMessage ? 'chat.placeholder' : isMessageDisable ? 'chat.roomMuted' : 'chat.youMuted');
  }

  async #send(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    this.input.value = '';
    try {
      await this.page.stores.barrage.sendTextMessage({ text });
    } catch (error) {
      if (!this.input.value) this.input.value = text;
      this.page.shell.say(t('chat.notSent', { reason: words(error) }));
    }
  }
}
