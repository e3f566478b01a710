// SPDX-License-Identifier: Apache-2.0

/** 1,234 as `1,234`; 12,345 as `12.3K`, or `1.2万` in Chinese. */
export function compactCount(value, language) {
  const number = Math.max(0, Math.floor(Number(value) || 0));
  if (number < 10_000) return new Intl.NumberFormat(language).format(number);
  return new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }).format(number);
}

/** Milliseconds as `4:05` or `1:04:05`; never below zero. */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (number) => String(number).padStart(2, '0');
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hour > 0 ? `${hour}:${two(minute)}:${two(second)}` : `${minute}:${two(second)}`;
}

/** A stable number of a text, for its colour. FNV-1a, 32 bits. */
export function hash(text) {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return value;
}

/** The first letters of a name: one sign of a script without blanks, up to two of others. */
export function initials(name) {
  const words = String(name ?? '').trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return '?';
  const first = [...words[0]][0];
  if (words.length === 1 || /[^\u0000-\u024f]/u.test(first)) return first.toUpperCase();
  return (first + [...words[words.length - 1]][0]).toUpperCase();
}

/**
 * A user's name without the signs that turn the direction of a sentence that it stands in, or the id where nothing is
 * left.
 */
export function nameOf(user) {
  return (user?.userName ?? '').replace(/[\u202a-\u202e\u2066-\u2069]/g, '') || user?.userID || '';
}
