// SPDX-License-Identifier: Apache-2.0
import { allowImagesOf } from './lib/avatar.js';
import { h } from './lib/dom.js';
import { preferredLanguage, setLanguage, t } from './lib/i18n.js';
import { applyTheme, kept } from './lib/theme.js';
import { readSettings, Session, words } from './session/session.js';
import { Shell } from './shell.js';

/** Sample data is shown instead of a server's, if the address asks for it. */
const isFixture = new URLSearchParams(location.search).has('fixture');

async function start() {
  applyTheme();
  await setLanguage(preferredLanguage(kept.get('language'), navigator.languages)).catch(() => setLanguage('en'));
  let session;
  if (isFixture) {
    const { FixtureSocket } = await import('./session/fixture-socket.js');
    session = new Session({ gateways: ['ws://sample'], demoTokens: true }, FixtureSocket);
    await session.signIn({ token: 'sample', name: 'You' });
  } else {
    const settings = await readSettings();
    allowImagesOf(settings.imageOrigins ?? []);
    session = new Session(settings);
  }
  const shell = new Shell(session, { isFixture });
  document.body.prepend(...shell.elements);
  await shell.start();
  // Who closes the page is gone for the others at once, and not only when the lease has ended. A page that the browser
  // keeps may come back, and then resumes.
  addEventListener('pagehide', (event) => {
    if (!event.persisted) session.leave();
  });
  // For tests and the curious; nothing of the pages reads it.
  globalThis.livePlazaPage = { session, shell };
}

start().catch((error) => {
  document.body.prepend(h('p', { class: 'blank', role: 'alert' }, t('app.notStarted', { reason: words(error) })));
  console.error(error);
});
