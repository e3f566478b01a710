// SPDX-License-Identifier: Apache-2.0
import { language } from '../lib/i18n.js';

/** A number in at most four digits: 0.25, 12.3, 1,234, 12.3K. */
export function figure(value) {
  const number = Number(value) || 0;
  const options = Math.abs(number) >= 10_000 ? { notation: 'compact', maximumFractionDigits: 1 }
    : { maximumFractionDigits: Math.abs(number) >= 100 ? 0 : Math.abs(number) >= 1 ? 1 : 2 };
  return new Intl.NumberFormat(language(), options).format(number);
}

/** A count in all its digits, such as 16,187,900, because counts that must add up are not rounded. */
export function exact(count) {
  return new Intl.NumberFormat(language(), { maximumFractionDigits: 0 }).format(count);
}

/** Milliseconds as `1.24 s`. */
export function seconds(milliseconds) {
  return `${(Math.max(0, milliseconds) / 1000).toFixed(2)} s`;
}

/** Bytes as `12.3 MB`. */
export function megabytes(bytes) {
  return `${figure(bytes / 1e6)} MB`;
}
