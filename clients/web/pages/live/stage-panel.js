// SPDX-License-Identifier: Apache-2.0
import { BarrageRenderer } from '../barrage/renderer.js';
import { Hearts } from '../effects/hearts.js';
import { Disposer, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { lazily } from '../lib/lazy.js';
import { kept, motion } from '../lib/theme.js';
import { followBattle } from '../stage/stage-plan.js';
import { StageView } from '../stage/stage-view.js';

/** The gifts beside the stage. */
const loadGifts = lazily(async () => (await import('../effects/gift-show.js')).GiftShow);

/** How long a battle that is over stays on the stage after the hosts have parted, in milliseconds. */
const battleLasts = 8000;

/** The stage with what crosses and rises over it. */
export class StagePanel extends Disposer {
  #battle;
  #battleTimer = 0;

  constructor(page) {
    super();
    this.page = page;
    const { stores, list, shell } = page;
    this.view = new StageView({ plaza: shell.session.plaza, onSeat: (seat) => page.seat.chosen(seat) });
    const crossing = h('canvas', { class: 'barrage', 'aria-hidden': 'true' });
    const rising = h('canvas', { class: 'hearts', 'aria-hidden': 'true' });
    this.element = this.view.element;
    this.element.append(crossing, rising);
    this.barrage = new BarrageRenderer(crossing);
    // Moving text is what those who reduce motion do not want; the chat has the same messages.
    this.barrage.isShown = kept.get('barrage') ? kept.get('barrage') === 'on' : !motion.matches;
    this.hearts = new Hearts(rising);
    for (const part of [this.view, this.barrage, this.hearts]) this.add(() => part.dispose());

    this.add(list.select(({ currentLive }) => currentLive.backgroundURL || currentLive.coverURL, () => {
      const info = list.state.currentLive;
      if (info.liveID) this.view.showLive(info);
    }));
    this.add(stores.seat.select(({ seatList }) => seatList, () => this.#show()));
    this.add(stores.coHost.select(({ connected }) => connected, () => this.#fight(this.#battle)));
    this.add(stores.battle.subscribe((state) => this.#fight(followBattle(this.#battle, state))));
    this.add(() => clearTimeout(this.#battleTimer));
    this.add(stores.seat.select(({ speakingUsers }) => speakingUsers, (levels) => this.view.speaking(levels)));
    this.listen(stores.gift, 'onReceiveGift', ({ detail }) => this.#gift(detail));
    this.listen(stores.like, 'onReceiveLikesMessage', ({ detail }) => {
      if (detail.sender.userID !== shell.session.user?.userID) this.hearts.add(detail.count);
    });
  }

  /** Shows or hides messages over the stage, and returns which. */
  toggleBarrage() {
    this.barrage.isShown = !this.barrage.isShown;
    kept.set('barrage', this.barrage.isShown ? 'on' : 'off');
    return this.barrage.isShown;
  }

  /** Shows a battle, or none. One that is over stays for as long as its hosts are connected. */
  #fight(battle) {
    this.#battle = battle;
    void this.view.showBattle(battle);
    this.view.canvas.classList.toggle('fighting', battle !== undefined);
    this.#show();
    clearTimeout(this.#battleTimer);
    const isAlone = this.page.stores.coHost.state.connected.length === 0;
    if (battle?.isOver && isAlone) this.#battleTimer = setTimeout(() => this.#fight(undefined), battleLasts);
  }

  #show() {
    const { seatList, canvas } = this.page.stores.seat.state;
    const { connected } = this.page.stores.coHost.state;
    const scores = this.#battle && Object.fromEntries(this.#battle.sides.map(({ user, score }) => [user.userID, score]));
    this.view.show({ liveID: this.page.liveID, seatList, canvas, hosts: connected, scores });
  }

  async #gift({ sender, gift, count }) {
    this.barrage.show(t('gift.sent', { name: nameOf(sender), count, gift: gift.name }), { isGift: true });
    // Where it cannot be loaded, the chat tells of the gift all the same.
    const GiftShow = await loadGifts().catch(() => {});
    if (!GiftShow || !this.element.isConnected) return;
    if (!this.gifts) {
      this.gifts = new GiftShow();
      this.add(() => this.gifts.dispose());
      this.element.append(this.gifts.element);
    }
    this.gifts.add({ user: sender, gift, count });
  }
}
