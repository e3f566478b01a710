// SPDX-License-Identifier: Apache-2.0
import { t } from './i18n.js';

/**
 * The bytes of a text as the server's limits count them: in a plain text `"` and `\` are two (PROTOCOL.md, section 12).
 */
export function byteCount(text, { isPlain }) {
  return new TextEncoder().encode(isPlain ? text.replace(/["\\]/g, '$&$&') : text).length;
}

/**
 * Lets a form say that a text has more bytes than the server takes, where a sign may have up to four, or what a plain
 * text may not have.
 *
 * @param {{ isPlain: boolean, check?: (text: string) => string | false }} options `check` finds what else is wrong, in
 * words
 */
export function limitBytes(input, most, { isPlain, check }) {
  input.addEventListener('input', () => {
    const text = input.value.trim();
    const isTooLong = byteCount(text, { isPlain }) > most;
    const hasControl = isPlain && /[\0-\x1f\x7f]/.test(text);
    input.setCustomValidity(isTooLong ? t('app.tooLong', { count: most, signs: Math.floor(most / 3) }) : hasControl ? t('app.noControl') : check?.(text) || '');
  });
  return input;
}
