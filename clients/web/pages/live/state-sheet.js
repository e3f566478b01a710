// SPDX-License-Identifier: Apache-2.0
import { fill, h } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';

/** Shows the connection to the curious: where in the feed, what was resumed and left out. */
export function openState(page) {
  const { session } = page.shell;
  const facts = h('dl', { class: 'facts' });
  const draw = () => {
    const { wire } = session;
    const status = { connected: 'state.open', connecting: 'state.connecting', reconnecting: 'state.waiting' }[session.login.state.connectionStatus] ?? 'state.ended';
    const rows = [
      ['state.title', t(status)], ['state.address', [wire.gateway, wire.address].filter(Boolean).join(' · ')], ['state.session', wire.session],
      ['state.position', wire.position], ['state.resumes', wire.resumes], ['state.replayed', wire.replayedItems],
      ['state.gaps', wire.leftOut], ['state.barrage', t('state.dropped', { count: page.stage?.barrage.dropped ?? 0 })],
    ];
    fill(facts, rows.flatMap(([key, value]) => [h('dt', { t: key }), h('dd', {}, String(value))]));
  };
  draw();
  const timer = setInterval(draw, 500);
  openSheet({ t: 'state.title' }, facts).addEventListener('close', () => clearInterval(timer));
}
