// SPDX-License-Identifier: Apache-2.0
import { fill, h } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';
import { megabytes, seconds } from './figures.js';

/** The table of processes: health, owned partitions, and a button that kills the process. */
export class ProcessTable {
  #rows = new Map();

  constructor(shell) {
    this.shell = shell;
    this.body = h('ul', { class: 'processes' });
    this.element = h('section', { class: 'panel wide' }, h('h2', { t: 'ops.processes' }), this.body);
  }

  show({ processes, recoveries, now }) {
    for (const process of processes) {
      let row = this.#rows.get(process.name);
      if (!row) {
        row = this.#row(process.name);
        this.#rows.set(process.name, row);
        this.body.append(row.element);
      }
      this.#fill(row, process, recoveries.findLast(({ name }) => name === process.name), now);
    }
    for (const [name, row] of this.#rows) {
      if (processes.some((process) => process.name === name)) continue;
      row.element.remove();
      this.#rows.delete(name);
    }
  }

  #row(name) {
    const row = { state: h('span', { class: 'badge' }),
      facts: h('span', { class: 'process-facts quiet small numbers' }),
      clock: h('span', { class: 'process-clock small numbers' }) };
    row.button = h('button', { class: 'button tight danger', type: 'button', t: 'ops.kill', 'aria-label': t('ops.killName', { name }), on: { click: () => this.#ask(name) } });
    row.element = h('li', { class: 'process' }, h('span', { class: 'process-name' }, name), row.state, row.facts, row.clock, row.button);
    return row;
  }

  #fill(row, process, recovery, now) {
    const state = process.pid === undefined ? 'down' : process.isReady ? 'ready' : 'starting';
    row.element.dataset.state = state;
    fill(row.state, t(`ops.state.${state}`));
    const owned = Object.entries(process.partitions).filter(([, count]) => count > 0)
      .map(([machine, count]) => t('ops.owns', { machine, count }));
    const facts = [process.pid !== undefined && `pid ${process.pid}`, ...owned,
      process.connections !== undefined && t('ops.connectionsOf', { count: process.connections }),
      process.memory !== undefined && megabytes(process.memory),
      process.restarts > 0 && t('ops.restarts', { count: process.restarts }),
      !process.isReady && process.problem].filter(Boolean);
    fill(row.facts, facts.join(' · '));
    fill(row.clock, recovery ? t(recovery.readyAt === undefined ? 'ops.recovering' : 'ops.recovered', { time: seconds((recovery.readyAt ?? now) - recovery.endedAt) }) : '');
    // Whether processes may be killed may become known later.
    row.button.hidden = !this.shell.source.settings.mayKill;
    row.button.disabled = state === 'down';
  }

  #ask(name) {
    const kill = h('button', { class: 'button danger', type: 'button', t: 'ops.killNow', on: { click: async () => {
      sheet.close();
      const isKilled = await this.shell.source.kill(name).catch(() => false);
      this.shell.toasts.show(t(isKilled ? 'ops.killed' : 'ops.notKilled', { name }));
      await this.shell.refresh();
    } } });
    const sheet = openSheet({ t: 'ops.killTitle' }, h('p', {}, t('ops.killText', { name })), h('div', { class: 'sheet-foot' }, kill));
  }
}
