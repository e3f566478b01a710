// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { LivePlaza } from '../../src/index.js';
import { Cluster, plaza } from '../support/cluster.js';
import { CuttableNetwork } from '../support/cuttable-network.js';
import { playSession, sessions } from '../support/sessions.js';
import { TestWebSocket } from '../support/web-socket.js';

/** The number of sessions that run at a time. */
const sessionsAtATime = 12;
/** The time limit of a session, in milliseconds. Most of the time it waits for cuts. */
const timeout = 300_000;
/** The time limit of a call: after each cut, a user must wait before it may enter its live again. */
const callTimeout = 30_000;

/** The users of one session on a cluster, with ids and lives that no other session has. */
class ClusterSession {
  network = new CuttableNetwork(TestWebSocket);
  #cluster;
  #prefix = `cut${randomBytes(4).toString('hex')}`;
  #clients = [];
  /** For each user, the client that makes calls of the protocol. */
  #callers = new Map();

  constructor(cluster) {
    this.#cluster = cluster;
  }

  async start(user) {
    this.client = await this.#connectable(user, { WebSocket: this.network.WebSocket, callTimeout });
  }

  id(name) {
    return `${this.#prefix}-${name}`;
  }

  makeClient(name) {
    return this.#connectable(name, { WebSocket: TestWebSocket });
  }

  async callAs(user, method, params) {
    if (user === 'backend') return this.#cluster.server(method, params);
    let caller = this.#callers.get(user);
    if (caller === undefined) {
      caller = await this.makeClient(user);
      await caller.loginStore.login();
      this.#callers.set(user, caller);
    }
    return caller.call(method, params, params.live);
  }

  end() {
    for (const client of this.#clients) client.disconnect();
  }

  async #connectable(name, options) {
    // A user whose token contains a name cannot change it.
    const token = await this.#cluster.token(this.id(name), { hasName: false });
    const client = new LivePlaza({ urls: this.#cluster.urls, token, ...options });
    this.#clients.push(client);
    return client;
  }
}

const options = { skip: plaza ? false : 'PLAZA names no program', concurrency: sessionsAtATime };

describe('a connection to a real cluster that is cut at each call', options, () => {
  const cluster = new Cluster();
  before(() => cluster.start());
  after(() => cluster.stop());

  for (const session of sessions) {
    for (const frameCount of session.framesBeforeCut) {
      it(`${session.name}, cut off after ${frameCount} frames`, { timeout }, async () => {
        const environment = new ClusterSession(cluster);
        try {
          await environment.start(session.user);
          await playSession(session, environment, frameCount);
        } finally {
          environment.end();
        }
      });
    }
  }
});
