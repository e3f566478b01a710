// SPDX-License-Identifier: Apache-2.0

/** Formats a number: 1234 as `1,234`; 12345 as `12.3K`, or `1.2万` in Chinese. */
export function compactCount(value, language) {
  const number = Math.max(0, Math.floor(Number(value) || 0));
  if (number < 10_000) return new Intl.NumberFormat(language).format(number);
  return new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }).format(number);
}

/** Formats milliseconds as `4:05` or `1:04:05`; a negative time as zero. */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (number) => String(number).padStart(2, '0');
  const [hour, minute, second] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hour > 0 ? `${hour}:${two(minute)}:${two(second)}` : `${minute}:${two(second)}`;
}

/** A hash of a text (FNV-1a, 32 bits), from which its colour is chosen. */
export function hash(text) {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return value;
}

/** The initials of a name: one character for scripts without spaces, otherwise up to two. */
export function initials(name) {
  const words = String(name ?? '').trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return '?';
  const first = [...words[0]][0];
  if (words.length === 1 || /[^\u0000-\u024f]/u.test(first)) return first.toUpperCase();
  return (first + [...words[words.length - 1]][0]).toUpperCase();
}

/**
 * A user's name without the control characters that would change the direction of the text around it; the id if nothing
 * remains.
 */
export function nameOf(user) {
  return (user?.userName ?? '').replace(/[\u202a-\u202e\u2066-\u2069]/g, '') || user?.userID || '';
}
