// SPDX-License-Identifier: Apache-2.0

/** Values that a browser keeps. It may forbid it; then nothing is kept. @param {() => Storage} storage */
function keeper(storage) {
  return {
    get(key) {
      try {
        return storage().getItem(`liveplaza.${key}`) ?? undefined;
      } catch {
        return undefined;
      }
    },
    set(key, value) {
      try {
        if (value === undefined) storage().removeItem(`liveplaza.${key}`);
        else storage().setItem(`liveplaza.${key}`, value);
      } catch {
        // Not kept.
      }
    },
  };
}

/** What is kept on this device, such as theme and language. */
export const kept = keeper(() => localStorage);
/** What this window keeps, also when it is loaded again: who is signed in. Another window may be another user. */
export const keptInWindow = keeper(() => sessionStorage);

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
