// SPDX-License-Identifier: Apache-2.0
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LivePlaza } from '../../src/index.js';
import { TestWebSocket } from './web-socket.js';

/** The program that starts a cluster, from the environment; without it these tests are skipped. */
export const plaza = process.env.PLAZA;

/** Checks a condition again and again until it holds; throws after a time. All times are in milliseconds. */
export async function until(what, holds, milliseconds = 10_000, every = 20) {
  const end = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}

/** A cluster on the in-memory broker with two gateways, on free ports of this machine. */
export class Cluster {
  urls = [];
  #folder = mkdtempSync(join(tmpdir(), 'plaza-web-'));
  #process;
  #clients = [];

  async start() {
    const options = ['up', '--run-dir', this.#folder, '--port', '0', '--http-port', '0', '--ops-port', '0', '--scale',
      'gateway=2'];
    this.#process = spawn(plaza, options, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    this.#process.stdout.on('data', (data) => {
      output += data;
    });
    await until(`the cluster is ready:\n${output}`, () => {
      if (this.#process.exitCode !== null) throw new Error(`the cluster ended:\n${output}`);
      return /LivePlaza is ready/.test(output) && /gateway-2: WebSocket.*HTTP/.test(output);
    }, 60_000);
    this.urls = [...output.matchAll(/WebSocket (ws:\S+),/g)].map((match) => `${match[1]}/v1`);
    this.http = /HTTP (http:\S+)/.exec(output)[1];
  }

  async stop() {
    for (const client of this.#clients) client.disconnect();
    if (this.#process?.exitCode === null) {
      const exited = new Promise((resolve) => this.#process.once('exit', resolve));
      this.#process.kill('SIGTERM');
      await exited;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A signed token, as an app's server would issue it. */
  async token(user, { role = 'user', seconds = 3600, hasName = role === 'user' } = {}) {
    const options = ['token', '--run-dir', this.#folder, '--user', user, '--role', role, '--seconds', String(seconds)];
    const named = hasName ? [...options, '--name', user.toUpperCase()] : options;
    return (await promisify(execFile)(plaza, named)).stdout.trim();
  }

  /** Makes a client that is logged in. A test can cut its connection. */
  async client(user, options = {}) {
    const sockets = [];
    class Socket extends TestWebSocket {
      constructor(...parts) {
        super(...parts);
        sockets.push(this);
      }
    }
    const client = new LivePlaza({ urls: this.urls, WebSocket: Socket, token: await this.token(user), ...options });
    this.#clients.push(client);
    client.faults = [];
    client.addEventListener('error', (event) => client.faults.push(event.detail));
    client.cut = () => sockets[sockets.length - 1].terminate();
    await client.loginStore.login();
    return client;
  }

  /** Makes a call as the app's own server. */
  async server(method, params) {
    const reply = await fetch(`${this.http}/v1/call/${method}`, {
      method: 'POST', body: JSON.stringify(params),
      headers: { authorization: `Bearer ${await this.token('backend', { role: 'server' })}`,
        'content-type': 'application/json' },
    });
    if (!reply.ok) throw new Error(`${method}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  }
}

/** Waits for the next event of a store with this type. */
export function next(store, type, milliseconds = 10_000) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${type} in time`)), milliseconds);
    store.addEventListener(type, (event) => {
      clearTimeout(timer);
      resolve(event.detail);
    }, { once: true });
  });
}
