// SPDX-License-Identifier: Apache-2.0
import { t } from './i18n.js';

/**
 * The bytes of a text as the server counts them: in a plain text `"` and `\` count as two (PROTOCOL.md, section 12).
 */
export function byteCount(text, { isPlain }) {
  return new TextEncoder().encode(isPlain ? text.replace(/["\\]/g, '$&$&') : text).length;
}

/**
 * Makes a form field report a text that is longer than the server allows (a character has up to four bytes), or that
 * contains a character that a plain text must not have.
 *
 * @param {{ isPlain: boolean, check?: (text: string) => string | false }} options `check` returns the text of another
 *   error, or false
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
