// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { startLanguage } from '../lib/i18n.js';
import { applyTheme, kept } from '../lib/theme.js';
import { ClusterSource } from './cluster-source.js';
import { OpsShell } from './ops-shell.js';

async function start() {
  applyTheme();
  const source = new ClusterSource();
  // Neither waits for the other.
  await Promise.all([startLanguage(kept.get('language')), source.start()]);
  const shell = new OpsShell(source);
  document.body.prepend(...shell.elements);
  shell.start();
  // For tests and the curious; nothing of the page reads it.
  globalThis.livePlazaOps = { source, shell };
}

start().catch((error) => {
  // Only the texts can fail, so these words are here.
  document.body.prepend(h('p', { class: 'blank', role: 'alert' }, 'The page could not start: its texts could not be loaded. Load it again.'));
  console.error(error);
});
