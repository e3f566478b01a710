// SPDX-License-Identifier: Apache-2.0
import { lazily } from '../lib/lazy.js';

/** A function of a part that is loaded when it is first called. A failure is said on the page. */
function opener(load, name) {
  const part = lazily(load);
  return async (page, ...rest) => {
    try {
      const { [name]: open } = await part();
      // The live may have ended, or been left, while the part was loaded.
      if (!page.isGone) await open(page, ...rest);
    } catch (error) {
      page.shell.fail(error);
    }
  };
}

/** What a viewer of a live needs only on request. */
export const openGifts = opener(() => import('./gift-sheet.js'), 'openGifts');
export const openState = opener(() => import('./state-sheet.js'), 'openState');
export const openPerson = opener(() => import('../host/person-sheet.js'), 'openPerson');
export const openSeat = opener(() => import('../host/seat-sheet.js'), 'openSeat');
export const speak = opener(() => import('./speech.js'), 'speak');
