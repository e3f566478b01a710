// SPDX-License-Identifier: Apache-2.0
import { allowImagesOf } from './lib/avatar.js';
import { h } from './lib/dom.js';
import { startLanguage, t } from './lib/i18n.js';
import { applyTheme, kept } from './lib/theme.js';
import { readSettings, Session, words } from './session/session.js';
import { Shell } from './shell.js';

/** Sample data is shown instead of a server's, if the address asks for it. */
const isFixture = new URLSearchParams(location.search).has('fixture');

/** Asked for beside the settings: neither waits for the other. */
const texts = startLanguage(kept.get('language'));

async function makeSession() {
  if (!isFixture) {
    const settings = await readSettings();
    allowImagesOf(settings.imageOrigins ?? []);
    return new Session(settings);
  }
  const { FixtureSocket } = await import('./session/fixture-socket.js');
  const session = new Session({ gateways: ['ws://sample'], demoTokens: true }, FixtureSocket);
  await session.signIn({ token: 'sample', name: 'You' });
  return session;
}

async function start() {
  applyTheme();
  const [session] = await Promise.all([makeSession(), texts]);
  const shell = new Shell(session, { isFixture });
  document.body.prepend(...shell.elements);
  await shell.start();
  // Who closes the page is gone for the others at once, and not only when the lease has ended. A page that the browser
  // keeps may come back, and then resumes.
  addEventListener('pagehide', (event) => {
    if (event.persisted) return;
    shell.page?.seat?.keepPlace();
    session.leave();
  });
  // For tests and the curious; nothing of the pages reads it.
  globalThis.livePlazaPage = { session, shell };
}

start().catch(async (error) => {
  const hasTexts = await texts.then(() => true, () => false);
  const reason = hasTexts ? t('app.notStarted', { reason: words(error) }) : 'LivePlaza could not start: its texts could not be loaded. Load the page again.';
  document.body.prepend(h('p', { class: 'blank', role: 'alert' }, reason));
  console.error(error);
});
