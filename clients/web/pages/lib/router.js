// SPDX-License-Identifier: Apache-2.0

/**
 * Reads a place of the pages from the address's fragment: `#/`, `#/live/ID`, `#/host`.
 * Anything else is the plaza.
 */
export function parsePlace(fragment) {
  const path = String(fragment ?? '').replace(/^#\/?/, '').split('?')[0];
  const [page, rest] = [path.split('/')[0], path.split('/').slice(1).join('/')];
  let live;
  try {
    live = rest ? decodeURIComponent(rest) : undefined;
  } catch {
    return { page: 'plaza' };
  }
  // The names of lives: PROTOCOL.md, section 12.
  if (live !== undefined && !/^[!-.0-~]{1,48}$/.test(live)) return { page: 'plaza' };
  if (page === 'live' && live) return { page, live };
  if (page === 'host') return { page };
  return { page: 'plaza' };
}

/** The fragment of a place. */
export function placeAddress({ page, live }) {
  if (page === 'plaza') return '#/';
  return live ? `#/${page}/${encodeURIComponent(live)}` : `#/${page}`;
}

/** Calls `show` with the place now and after each change of the address. */
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
