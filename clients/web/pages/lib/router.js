// SPDX-License-Identifier: Apache-2.0

/**
 * Reads a place of the pages from the address's fragment: `#/`, `#/live/ID`, `#/host`.
 * Any other fragment is the list of lives, with a message about the address.
 */
export function parsePlace(fragment) {
  const path = fragment.replace(/^#\/?/, '').split('?')[0];
  const [page, ...rest] = path.split('/');
  try {
    const live = decodeURIComponent(rest.join('/'));
    // The names of lives: PROTOCOL.md, section 12.
    if (page === 'live' && /^[!-.0-~]{1,48}$/.test(live)) return { page, live };
    if (page === 'host' && !live) return { page };
  } catch {
    // The id is not valid UTF-8, so it is no id.
  }
  return { page: 'plaza', isUnknown: path !== '' };
}

/** The fragment of a route. */
export function placeAddress({ page, live }) {
  if (page === 'plaza') return '#/';
  return live ? `#/${page}/${encodeURIComponent(live)}` : `#/${page}`;
}

/** Calls `show` with the present route, and after each change of the address. */
export class Router {
  #show;

  constructor(show) {
    this.#show = show;
  }

  start() {
    addEventListener('hashchange', () => this.#show(parsePlace(location.hash)));
    this.#show(parsePlace(location.hash));
  }

  go(place) {
    const address = placeAddress(place);
    if (location.hash === address) this.#show(place);
    else location.hash = address;
  }
}
