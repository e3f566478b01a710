// SPDX-License-Identifier: Apache-2.0
import { BarrageRenderer } from '../barrage/renderer.js';
import { Disposer, h } from '../lib/dom.js';
import { kept, motion } from '../lib/theme.js';
import { StageView } from '../stage/stage-view.js';

/** What rises over the stage when somebody likes the live. */
const loadHearts = async () => (await import('../effects/hearts.js')).Hearts;
/** What follows a battle, which few lives have. */
const loadFollow = async () => (await import('../stage/battle-plan.js')).followBattle;
/** The gifts beside the stage. */
const loadGifts = async () => (await import('../effects/gift-show.js')).GiftShow;

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
    this.view = this.#part(new StageView({ plaza: shell.session.plaza, onSeat: (seat) => page.seat.chosen(seat) }));
    const crossing = h('canvas', { class: 'barrage', 'aria-hidden': 'true' });
    this.rising = h('canvas', { class: 'hearts', 'aria-hidden': 'true' });
    this.element = this.view.element;
    this.element.append(crossing, this.rising);
    this.barrage = this.#part(new BarrageRenderer(crossing));
    // Moving text is what those who reduce motion do not want; the chat has the same messages.
    this.barrage.isShown = kept.get('barrage') ? kept.get('barrage') === 'on' : !motion.matches;

    this.add(list.select(({ currentLive }) => currentLive.backgroundURL || currentLive.coverURL, () => {
      const info = list.state.currentLive;
      if (info.liveID) this.view.showLive(info);
    }));
    this.add(stores.seat.select(({ seatList }) => seatList, () => this.#show()));
    this.add(stores.coHost.select(({ connected }) => connected, () => this.#fight(this.#battle)));
    this.add(stores.battle.subscribe((state) => (state.currentBattleInfo || this.#battle) && this.#follow()));
    this.add(() => clearTimeout(this.#battleTimer));
    this.add(stores.seat.select(({ speakingUsers }) => speakingUsers, (levels) => this.view.speaking(levels)));
    this.listen(stores.gift, 'onReceiveGift', ({ detail }) => this.#gift(detail));
    this.listen(stores.like, 'onReceiveLikesMessage', ({ detail }) => {
      if (detail.sender.userID !== shell.session.user?.userID) void this.showHearts(detail.count);
    });
  }

  /** Shows or hides messages over the stage, and returns which. */
  toggleBarrage() {
    this.barrage.isShown = !this.barrage.isShown;
    kept.set('barrage', this.barrage.isShown ? 'on' : 'off');
    return this.barrage.isShown;
  }

  /** Lets hearts rise. Where they cannot be loaded, the number of likes tells of them. */
  async showHearts(count) {
    const Hearts = await loadHearts().catch(() => {});
    if (!Hearts || this.page.isGone) return;
    this.hearts ??= this.#part(new Hearts(this.rising));
    this.hearts.add(count);
  }

  #part(part) {
    this.add(() => part.dispose());
    return part;
  }

  /** Shows the battle as the store has it. What cannot be loaded is tried again with the next score. */
  async #follow() {
    const follow = await loadFollow().catch(() => {});
    const { isGone, liveID, stores } = this.page;
    if (follow && !isGone) this.#fight(follow(this.#battle, stores.battle.state, liveID, stores.coHost.state.connected));
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
    // Where it cannot be loaded, the chat tells of the gift all the same.
    const GiftShow = await loadGifts().catch(() => {});
    if (!GiftShow || this.page.isGone) return;
    if (!this.gifts) {
      this.gifts = this.#part(new GiftShow(this.barrage));
      this.element.append(this.gifts.element);
    }
    this.gifts.add({ user: sender, gift, count });
  }
}
