// SPDX-License-Identifier: Apache-2.0
import { fill, h, setText } from '../lib/dom.js';
import { clock as clockText, nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { t } from '../lib/i18n.js';
import { battleState } from './battle-plan.js';

/** How long a result is shown over the stage, in milliseconds. The seats show scores until the server removes them. */
const resultLasts = 6000;

/** The bar of a battle, its countdown, and its result. */
export class BattleView {
  #timer = 0;
  #battle;
  #shownID;
  #resultTimer = 0;

  /** @param {import('../../src/index.js').LivePlaza} plaza the countdown uses its server's clock */
  constructor(plaza) {
    this.plaza = plaza;
    this.track = h('div', { class: 'battle-track', role: 'img' });
    this.time = h('span', { class: 'numbers', role: 'timer' });
    this.clockElement = h('div', { class: 'battle-clock' }, icon('battle'), this.time);
    this.bar = h('div', { class: 'battle' }, this.track, this.clockElement);
    this.result = h('div', { class: 'battle-result', role: 'status' });
    this.element = h('div', { class: 'layer layer-front battle-layer', hidden: true }, this.bar, this.result);
  }

  /** @param {import('./battle-plan.js').ShownBattle | undefined} battle */
  show(battle) {
    const ended = battle?.isOver === true && this.#battle?.isOver === false && this.#battle.id === battle.id;
    this.#battle = battle;
    this.element.hidden = !battle;
    clearInterval(this.#timer);
    if (!battle) return fill(this.result);
    if (battle.id !== this.#shownID) fill(this.result);
    this.#shownID = battle.id;
    const state = battleState(battle, +this.plaza.serverTime);
    while (this.track.childElementCount < state.sides.length) this.track.append(h('div', { class: 'battle-side numbers' }));
    while (this.track.childElementCount > state.sides.length) this.track.lastElementChild.remove();
    const named = state.sides.map((side) => t('battle.score', { name: nameOf(side.user), score: side.score }));
    this.track.setAttribute('aria-label', t('battle.bar', { scores: named.join('; ') }));
    state.sides.forEach((side, index) => {
      const element = this.track.children[index];
      element.style.setProperty('--share', String(side.share));
      element.classList.toggle('left', side.hasLeft);
      setText(element, side.score);
    });
    this.#tick();
    if (!battle.isOver) this.#timer = setInterval(() => this.#tick(), 250);
    if (ended) this.#showResult(state);
  }

  dispose() {
    clearInterval(this.#timer);
    clearTimeout(this.#resultTimer);
  }

  #tick() {
    const { isOver } = this.#battle;
    const { left } = battleState(this.#battle, +this.plaza.serverTime);
    setText(this.time, isOver ? t('battle.over') : clockText(left + 999));
    this.clockElement.classList.toggle('last', !isOver && left < 10_000);
  }

  #showResult({ winner }) {
    const text = winner ? t('battle.winner', { name: nameOf(winner.user) }) : t('battle.draw');
    fill(this.result, text);
    clearTimeout(this.#resultTimer);
    this.#resultTimer = setTimeout(() => fill(this.result), resultLasts);
  }
}
