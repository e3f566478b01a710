// SPDX-License-Identifier: Apache-2.0
import en from '../texts/en.js';
import { lazily } from './lazy.js';

/** The languages of the pages. Each has one file of texts with the same keys; the second is loaded when it is chosen. */
const languages = { en: { ...en }, zh: {} };
const loadChinese = lazily(async () => { languages.zh = { ...(await import('../texts/zh.js')).default, ...languages.zh }; });

const pluralRules = { en: new Intl.PluralRules('en'), zh: new Intl.PluralRules('zh') };
/** What is bound to an element: attribute (or `text`) to key and values. */
const bindings = new WeakMap();
const listeners = new Set();
let current = 'en';
let wanted = 'en';

/** Adds the texts of a page of its own, by language. */
export function addTexts(more) {
  for (const [name, texts] of Object.entries(more)) Object.assign(languages[name], texts);
}

/** The language shown. */
export function language() {
  return current;
}

/** The language to begin with: the one kept from last time, else the browser's first that we have. */
export function preferredLanguage(kept, accepted) {
  if (kept in languages) return kept;
  for (const tag of accepted ?? []) {
    const primary = tag.toLowerCase().split('-')[0];
    if (primary in languages) return primary;
  }
  return 'en';
}

/**
 * Returns the text of `key`, with `{name}` replaced by `values.name`. With `values.count`, `key.one` or `key.other` is
 * taken where the text has these forms. A key without a text is returned itself, so that a fault is seen and not fatal.
 */
export function t(key, values = {}) {
  const texts = languages[current];
  let text = texts[key];
  if (values.count !== undefined) text = texts[`${key}.${pluralRules[current].select(values.count)}`] ?? texts[`${key}.other`] ?? text;
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export function hasText(key) {
  return key in languages[current];
}

/** Shows `key` in an element, now and after each change of the language. */
export function bindText(element, attribute, key, values) {
  const bound = bindings.get(element) ?? {};
  bound[attribute] = { key, values };
  bindings.set(element, bound);
  element.dataset.t = '';
  show(element, attribute, bound[attribute]);
}

function show(element, attribute, { key, values }) {
  if (attribute === 'text') element.textContent = t(key, values);
  else element.setAttribute(attribute, t(key, values));
}

/**
 * Changes the language of all bound texts at once, without building a view again.
 *
 * @returns {Promise<void>} fails if the texts of the language cannot be loaded; then the language stays
 */
export async function setLanguage(next) {
  wanted = next in languages ? next : 'en';
  if (wanted === 'zh') await loadChinese();
  // Another language was chosen meanwhile.
  if (wanted !== next && next in languages) return;
  current = wanted;
  document.documentElement.lang = current === 'zh' ? 'zh-Hans' : 'en';
  for (const element of document.querySelectorAll('[data-t]')) {
    for (const [attribute, binding] of Object.entries(bindings.get(element) ?? {})) show(element, attribute, binding);
  }
  for (const listener of listeners) listener(current);
}

/** @returns {() => void} ends it */
export function onLanguage(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
