// SPDX-License-Identifier: Apache-2.0
import { addTexts, preferredLanguage, setLanguage } from '../lib/i18n.js';
import { applyTheme, kept } from '../lib/theme.js';
import en from '../texts/ops-en.js';
import zh from '../texts/ops-zh.js';
import { ClusterSource } from './cluster-source.js';
import { OpsShell } from './ops-shell.js';

addTexts({ en, zh });
applyTheme();
await setLanguage(preferredLanguage(kept.get('language'), navigator.languages)).catch(() => setLanguage('en'));
const source = new ClusterSource();
const shell = new OpsShell(source);
document.body.prepend(...shell.elements);
await shell.start();
// For tests and the curious; nothing of the page reads it.
globalThis.livePlazaOps = { source, shell };
