// SPDX-License-Identifier: Apache-2.0

/** What is kept on this device: theme, language and name. A browser may forbid it; then nothing is kept. */
export const kept = {
  get(key) {
    try {
      return localStorage.getItem(`liveplaza.${key}`) ?? undefined;
    } catch {
      return undefined;
    }
  },
  set(key, value) {
    try {
      if (value === undefined) localStorage.removeItem(`liveplaza.${key}`);
      else localStorage.setItem(`liveplaza.${key}`, value);
    } catch {
      // Not kept.
    }
  },
};

const dark = matchMedia('(prefers-color-scheme: dark)');
export const motion = matchMedia('(prefers-reduced-motion: reduce)');

/** Whether the dark theme is shown: as chosen here, else as the system says. */
export function isDark() {
  const chosen = kept.get('theme');
  return chosen ? chosen === 'dark' : dark.matches;
}

const listeners = new Set();

/** Calls a function after each change of the theme, by the user or by the system. */
export function onTheme(listener) {
  listeners.add(listener);
}

export function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

export function toggleTheme() {
  kept.set('theme', isDark() ? 'light' : 'dark');
  applyTheme();
}

dark.addEventListener('change', applyTheme);
