// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { LivePlaza } from '../../src/index.js';
import { FakeClock, settle } from './fake-clock.js';
import { FakeNetwork } from './fake-network.js';

const folder = new URL('../../../conformance/', import.meta.url);
/** Reads a file of clients/conformance. */
export const read = (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
const setups = read('setups.json');

/** The files that contain no cases. */
const otherFiles = ['sessions.json', 'setups.json'];

/** All files with cases, with their names. */
export const files = readdirSync(folder).filter((name) => name.endsWith('.json') && !otherFiles.includes(name)).sort()
  .map((name) => ({ name, ...read(name) }));

/** The stores of a client, by the names that cases use. */
export const storeOf = (plaza, name, live) => (name === 'login' ? plaza.loginStore
  : name === 'liveList' ? plaza.liveListStore : plaza.live(live ?? 'concert')[name]);

/** Runs one case of clients/conformance (its README describes the format). */
export async function runCase({ setup, answers = {}, steps }) {
  const base = setup === undefined ? { steps: [] } : setups[setup];
  assert.ok(base, `no setup ${setup}`);
  const run = new CaseRun({ ...base.answers, ...answers });
  for (const [index, step] of [...base.steps, ...steps].entries()) {
    try {
      await run.step(step);
    } catch (error) {
      error.message = `step ${index - base.steps.length} ${JSON.stringify(step)}: ${error.message}`;
      throw error;
    }
  }
  run.plaza.disconnect();
}

class CaseRun {
  clock = new FakeClock();
  network = new FakeNetwork();
  ids = new Map();
  calls = new Map();
  events = new Map();
  reports = [];

  constructor(answers) {
    this.network.onSent = (frame, socket) => {
      const result = answers[frame.method];
      if (!result) return;
      frame.isTaken = true;
      queueMicrotask(() => {
        if (!socket.isClosed) socket.receive({ reply: { id: frame.id, result } });
      });
    };
    this.plaza = new LivePlaza({
      url: 'ws://gateway/v1', token: 't.o.ken', session: 's', WebSocket: this.network.WebSocket, clock: this.clock,
      random: () => 0.5, page: {},
    });
    this.plaza.addEventListener('error', ({ detail }) => this.reports.push(detail.codeName));
    for (const name of ['login', 'liveList']) this.#listen(name);
    for (const name of Object.keys(this.plaza.live('concert'))) this.#listen(name);
  }

  /** Records all events of a store, whatever their types. */
  #listen(name) {
    const store = storeOf(this.plaza, name);
    const events = [];
    this.events.set(name, events);
    const dispatch = store.dispatchEvent.bind(store);
    store.dispatchEvent = (event) => {
      events.push({ type: event.type, detail: event.detail });
      return dispatch(event);
    };
  }

  get socket() {
    return this.network.socket;
  }

  async step(step) {
    const [[kind, value]] = Object.entries(step);
    assert.ok(kind in this.kinds, `no step of this kind`);
    await this.kinds[kind](value);
    await settle();
  }

  kinds = {
    call: ({ store, method, params, live, as = 'last' }) => {
      const outcome = {};
      this.calls.set(as, outcome);
      const target = storeOf(this.plaza, store, live);
      Promise.resolve().then(() => target[method](params)).then(
        (result) => Object.assign(outcome, { isDone: true, result }),
        (error) => Object.assign(outcome, { isDone: true, error }));
    },
    open: () => this.socket.open(),
    refuse: () => this.socket.end(1006),
    sent: ({ method, params, as, age }) => {
      const frame = this.socket.sent.find((other) => other.method === method && !other.isTaken);
      const seen = this.socket.sent.filter((other) => !other.isTaken).map((other) => other.method);
      assert.ok(frame, `not sent; untaken are ${seen.join(', ') || 'none'}`);
      frame.isTaken = true;
      if (params !== undefined) assert.deepEqual(frame.params, params);
      if (as !== undefined && this.ids.has(as)) assert.equal(frame.id, this.ids.get(as), 'another id');
      if (as !== undefined) this.ids.set(as, frame.id);
      assert.equal(frame.age, age, 'another age');
    },
    notSent: (method) => {
      assert.ok(!this.socket.sent.some((other) => other.method === method && !other.isTaken), 'it was sent');
    },
    reply: ({ to, result, error }) => {
      assert.ok(this.ids.has(to), `no call ${to}`);
      this.socket.receive({ reply: { id: this.ids.get(to), ...(error ? { error } : { result }) } });
    },
    receive: (frame) => this.socket.receive(frame),
    receiveText: (text) => this.socket.receive(text),
    receiveBinary: (bytes) => this.socket.receiveData(new Uint8Array(bytes).buffer),
    cut: (code) => this.socket.end(code),
    closed: () => assert.ok(this.socket.isClosed, 'it is open'),
    advance: (milliseconds) => this.clock.advance(milliseconds),
    state: ({ store, live, is }) => matches(storeOf(this.plaza, store, live).state, is, 'state'),
    event: ({ store, type, detail = {} }) => {
      const event = this.events.get(store).shift();
      assert.equal(event?.type, type);
      matches(event.detail, detail, 'detail');
    },
    noEvents: (store) => assert.deepEqual(this.events.get(store), []),
    result: ({ of, is }) => {
      const { isDone, result, error } = this.calls.get(of);
      assert.equal(error, undefined, `it failed: ${error?.message}`);
      assert.ok(isDone, 'it is not finished');
      if (is !== undefined) matches(result, is, 'result');
    },
    error: ({ of, codeName, retryAfter }) => {
      const { error } = this.calls.get(of);
      assert.equal(error?.codeName, codeName);
      if (retryAfter !== undefined) assert.equal(error.retryAfter, retryAfter);
    },
    unfinished: (of) => assert.ok(!this.calls.get(of).isDone, 'it is finished'),
    reported: (codeName) => assert.equal(this.reports.shift(), codeName),
    repeat: async ({ times, steps }) => {
      for (let turn = 0; turn < times; turn += 1) for (const step of steps) await this.step(numbered(step, turn));
    },
  };
}

/** A step in which `$i` is replaced by the number of the repetition. */
function numbered(value, turn) {
  if (typeof value === 'string') return value.replace(/\$i(?:\+(\d+))?/g, (_, more) => String(turn + Number(more ?? 0)));
  if (Array.isArray(value)) return value.map((entry) => numbered(entry, turn));
  if (typeof value !== 'object' || value === null) return value;
  if ('$i' in value) return turn + value.$i;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, numbered(entry, turn)]));
}

/** Checks a value against the expected one; of an object, only the fields that the expected one has. */
export function matches(actual, expected, path) {
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), `${path} is no list`);
    assert.equal(actual.length, expected.length, `${path} has another length: ${JSON.stringify(actual)}`);
    expected.forEach((entry, index) => matches(actual[index], entry, `${path}[${index}]`));
  } else if (typeof expected === 'object' && expected !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, `${path} is ${actual}`);
    for (const [key, entry] of Object.entries(expected)) {
      if (key === '$length') assert.equal(lengthOf(actual), entry, `${path} has another length`);
      else if (key === '$contains') assert.ok(containsMatch(actual, entry), `${path} has no such entry: ${JSON.stringify(actual)}`);
      else if (key === '$first') matches(actual[0], entry, `${path}[first]`);
      else if (key === '$last') matches(actual[actual.length - 1], entry, `${path}[last]`);
      else matches(actual[key], entry, `${path}.${key}`);
    }
  } else assert.deepEqual(actual, expected, path);
}

/** The number of entries of a list, or of fields of an object. */
function lengthOf(value) {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** Whether a list has an entry that matches the expected one. */
function containsMatch(list, expected) {
  return Array.isArray(list) && list.some((entry) => {
    try {
      matches(entry, expected, 'entry');
      return true;
    } catch {
      return false;
    }
  });
}
