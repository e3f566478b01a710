// SPDX-License-Identifier: Apache-2.0
import { bindText } from './i18n.js';

/**
 * Makes an element. Strings become text nodes and never markup, so no text of these pages is parsed as HTML.
 *
 * @param {string} tag
 * @param {object} [props] `class`, `on` {event: listener}, `data` {name: value}, `style` {property: value}, `t` (a key
 *   of the texts) with `values`, `label`, `placeholder`, `title` (keys of the texts); any other name is an attribute.
 *   An attribute that is false, null or undefined is omitted.
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  const { class: className, on, data, style, t, values, label, placeholder, title, ...attributes } = props ?? {};
  if (className) element.className = className;
  for (const [name, listener] of Object.entries(on ?? {})) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(data ?? {})) element.dataset[name] = value;
  // The policy forbids style attributes, but allows properties that a script sets.
  for (const [name, value] of Object.entries(style ?? {})) element.style.setProperty(name, value);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  if (t) bindText(element, 'text', t, values);
  if (label) bindText(element, 'aria-label', label, values);
  if (placeholder) bindText(element, 'placeholder', placeholder, values);
  if (title) bindText(element, 'title', title, values);
  for (const child of children.flat()) if (child || child === '') element.append(child);
  return element;
}

/** Replaces the children of `parent`. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat().filter((child) => child || child === ''));
  return parent;
}

/** Closes all dialogs, because their subject is no longer shown, and an open dialog blocks the page. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll('dialog')) dialog.close();
}

/** Sets a text only if it differs, to avoid an unnecessary layout. */
export function setText(element, text) {
  const next = String(text);
  if (element.textContent !== next) element.textContent = next;
}

/** Collects the clean-up functions of a view, which run when the user leaves it. */
export class Disposer {
  #actions = [];

  /** @param {() => void} action */
  add(action) {
    this.#actions.push(action);
    return action;
  }

  listen(target, name, listener, options) {
    target.addEventListener(name, listener, options);
    this.add(() => target.removeEventListener(name, listener, options));
  }

  every(milliseconds, action) {
    const timer = setInterval(action, milliseconds);
    this.add(() => clearInterval(timer));
  }

  dispose() {
    for (const action of this.#actions.splice(0).reverse()) action();
  }
}
