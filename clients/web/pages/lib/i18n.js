// SPDX-License-Identifier: Apache-2.0

/** The texts of each language, from when it is first chosen. All have the same keys, and each is one file. */
const languages = { en: undefined, zh: undefined };

const pluralRules = { en: new Intl.PluralRules('en'), zh: new Intl.PluralRules('zh') };
/** What is bound to an element: attribute (or `text`) to key and values. */
const bindings = new WeakMap();
const listeners = new Set();
let current = 'en';
let wanted = 'en';
/** The texts of the language shown, by key; none before the first language is loaded. */
let texts = {};

async function load(name) {
  try {
    // Not relative to this module, which the gateway moves into a file with others.
    const response = await fetch(`/pages/texts/${name}.json`);
    if (!response.ok) throw new Error(String(response.status));
    return await response.json();
  } catch (error) {
    // They are loaded again when the language is next chosen.
    languages[name] = undefined;
    throw Object.assign(new Error(`the texts ${name} cannot be loaded: ${error.message}`), { codeName: 'textsNotLoaded' });
  }
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
  let text = texts[key];
  if (values.count !== undefined) text = texts[`${key}.${pluralRules[current].select(values.count)}`] ?? texts[`${key}.other`] ?? text;
  if (text === undefined) return key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export function hasText(key) {
  return key in texts;
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
  wanted = next;
  const loaded = await (languages[next] ??= load(next));
  // Another language was chosen meanwhile.
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
 * @param {string | undefined} kept the language of last time
 * @returns {Promise<void>} fails if no texts can be loaded
 */
export async function startLanguage(kept) {
  const first = preferredLanguage(kept, navigator.languages);
  await setLanguage(first).catch(() => setLanguage(first === 'en' ? 'zh' : 'en'));
}

/** @returns {() => void} ends it */
export function onLanguage(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
