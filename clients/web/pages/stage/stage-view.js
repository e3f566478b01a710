// SPDX-License-Identifier: Apache-2.0
import { avatar, hueClass, image, imageAddress } from '../lib/avatar.js';
import { fill, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { place, stagePlan } from './stage-plan.js';

/** The view of a battle, loaded when it is first needed, because few lives have one. */
const loadBattle = async () => (await import('./battle-view.js')).BattleView;

/**
 * The stage: the server's canvas, with a tile for each of its regions.
 *
 * There are two layers. The back layer shows what a media engine would draw, here each user's avatar with the speaking
 * level. The front layer shows names, devices, free seats and the battle, so that no picture covers them.
 */
export class StageView {
  #tiles = new Map();
  #plates = new Map();
  #levels = {};
  #own = {};
  #stage;
  #battle;
  #isGone = false;
  #endLanguage;

  /** @param {{ onSeat?: (seat: object) => void, plaza: import('../../src/index.js').LivePlaza }} options */
  constructor({ onSeat, plaza }) {
    this.onSeat = onSeat;
    this.back = h('div', { class: 'layer layer-back', 'aria-hidden': 'true' });
    this.front = h('ul', { class: 'layer layer-front', label: 'live.seats' });
    this.plaza = plaza;
    this.canvas = h('div', { class: 'canvas' }, this.back, this.front);
    this.glow = h('div', { class: 'stage-glow', 'aria-hidden': 'true' });
    this.element = h('section', { class: 'stage', label: 'live.stage' }, this.glow, this.canvas);
    this.#endLanguage = onLanguage(() => {
      if (this.#stage) this.show(this.#stage);
      this.battle?.show(this.#battle);
    });
  }

  /** Shows the colours of a live until its stage is known. */
  showLive(info) {
    this.glow.className = `stage-glow ${hueClass(info.liveID)}`;
    const address = imageAddress(info.backgroundURL || info.coverURL);
    fill(this.glow, address && image(address));
  }

  /** @param {Parameters<typeof stagePlan>[0] & { canvas: { w: number, h: number } }} stage */
  show(stage) {
    this.#stage = stage;
    const { canvas } = stage;
    if (!canvas.w || !canvas.h) return;
    this.canvas.style.setProperty('--ratio', String(canvas.w / canvas.h));
    this.element.classList.toggle('upper', canvas.w / canvas.h > 0.7);
    const plan = stagePlan(stage);
    const keys = new Set(plan.map(({ key }) => key));
    for (const map of [this.#tiles, this.#plates]) {
      for (const [key, element] of map) {
        if (keys.has(key)) continue;
        element.remove();
        map.delete(key);
      }
    }
    for (const entry of plan) {
      this.#showTile(entry, canvas, plan.length);
      this.#showPlate(entry, canvas);
    }
    this.#showLevels();
  }

  /** Shows a battle; undefined hides it. @param {import('./battle-plan.js').ShownBattle | undefined} battle */
  async showBattle(battle) {
    this.#battle = battle;
    if (!this.battle && !battle) return;
    // If the load fails, the seats show the scores all the same, and the next score tries again.
    const BattleView = await loadBattle().catch(() => {});
    if (!BattleView || this.#isGone) return;
    if (!this.battle) {
      this.battle = new BattleView(this.plaza);
      this.canvas.append(this.battle.element);
    }
    this.battle.show(this.#battle);
  }

  /** @param {Record<string, number>} levels 1 to 100 by user; users without a level are silent */
  speaking(levels) {
    this.#levels = levels;
    this.#showLevels();
  }

  /** Shows the level of the user's own microphone, until the level is undefined. */
  ownSpeaking(userID, level) {
    this.#own = { [userID]: level };
    this.#showLevels();
  }

  dispose() {
    this.#endLanguage();
    this.#isGone = true;
    this.battle?.dispose();
  }

  #showLevels() {
    for (const tile of this.#tiles.values()) {
      tile.style.setProperty('--level', String((this.#own[tile.dataset.user] ?? this.#levels[tile.dataset.user] ?? 0) / 100));
    }
  }

  #showTile({ key, seat, user, float }, canvas, count) {
    let tile = this.#tiles.get(key);
    if (!tile) {
      tile = h('div', { class: 'tile' });
      this.#tiles.set(key, tile);
      this.back.append(tile);
    }
    for (const [name, value] of Object.entries(place(seat.region, canvas, float))) tile.style.setProperty(name, value);
    tile.className = `tile ${user ? hueClass(user.userID) : 'empty'}${count === 1 ? ' single' : ''}`;
    tile.classList.toggle('float', float !== undefined);
    const face = user ? `${user.userID}\n${user.userName}\n${user.avatarURL}` : '';
    if (tile.dataset.face === face) return;
    tile.dataset.face = face;
    tile.dataset.user = user?.userID ?? '';
    fill(tile, user && h('div', { class: 'face' }, avatar(user, 'tile')));
  }

  #showPlate(entry, canvas) {
    const { key, seat, user, isCoHost, isOwner, score, float } = entry;
    let plate = this.#plates.get(key);
    if (!plate) {
      plate = h('li', {});
      this.#plates.set(key, plate);
      this.front.append(plate);
    }
    for (const [name, value] of Object.entries(place(seat.region, canvas, float))) plate.style.setProperty(name, value);
    const signature = JSON.stringify([user, seat.isLocked, isCoHost, isOwner, score, float, document.documentElement.lang]);
    if (plate.dataset.signature === signature) return;
    plate.dataset.signature = signature;
    plate.className = `plate${user ? '' : ' empty'}${score === undefined ? '' : ' scored'}${float === undefined ? '' : ' float'}`;
    // An empty seat of another live cannot be taken.
    plate.setAttribute('aria-hidden', String(!user && isCoHost));
    fill(plate, user ? this.#name(entry) : !isCoHost && this.#emptySeat(entry));
  }

  #name({ user, isCoHost, isOwner, score }) {
    const isMuted = user.microphoneStatus === 'off';
    const isFilmed = user.cameraStatus === 'on';
    const isAway = user.userSuspendStatus !== 'none';
    const role = isCoHost && isOwner ? 'seat.coHost' : isOwner ? 'live.host' : user.role === 'admin' ? 'live.admin' : undefined;
    const name = nameOf(user);
    const label = [name, role && t(role), isMuted && t('seat.muted'), isFilmed && t('seat.filmed'),
      isAway && t('seat.away')].filter(Boolean).join(', ');
    const tag = h('span', { class: 'plate-name' }, h('span', {}, name), isMuted && icon('micOff'), isFilmed && icon('camera'), isAway && icon('moon'));
    const row = h('div', { class: 'plate-row' },
      role && h('span', { class: `plate-role${isCoHost || !isOwner ? ' second' : ''}`, 'aria-hidden': 'true' }, t(role)), tag);
    const content = [h('span', { class: 'only-read' }, label), row];
    tag.setAttribute('aria-hidden', 'true');
    if (score !== undefined) content.push(h('span', { class: 'plate-score numbers' }, String(score)));
    return content;
  }

  #emptySeat({ seat }) {
    const number = seat.index + 1;
    const isLocked = seat.isLocked;
    return h('button', {
      class: 'seat-button', type: 'button', disabled: !this.onSeat,
      'aria-label': t(isLocked ? 'seat.locked' : 'seat.empty', { number }),
      on: { click: () => this.onSeat?.(seat) },
    }, icon(isLocked ? 'lock' : 'seat'), h('span', { 'aria-hidden': 'true' }, String(number)));
  }
}
