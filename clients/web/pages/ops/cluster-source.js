// SPDX-License-Identifier: Apache-2.0

/** The number of samples that are kept: 15 minutes with one sample a second, as the tool keeps them. */
const capacity = 900;

/** The time limit for an answer of the tool, in milliseconds; a tool that hangs would never answer. */
const patience = 5000;

/** Adds the samples of a report; after a restart of the tool, the report replaces the former samples. */
export function mergeSamples(samples, report, next) {
  const isNew = report.next < next;
  return [...(isNew ? [] : samples), ...report.samples].slice(-capacity);
}

/** Reads the state of the cluster from the tool, and asks the tool to kill processes. */
export class ClusterSource {
  samples = [];
  report = undefined;
  settings = { mayKill: false };
  /** The error of the last read; undefined while the tool answers. */
  fault = undefined;
  #next = 0;
  #hasSettings = false;

  /** Reads the settings, if they were not read yet. After a failure, `read` tries again. */
  async start() {
    if (this.#hasSettings) return;
    try {
      this.settings = await this.#get('/ops/settings');
      this.#hasSettings = true;
    } catch {
      // The tool does not answer.
    }
  }

  /** Reads the new samples once. */
  async read() {
    try {
      const report = await this.#get(`/ops/report?from=${this.#next}`);
      this.samples = mergeSamples(this.samples, report, this.#next);
      this.#next = report.next;
      this.report = report;
      this.fault = undefined;
      await this.start();
    } catch (error) {
      this.fault = error;
    }
  }

  /** @returns {Promise<boolean>} whether the process was killed */
  async kill(name) {
    const response = await fetch(`/ops/processes/${encodeURIComponent(name)}/kill`, { method: 'POST' });
    return response.status === 204;
  }

  /** The lives with the most viewers. */
  async lives() {
    return (await this.#get('/ops/lives')).result.lives.items;
  }

  /** The counters of a live; undefined for those that the gateway refuses to give. */
  async live(id) {
    const address = `/ops/lives/${encodeURIComponent(id)}`;
    const part = async (name) => (await this.#get(`${address}/${name}`).catch(() => undefined))?.result;
    const [count, statistics, stage] = await Promise.all([part('count'), part('statistics'), part('stage')]);
    return { count: count?.count?.count, statistics: statistics?.statistics?.statistics, stage: stage?.stage?.record };
  }

  async #get(path) {
    const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(patience) });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }
}
