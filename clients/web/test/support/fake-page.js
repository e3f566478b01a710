// SPDX-License-Identifier: Apache-2.0

/** A fake element with what the pages use without a browser: a tree with texts and attributes. */
export class FakeElement extends EventTarget {
  children = [];
  attributes = new Map();
  dataset = {};
  parent;
  #text = '';
  #classes = new Set();
  style = { setProperty: () => {} };
  classList = { add: (name) => this.#classes.add(name), remove: (name) => this.#classes.delete(name),
    toggle: () => {} };

  constructor(tag) {
    super();
    this.tag = tag;
  }

  set textContent(text) {
    this.children = [];
    this.#text = String(text);
  }

  get textContent() {
    return this.#text + this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('');
  }

  get firstElementChild() {
    return this.children.find((child) => child instanceof FakeElement);
  }

  get nextElementSibling() {
    const { children } = this.parent;
    return children[children.indexOf(this) + 1] ?? null;
  }

  get parentElement() {
    return this.parent ?? null;
  }

  get isConnected() {
    return this.tag === 'body' || this.parent?.isConnected === true;
  }

  get childElementCount() {
    return this.children.filter((child) => child instanceof FakeElement).length;
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  append(...children) {
    for (const child of children) if (child instanceof FakeElement) child.parent = this;
    this.children.push(...children);
  }

  replaceChildren(...children) {
    for (const child of this.children) if (child instanceof FakeElement) child.parent = undefined;
    this.children = [];
    this.append(...children);
  }

  insertBefore(child, next) {
    child.remove();
    this.children.splice(next ? this.children.indexOf(next) : this.children.length, 0, child);
    child.parent = this;
  }

  replaceWith(other) {
    this.parent.insertBefore(other, this);
    this.remove();
  }

  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this);
    this.parent = undefined;
  }

  querySelector() {
    return null;
  }

  /** Returns all descendants, because the fake does not implement selectors. */
  querySelectorAll() {
    return this.children.filter((child) => child instanceof FakeElement).flatMap((child) => [child, ...child.querySelectorAll()]);
  }

  contains() {
    return false;
  }

  focus() {}

  /** Opens as a dialog. */
  showModal() {}

  close() {
    this.dispatchEvent(new Event('close'));
  }
}

/** A fake of a browser's storage, over an object. */
const storage = (values) => ({
  getItem: (name) => values[name] ?? null, setItem: (name, value) => { values[name] = value; },
  removeItem: (name) => { delete values[name]; },
});

/**
 * Puts a fake page into the globals. Import the pages' modules afterwards.
 *
 * @param {{ kept?: Record<string, string>, keptInWindow?: Record<string, string> }} [options] what this device, and
 * this
 *   window, have kept from before
 */
export function makePage({ kept = {}, keptInWindow = {} } = {}) {
  const { setInterval, setTimeout } = globalThis;
  const target = new EventTarget();
  const values = {
    document: Object.assign(new EventTarget(), {
      body: new FakeElement('body'), documentElement: new FakeElement('html'),
      createElement: (tag) => new FakeElement(tag),
      createElementNS: (_, tag) => new FakeElement(tag), querySelector: () => null, querySelectorAll: () => [],
    }),
    location: { hash: '', search: '', href: 'http://page/', origin: 'http://page' },
    // A timer of a shown message must not keep the test process running.
    setTimeout: (action, delay) => setTimeout(action, delay).unref(),
    setInterval: (action, delay) => setInterval(action, delay).unref(),
    matchMedia: () => Object.assign(new EventTarget(), { matches: false }),
    localStorage: storage(kept),
    sessionStorage: storage(keptInWindow),
    scrollTo: () => {},
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
    // There is no layout: each frame follows at once, and no size is reported.
    requestAnimationFrame: (draw) => setImmediate(draw),
    cancelAnimationFrame: (frame) => clearImmediate(frame),
    ResizeObserver: class { observe() {} disconnect() {} },
  };
  for (const [name, value] of Object.entries(values)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
