// SPDX-License-Identifier: Apache-2.0
import { FakeNetwork } from './fake-network.js';

const user = (id) => ({ userID: id, userName: id, avatarURL: '' });
const info = {
  liveID: 'concert', liveName: 'Concert', liveOwner: user('alice'), createTime: 1, seatTemplate: 600, seatMode: 'apply',
  status: 2,
};

/**
 * A server with one live, with what a viewer needs: it stores outcomes by session and id, numbers the feed, and replays
 * missed items after a resume. Each frame passes `gate`, which may cut the connection before or after it.
 */
export class FakeServer {
  network = new FakeNetwork();
  /** The feed's items. */
  feed = [];
  /** How often each call was applied, by its id. */
  applied = new Map();
  #outcomes = new Map();
  #lastID = 0;
  #ticket = 420;
  #isIn = false;
  /** Called with the number and direction of each frame; returns `before`, `after`, or undefined for no cut. */
  gate = () => undefined;
  #count = 0;
  faults = [];

  constructor() {
    this.network.opensAtOnce = true;
    this.network.onSent = (frame, socket) => queueMicrotask(() => this.#pass(frame, socket, () => this.#handle(frame, socket)));
  }

  get frameCount() {
    return this.#count;
  }

  /** Adds an item and sends it to the viewer. */
  publish(content) {
    this.feed.push({ at: 1, content, n: this.feed.length + 1 });
    const { socket } = this.network;
    if (this.#isIn && socket?.isLoggedIn && !socket.isClosed) this.#sendFeed(socket, this.feed.slice(-1));
  }

  #sendFeed(socket, items) {
    this.#send(socket, { feed: { epoch: 77, items, live: 'concert', token: `77.${items.length ? items[items.length - 1].n : this.feed.length}` } });
  }

  #send(socket, frame) {
    // Frames are delivered in order, and not within the call that caused them.
    socket.line = (socket.line ?? Promise.resolve()).then(() => this.#pass(frame, socket, () => socket.receive(frame)));
  }

  #pass(frame, socket, deliver) {
    if (socket.isClosed) return;
    const verdict = this.gate(this.#count, frame);
    this.#count += 1;
    if (verdict !== 'before') deliver();
    if (verdict !== undefined && !socket.isClosed) socket.end(1006);
  }

  #handle({ id, method, params, age }, socket) {
    const known = this.#outcomes.get(id);
    if (known !== undefined && method !== 'login') {
      if (age === undefined) this.faults.push(`${method} ${id} came again without its age`);
      if (known.method !== method || known.params !== JSON.stringify(params)) this.faults.push(`${method} ${id} came again as another call`);
      return this.#send(socket, { reply: { id, ...known.answer } });
    }
    if (known === undefined && id <= this.#lastID && age === undefined) this.faults.push(`${method} ${id} is not above ${this.#lastID}`);
    this.#lastID = Math.max(this.#lastID, id);
    if (!socket.isLoggedIn && method !== 'login') this.faults.push(`${method} before the login`);
    this.applied.set(id, (this.applied.get(id) ?? 0) + 1);
    const answer = this.#apply(method, params, socket);
    this.#outcomes.set(id, { method, params: JSON.stringify(params), answer });
    this.#send(socket, { reply: { id, ...answer } });
    if (answer.afterwards) this.#sendFeed(socket, answer.afterwards());
  }

  #apply(method, params, socket) {
    const ok = (kind, body = {}) => ({ result: { [kind]: body } });
    switch (method) {
      case 'login': return this.#login(params, socket);
      case 'live.join':
        this.#isIn = true;
        this.#ticket += 1;
        return { ...ok('joined', { confirmed: true, epoch: 77, ticket: this.#ticket, token: `77.${this.feed.length}` }),
          afterwards: () => [] };
      case 'live.leave':
        this.#isIn = false;
        return ok('done');
      case 'live.get': return ok('room', { details: { audience: { at: 1, count: 1, live: 'concert', stale: false, totalViewers: 1 }, epoch: 77, info } });
      case 'audience.list': return ok('audience', { page: { members: [], cursor: '', count: 0 } });
      case 'live.mutes': return ok('sanctions', { page: { items: [], nextOffset: 0 } });
      case 'live.summary': return ok('statistics', { statistics: {} });
      case 'barrage.sendText':
        if (!this.#isIn) return { error: { code: -2101, message: 'not in', name: 'notInRoom' } };
        this.publish({ text: { sender: user('carol'), text: params.text } });
        return ok('sent', { position: { epoch: 77, number: this.feed.length } });
      default: return ok('done');
    }
  }

  #login({ resume, notices }, socket) {
    socket.isLoggedIn = true;
    if (resume === undefined) return { result: { loggedIn: { gateway: 'g', notices: notices ?? '1-1', session: 's', user: user('carol') } } };
    if (!this.#isIn || resume.ticket !== this.#ticket) return { error: { code: 60107, message: 'stale', name: 'staleTicket' } };
    const { position } = resume;
    const missed = this.feed.filter((item) => item.n > position.number);
    return { result: { resumed: { ticket: this.#ticket, position, replayed: true } },
      ...(missed.length ? { afterwards: () => missed } : {}) };
  }
}
