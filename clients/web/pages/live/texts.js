// SPDX-License-Identifier: Apache-2.0
import { addTexts } from '../lib/i18n.js';
import en from '../texts/sheets-en.js';
import zh from '../texts/sheets-zh.js';

// Who only watches needs none of these texts, so the parts that are opened over a live bring them along.
addTexts({ en, zh });
