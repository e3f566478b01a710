// SPDX-License-Identifier: Apache-2.0
import { fill, h, setText } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { linePath, niceTop, thinned, valueOf } from './chart-plan.js';
import { figure } from './figures.js';

const space = 'http://www.w3.org/2000/svg';
const width = 300;
const height = 80;
const minutes = 15;

/** A chart of the last 15 minutes. Screen readers ignore the drawing, because its last value is text beside it. */
export class Chart {
  #lines = [];

  /**
   * @param {string} title a key of the texts
   * @param {{field: string, t?: string}[]} series at most five fields of the samples (`valueOf`); if there are several,
   *   each has a key of the texts
   * @param {string} [unit] a key of the texts
   */
  constructor(title, series, unit) {
    this.series = series;
    this.unit = unit;
    this.values = series.map(() => h('span', { class: 'chart-value numbers' }));
    const svg = document.createElementNS(space, 'svg');
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('aria-hidden', 'true');
    for (const index of series.keys()) {
      const path = document.createElementNS(space, 'path');
      path.setAttribute('class', `chart-line chart-line-${index}`);
      svg.append(path);
      this.#lines.push(path);
    }
    this.top = h('span', { class: 'chart-top numbers', 'aria-hidden': 'true' });
    const keys = series.map(({ t: key }, index) => h('span', { class: 'chart-key' },
      key && h('span', { class: `chart-dot chart-dot-${index}`, 'aria-hidden': 'true' }), key && h('span', { t: key }), this.values[index]));
    this.element = h('section', { class: 'panel chart' }, h('div', { class: 'chart-head' }, h('h2', { t: title }), h('div', { class: 'chart-keys' }, keys)),
      h('div', { class: 'chart-area' }, svg, this.top),
      h('div', { class: 'chart-foot', 'aria-hidden': 'true' }, h('span', { t: 'ops.fifteen' }), h('span', { t: 'ops.now' })));
  }

  show(samples, now) {
    const from = now - minutes * 60_000;
    const lines = this.series.map(({ field }) => thinned(samples.map((sample) => ({ at: sample.at, value: valueOf(sample, field) })), 450));
    const top = niceTop(Math.max(0, ...lines.flat().map(({ value }) => value ?? 0)));
    lines.forEach((points, index) => {
      this.#lines[index].setAttribute('d', linePath(points, { from, to: now, top, width, height }));
      const last = samples.length > 0 ? valueOf(samples.at(-1), this.series[index].field) : undefined;
      setText(this.values[index], last === undefined || last === null ? '–' : `${figure(last)}${this.unit ? ` ${t(this.unit)}` : ''}`);
    });
    setText(this.top, figure(top));
  }
}

/** A list of names and values; values may be texts. */
export function figures(entries) {
  return h('dl', { class: 'figures' }, entries.flatMap(([name, value, tone]) =>
    [h('dt', {}, name), h('dd', { class: `numbers ${tone ?? ''}` }, typeof value === 'string' ? value : figure(value))]));
}

/** A list of names and values, or a text that there are none. */
export function figureList(element, entries, empty) {
  return fill(element, entries.length === 0 ? h('p', { class: 'quiet small', t: empty }) : figures(entries));
}
