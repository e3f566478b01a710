// SPDX-License-Identifier: Apache-2.0
import { addTexts } from '../lib/i18n.js';
import en from '../texts/host-en.js';
import zh from '../texts/host-zh.js';

// Viewers need none of these texts, so the parts for hosts bring them along.
addTexts({ en, zh });
