// SPDX-License-Identifier: Apache-2.0
import { closeDialogs, Disposer, fill, h } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { bindText, t } from '../lib/i18n.js';
import { words } from '../session/session.js';
import { ChatPanel } from './chat-panel.js';
import { LiveHead } from './live-head.js';
import { SeatActions } from './seat-actions.js';
import { SideTabs } from './side-tabs.js';
import { StagePanel } from './stage-panel.js';
import { openGifts } from './sheets.js';

/** The list of viewers. */
const loadAudience = async () => (await import('./audience-panel.js')).AudiencePanel;
/** The panel for owner and admins. */
const loadManage = async () => (await import('../host/manage-panel.js')).ManagePanel;
/** The product card, which few lives have. */
const loadProduct = async () => (await import('./product-card.js')).ProductCard;

/** The screen after a live. */
const loadEnding = async () => (await import('./ending.js')).Ending;

/** The page of a live: stage, chat, audience; for owner and admins also the panel that manages it. */
export class LivePage extends Disposer {
  /** Whether the live has ended for this user, or the user has left the page. */
  isGone = false;

  constructor(shell, { live }) {
    super();
    this.shell = shell;
    this.liveID = live;
    this.stores = shell.session.plaza.live(live);
    this.list = shell.session.plaza.liveListStore;
    this.status = h('p', { class: 'blank', role: 'status', t: 'live.joining' });
    this.element = h('div', { class: 'live' }, this.status);
    // The live may end while the parts of the page are loaded.
    this.listen(this.list, 'onLiveEnded', ({ detail }) => detail.liveID === this.liveID && this.#ended(detail));
    this.listen(this.list, 'onKickedOutOfLive', ({ detail }) => detail.liveID === this.liveID && this.#ended({ ...detail, isKick: true }));
    void this.#enter();
  }

  /** The user's permissions in the live. */
  get role() {
    const { liveOwner, admins } = this.list.state.currentLive;
    const self = this.shell.session.user?.userID;
    if (self === undefined) return 'viewer';
    return liveOwner.userID === self ? 'owner' : admins.includes(self) ? 'admin' : 'viewer';
  }

  get isHost() {
    return this.role !== 'viewer';
  }

  async #enter() {
    try {
      await this.shell.session.enter(this.liveID);
      // The panel is loaded before the first application can arrive. If the load fails, the live is entered all the
      // same, and `#later` tries again.
      if (this.isHost) await loadManage().catch(() => {});
      if (!this.isGone) this.#show();
    } catch (error) {
      if (!this.isGone) this.#showNothingBut(t('live.joinFailed', { reason: words(error) }));
    }
  }

  #showNothingBut(text) {
    document.body.classList.remove('in-live');
    fill(this.element, h('div', { class: 'blank' }, h('div', { role: 'alert' }, h('h1', {}, text)),
      h('p', {}, h('a', { class: 'button', href: '#/', t: 'live.back' }))));
    this.shell.drawTitle();
  }

  dispose() {
    this.isGone = true;
    closeDialogs();
    super.dispose();
  }

  #show() {
    const { shell } = this;
    this.chat = this.#part(new ChatPanel(this));
    const audience = h('div', {});
    this.manageBody = h('div', {});
    this.stage = this.#part(new StagePanel(this));
    this.head = this.#part(new LiveHead(this));
    this.seat = this.#part(new SeatActions(this));
    const product = h('div', {});
    const panels = [
      { key: 'chat.title', element: this.chat.element },
      { key: 'audience.title', element: audience, opened: () => this.#later('audience', loadAudience, audience) },
      { key: 'host.panel', element: this.manageBody },
    ];
    this.side = new SideTabs(panels, this.chat.composer);
    const like = h('button', { class: 'button round', type: 'button', label: 'live.like', title: 'live.like', on: { click: () => this.#like() } }, icon('heart'));
    const gift = h('button', { class: 'button round', type: 'button', label: 'live.gift', on: { click: () => (gift.ariaDisabled === 'true' ? shell.say(t('gift.off')) : openGifts(this)) } }, icon('gift'));
    const barrage = h('button', { class: 'button round', type: 'button', 'aria-pressed': String(this.stage.barrage.isShown), label: 'live.barrageOn', title: 'live.barrageOn', on: { click: () => {
      barrage.setAttribute('aria-pressed', String(this.stage.toggleBarrage()));
    } } }, icon('text'));
    const people = h('button', { class: 'button round phone-only', type: 'button', label: 'audience.title', on: { click: () => this.side.open(1, people) } }, icon('users'));
    this.manageButton = h('button', { class: 'button round phone-only', type: 'button', label: 'host.panel', on: { click: () => this.side.open(2, this.manageButton) } }, icon('shield'));
    this.element.replaceChildren(
      h('div', { class: 'live-main' }, this.head.element, this.stage.element,
        h('div', { class: 'live-foot' }, product,
          h('div', { class: 'actions acts' }, this.seat.element, like, gift, barrage, people, this.manageButton))),
      this.side.element);
    this.add(this.list.select(({ currentLive }) => currentLive, () => this.#roleChanged()));
    this.add(this.stores.gift.select(({ isGiftEnabled }) => isGiftEnabled, (isOn) => {
      gift.ariaDisabled = String(!isOn);
      bindText(gift, 'title', isOn ? 'live.gift' : 'gift.off');
    }));
    // The key is defined here, because the module of the card is not loaded yet.
    this.add(this.list.select(({ currentLive }) => Boolean(currentLive.metaData['product-name']), (hasProduct) => {
      if (hasProduct) void this.#later('product', loadProduct, product);
    }));
    shell.session.wire.onResumed = (replayed) => shell.say(t(replayed ? 'state.resumed' : 'state.resumedGap'));
    this.add(() => { shell.session.wire.onResumed = () => {}; });
    // The end screen is loaded in advance: when the live ends, the gateway may not be reachable.
    void loadEnding().catch(() => {});
  }

  #part(part) {
    this.add(() => part.dispose());
    return part;
  }

  #roleChanged() {
    if (this.list.state.currentLive.liveID !== this.liveID) return;
    this.side.setVisible(2, this.isHost);
    this.manageButton.hidden = !this.isHost;
    if (this.isHost) void this.#later('manage', loadManage, this.manageBody);
  }

  /** Loads a part that not every visit needs, once, and puts it in place of an empty element. */
  async #later(name, load, empty) {
    try {
      const Part = await load();
      if (this.isGone || this[name]) return;
      this[name] = this.#part(new Part(this));
      empty.replaceWith(this[name].element);
    } catch (error) {
      this.shell.fail(error);
    }
  }

  #like() {
    void this.stage.showHearts(1);
    this.stores.like.sendLike().catch((error) => this.shell.fail(error));
  }

  async #ended(detail) {
    this.dispose();
    try {
      const Ending = await loadEnding();
      // The user has left the page meanwhile.
      if (!this.element.isConnected) return;
      const { element } = new Ending(detail, () => this.shell.router.go({ page: 'live', live: this.liveID }));
      fill(this.element, element);
      this.shell.drawTitle();
      document.body.classList.remove('in-live');
      element.querySelector('h1')?.focus();
    } catch {
      if (this.element.isConnected) this.#showNothingBut(t(detail.isKick ? 'live.out' : 'live.ended'));
    }
  }
}
