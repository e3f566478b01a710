// SPDX-License-Identifier: Apache-2.0

/** How many samples are kept: 15 minutes at one a second, as the tool keeps them. */
const capacity = 900;

/** How long the tool has to answer, in milliseconds: one that hangs does not answer either. */
const patience = 5000;

/** Adds what a report brings to the samples that are known; a tool that was started again replaces them. */
export function mergeSamples(samples, report, next) {
  const isNew = report.next < next;
  return [...(isNew ? [] : samples), ...report.samples].slice(-capacity);
}

/** Reads what the tool knows of the cluster, and asks it to kill processes. */
export class ClusterSource {
  samples = [];
  report = undefined;
  settings = { mayKill: false };
  /** Why nothing new is known; undefined while the tool answers. */
  fault = undefined;
  #next = 0;
  #hasSettings = false;

  /** Reads the settings, unless they are known. Where that fails, `read` tries again. */
  async start() {
    if (this.#hasSettings) return;
    try {
      this.settings = await this.#get('/ops/settings');
      this.#hasSettings = true;
    } catch {
      // The tool is away.
    }
  }

  /** Reads once what is new. */
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

  /** The counters of a live; a part that the gateway rejects is undefined. */
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
