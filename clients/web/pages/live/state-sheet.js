// SPDX-License-Identifier: Apache-2.0
import { h, setText } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';

const statuses = { connected: 'state.open', connecting: 'state.connecting', reconnecting: 'state.waiting' };

/** Shows the connection to the curious: where in the feed, what was resumed and left out. */
export function openState(page) {
  const { session } = page.shell;
  const { wire } = session;
  const facts = {
    'state.title': () => t(statuses[session.login.state.connectionStatus] ?? 'state.ended'),
    'state.address': () => [wire.gateway, wire.address].filter(Boolean).join(' · '),
    'state.session': () => wire.session,
    'state.position': () => wire.position,
    'state.resumes': () => wire.resumes,
    'state.replayed': () => wire.replayedItems,
    'state.gaps': () => wire.leftOut,
    'state.barrage': () => t('state.dropped', { count: page.stage?.barrage.dropped ?? 0 }),
  };
  // The elements stay: what is marked or read aloud is not taken away.
  const rows = Object.entries(facts).map(([key, read]) => ({ read, name: h('dt', { t: key }), value: h('dd', {}) }));
  const draw = () => rows.forEach(({ read, value }) => setText(value, read()));
  draw();
  const timer = setInterval(draw, 500);
  openSheet({ t: 'state.title' }, h('dl', { class: 'facts' }, rows.map(({ name, value }) => [name, value]).flat()))
    .addEventListener('close', () => clearInterval(timer));
}
