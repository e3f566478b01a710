// SPDX-License-Identifier: Apache-2.0

/**
 * Tells a connection when the page is shown again and when the network goes and comes. Does nothing where there is no
 * page.
 *
 * While a page is hidden its timers are slow, but the browser answers the server's pings by itself, so the place in the
 * live is kept. When the page is shown, the connection is checked at once instead of at the next heartbeat.
 *
 * @param {{ probe(): void, setOnline(isOnline: boolean): void }} connection
 * @param {any} [page] what has the events: `globalThis` of a browser
 * @returns {() => void} ends it
 */
export function followPage(connection, page = globalThis) {
  const { document } = page;
  if (typeof page.addEventListener !== 'function' || document === undefined) return () => {};
  const shown = () => {
    if (document.visibilityState !== 'hidden') connection.probe();
  };
  const online = () => connection.setOnline(true);
  const offline = () => connection.setOnline(false);
  document.addEventListener('visibilitychange', shown);
  page.addEventListener('pageshow', shown);
  page.addEventListener('online', online);
  page.addEventListener('offline', offline);
  if (page.navigator?.onLine === false) offline();
  return () => {
    document.removeEventListener('visibilitychange', shown);
    page.removeEventListener('pageshow', shown);
    page.removeEventListener('online', online);
    page.removeEventListener('offline', offline);
  };
}
