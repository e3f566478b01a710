// SPDX-License-Identifier: Apache-2.0

/** Values that the browser stores. If the browser forbids it, nothing is stored. @param {() => Storage} storage */
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
        // The browser does not store it.
      }
    },
  };
}

/** The values stored on this device, such as theme and language. */
export const kept = keeper(() => localStorage);
/** The values of this window, which survive a reload: the signed-in user. Other windows may have other users. */
export const keptInWindow = keeper(() => sessionStorage);

const dark = matchMedia('(prefers-color-scheme: dark)');
export const motion = matchMedia('(prefers-reduced-motion: reduce)');

/** Whether the dark theme is shown: as the user has chosen, otherwise as the system prefers. */
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
