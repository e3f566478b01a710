// SPDX-License-Identifier: Apache-2.0

/**
 * A function of a part that is loaded when it is first called. Of the calls until then the last one counts: who presses
 * twice opens one dialog. A failure is said on the page.
 */
function opener(load, name) {
  let latest;
  return async (page, ...rest) => {
    latest = rest;
    try {
      const { [name]: open } = await load();
      // The live may have ended, or been left, while the part was loaded.
      if (latest === rest && !page.isGone) await open(page, ...rest);
    } catch (error) {
      page.shell.fail(error);
    }
  };
}

/** What is needed only on request. */
export const openAccount = opener(() => import('../session/account-sheet.js'), 'openAccount');
export const openGifts = opener(() => import('./gift-sheet.js'), 'openGifts');
export const openState = opener(() => import('./state-sheet.js'), 'openState');
export const openPerson = opener(() => import('../host/person-sheet.js'), 'openPerson');
export const openSeat = opener(() => import('../host/seat-sheet.js'), 'openSeat');
export const speak = opener(() => import('./speech.js'), 'speak');
