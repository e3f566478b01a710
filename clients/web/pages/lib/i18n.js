// SPDX-License-Identifier: Apache-2.0

/** The texts of each language, loaded when it is first chosen. All languages have the same keys; each is one file. */
const languages = { en: undefined, zh: undefined };

const pluralRules = { en: new Intl.PluralRules('en'), zh: new Intl.PluralRules('zh') };
/** For each bound element, its attributes (or `text`) with the keys and values of their texts. */
const bindings = new WeakMap();
const listeners = new Set();
let current = 'en';
let wanted = 'en';
/** The texts of the shown language, by key; empty before the first language is loaded. */
let texts = {};

async function load(name) {
  try {
    // The address is not relative to this module, because the gateway bundles the module into another file.
    const response = await fetch(`/pages/texts/${name}.json`);
    if (!response.ok) throw new Error(String(response.status));
    return await response.json();
  } catch (error) {
    // After a failure, the texts are loaded again when the language is next chosen.
    languages[name] = undefined;
    throw Object.assign(new Error(`the texts ${name} cannot be loaded: ${error.message}`), { codeName: 'textsNotLoaded' });
  }
}

/** The shown language. */
export function language() {
  return current;
}

/** The initial language: the stored one, otherwise the first of the browser's languages that exists here. */
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
 * used if the text has these forms. For an unknown key the key itself is returned, so that the fault is visible.
 */
export function t(key, values = {}) {
  let text = texts[key];
  if (values.count !== undefined) text = texts[`${key}.${pluralRules[current].select(values.count)}`] ?? texts[`${key}.other`] ?? text;
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export function hasText(key) {
  return key in texts;
}

/** Shows the text of `key` in an element, now and after each change of the language. */
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
 * Changes the language of all bound texts in place; no view is built again.
 *
 * @returns {Promise<void>} rejected if the texts of the language cannot be loaded; then the language stays
 */
export async function setLanguage(next) {
  wanted = next;
  const loaded = await (languages[next] ??= load(next));
  // The user has chosen another language meanwhile.
  if (wanted !== next) return;
  current = next;
  texts = loaded;
  document.documentElement.lang = current === 'zh' ? 'zh-Hans' : 'en';
  for (const element of document.querySelectorAll('[data-t]')) {
    for (const [attribute, binding] of Object.entries(bindings.get(element) ?? {})) show(element, attribute, binding);
  }
  for (const listener of listeners) listener(current);
}

/**
 * Shows the first language: the preferred one, or another if its texts cannot be loaded.
 *
 * @param {string | undefined} kept the stored language
 * @returns {Promise<void>} rejected if no texts can be loaded
 */
export async function startLanguage(kept) {
  const first = preferredLanguage(kept, navigator.languages);
  await setLanguage(first).catch(() => setLanguage(first === 'en' ? 'zh' : 'en'));
}

/** @returns {() => void} ends the subscription */
export function onLanguage(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
