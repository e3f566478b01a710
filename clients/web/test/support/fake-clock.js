// SPDX-License-Identifier: Apache-2.0

/** Waits until all continuations of settled promises have run, however long their chains are. */
export async function settle() {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A clock that a test advances. */
export class FakeClock {
  time = 1000;
  #timers = new Map();
  #next = 1;
  /** The time in milliseconds since 1970 at which the clock is 0. */
  wallStart = 1_700_000_000_000;

  now = () => this.time;
  wall = () => this.wallStart + this.time;

  setTimeout = (action, delay) => {
    if (!(delay >= 0)) throw new RangeError(`a timer of ${delay} ms`);
    const id = this.#next++;
    this.#timers.set(id, { at: this.time + delay, action });
    return id;
  };

  clearTimeout = (id) => void this.#timers.delete(id);

  /**
   * Simulates a sleep of the machine: the time since 1970 continues, but the clock and the timers stand still.
   *
   * @param {number} milliseconds
   */
  sleep(milliseconds) {
    this.wallStart += milliseconds;
  }

  get timerCount() {
    return this.#timers.size;
  }

  /**
   * Advances the clock, and runs the timers that are due, in order.
   *
   * @param {number} milliseconds
   */
  async advance(milliseconds) {
    const end = this.time + milliseconds;
    for (let runs = 0; ; runs += 1) {
      if (runs > 100_000) throw new Error('timers run without end');
      const due = [...this.#timers].filter(([, timer]) => timer.at <= end).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
      if (due === undefined) break;
      const [id, { at, action }] = due;
      this.#timers.delete(id);
      this.time = Math.max(this.time, at);
      action();
      await settle();
    }
    this.time = end;
    await settle();
  }
}
