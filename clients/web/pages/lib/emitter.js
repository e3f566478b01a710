// SPDX-License-Identifier: Apache-2.0

/** Named listeners. A listener that throws does not keep the others from hearing. */
export class Emitter {
  #listeners = new Map();

  /** @returns {() => void} ends it */
  on(kind, listener) {
    const set = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, set.add(listener));
    return () => set.delete(listener);
  }

  emit(kind, value) {
    for (const listener of [...(this.#listeners.get(kind) ?? [])]) {
      try {
        listener(value);
      } catch (error) {
        console.error(error);
      }
    }
  }
}
