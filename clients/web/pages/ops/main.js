// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { startLanguage } from '../lib/i18n.js';
import { applyTheme, kept } from '../lib/theme.js';
import { ClusterSource } from './cluster-source.js';
import { OpsShell } from './ops-shell.js';

async function start() {
  applyTheme();
  const source = new ClusterSource();
  // Both loads run at the same time.
  await Promise.all([startLanguage(kept.get('language')), source.start()]);
  const shell = new OpsShell(source);
  document.body.prepend(...shell.elements);
  shell.start();
  // For tests and for developers; the page itself does not read it.
  globalThis.livePlazaOps = { source, shell };
}

start().catch((error) => {
  // This text is not among the translated ones, because the load of those is what has failed.
  document.body.prepend(h('p', { class: 'blank', role: 'alert' }, 'The page could not start: its texts could not be loaded. Load it again.'));
  console.error(error);
});
