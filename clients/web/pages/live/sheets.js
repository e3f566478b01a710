// SPDX-License-Identifier: Apache-2.0

/**
 * Wraps a function of a module that is loaded at the first call. Of the calls during the load only the last one counts,
 * so that a double click opens one dialog. A failure is shown on the page.
 */
function opener(load, name) {
  let latest;
  return async (page, ...rest) => {
    latest = rest;
    try {
      const { [name]: open } = await load();
      // The live may have ended, or the user may have left, during the load.
      if (latest === rest && !page.isGone) await open(page, ...rest);
    } catch (error) {
      page.shell.fail(error);
    }
  };
}

/** The dialogs whose modules are loaded when they are first needed. */
export const openAccount = opener(() => import('../session/account-sheet.js'), 'openAccount');
export const openGifts = opener(() => import('./gift-sheet.js'), 'openGifts');
export const openState = opener(() => import('./state-sheet.js'), 'openState');
export const openPerson = opener(() => import('../host/person-sheet.js'), 'openPerson');
export const openSeat = opener(() => import('../host/seat-sheet.js'), 'openSeat');
export const speak = opener(() => import('./speech.js'), 'speak');
