// SPDX-License-Identifier: Apache-2.0

/** A round number that is at least `value`: 1, 2 or 5 times a power of ten. */
export function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (step * power >= value * 0.999999) return step * power;
  return 10 * power;
}

/**
 * What a sample has for a field.
 *
 * @param {object} sample
 * @param {string} field a name, or `figures.name` for one of several figures; a sample has only those that are not 0
 * @returns {number | null | undefined} nothing if it was not measured
 */
export function valueOf(sample, field) {
  const [name, part] = field.split('.');
  const value = sample[name];
  return part === undefined || value === undefined || value === null ? value : value[part] ?? 0;
}

/**
 * The path of a line.
 *
 * @param {{at: number, value: number | undefined}[]} points oldest first; a missing value makes a hole
 * @param {{from: number, to: number, top: number, width: number, height: number}} area times, the value at the top, and
 *   the size of the drawing
 * @returns {string} the `d` of an SVG path; empty without two points in a row
 */
export function linePath(points, { from, to, top, width, height }) {
  let path = '';
  let isDown = false;
  let before = -Infinity;
  for (const { at, value } of points) {
    // A tool that was stopped for a while leaves a hole too.
    if (value === undefined || value === null || at < from || at - before > 10_000) isDown = false;
    before = at;
    if (value === undefined || value === null || at < from) continue;
    const x = ((at - from) / (to - from)) * width;
    const y = height - (Math.min(value, top) / top) * height;
    path += `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  }
  return path.includes('L') ? path : '';
}

/** Keeps at most `most` points: of each run of neighbours the one with the largest value, so that no peak is lost. */
export function thinned(points, most) {
  const run = Math.ceil(points.length / most);
  if (run <= 1) return points;
  const kept = [];
  for (let index = 0; index < points.length; index += run) {
    const part = points.slice(index, index + run);
    kept.push(part.reduce((best, point) => ((point.value ?? -1) > (best.value ?? -1) ? point : best)));
  }
  return kept;
}
