// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedList } from '../../pages/lib/keyed-list.js';

/** A fake element with what the list uses. Like in a browser, it loses the focus when it is removed or moved. */
class FakeElement extends EventTarget {
  parent;
  children = [];

  constructor(text = '', ...children) {
    super();
    this.text = text;
    for (const child of children) this.insertBefore(child, null);
  }

  get firstElementChild() {
    return this.children[0] ?? null;
  }

  get nextElementSibling() {
    return this.parent.children[this.parent.children.indexOf(this) + 1] ?? null;
  }

  contains(other) {
    return other === this || this.children.some((child) => child.contains(other));
  }

  /** Ignores the selector: the lists search for focusable elements only. */
  closest() {
    return this.hidden ? this : this.parent?.closest() ?? null;
  }

  get parentElement() {
    return this.parent ?? null;
  }

  querySelectorAll() {
    return this.children.flatMap((child) => [child, ...child.querySelectorAll()]);
  }

  remove() {
    if (this.contains(document.activeElement)) document.activeElement = document.body;
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this);
    this.parent = undefined;
  }

  insertBefore(child, next) {
    if (child.parent) child.remove();
    this.children.splice(next ? this.children.indexOf(next) : this.children.length, 0, child);
    child.parent = this;
  }

  replaceWith(other) {
    this.parent.insertBefore(other, this);
    this.remove();
  }

  focus() {
    if (document.body.contains(this)) document.activeElement = this;
  }
}

/** Makes a list with rows `[key, shown]`; each is an element with one button. */
function list() {
  const body = new FakeElement();
  const element = new FakeElement();
  const section = new FakeElement('section', element);
  body.insertBefore(section, null);
  globalThis.document = { body, activeElement: body, documentElement: { lang: 'en' } };
  const keyed = new KeyedList(element);
  let made = 0;
  return {
    element, section, body,
    show: (...rows) => {
      made = 0;
      keyed.show(rows.map(([key, shown]) => [key, shown, () => {
        made += 1;
        return new FakeElement(`${key}${shown}`, new FakeElement('button'));
      }]));
      return [element.children.map(({ text }) => text).join(' '), made];
    },
  };
}

test('a row stays the same element while it shows the same, whoever comes, goes and changes around it', () => {
  const { element, show } = list();
  assert.deepEqual(show(['a', 1], ['b', 1], ['c', 1]), ['a1 b1 c1', 3]);
  const [, b] = element.children;
  b.children[0].focus();
  assert.deepEqual(show(['x', 1], ['b', 1], ['c', 2], ['d', 1]), ['x1 b1 c2 d1', 3]);
  assert.equal(element.children[1], b);
  assert.equal(document.activeElement, b.children[0]);
  assert.deepEqual(show(['b', 1], ['c', 2], ['d', 1], ['x', 1]), ['b1 c2 d1 x1', 0]);
  assert.equal(document.activeElement, b.children[0], 'a row that is moved keeps the focus');
  assert.deepEqual(show(), ['', 0]);
  assert.equal(document.activeElement, element, 'an empty list has the focus itself');
});

test('a row that shows something else is made anew, and has the focus if the one before had it', () => {
  const { element, show } = list();
  show(['a', 1], ['b', 1]);
  element.children[0].children[0].focus();
  assert.deepEqual(show(['a', 2], ['b', 1]), ['a2 b1', 1]);
  assert.equal(document.activeElement, element.children[0].children[0]);
  assert.deepEqual(show(['b', 1], ['a', 3]), ['b1 a3', 1]);
  assert.equal(document.activeElement, element.children[1].children[0]);
  document.documentElement.lang = 'zh-Hans';
  assert.deepEqual(show(['b', 1], ['a', 3]), ['b1 a3', 2], 'another language is another text');
});

test('the focus goes to the row in the place of one that goes away, else to the last one, and to the same control', () => {
  const { element, section, body, show } = list();
  const button = (index) => element.children[index].children[0];
  show(['a', 1], ['b', 1], ['c', 1]);
  button(1).focus();
  show(['a', 1], ['c', 1]);
  assert.equal(document.activeElement, button(1), 'the next row has come up');
  show(['a', 1]);
  assert.equal(document.activeElement, button(0), 'the last row has gone');
  show(['x', 1], ['y', 1]);
  assert.equal(document.activeElement, button(0), 'all rows are others');
  section.hidden = true;
  show();
  assert.equal(document.activeElement, body, 'a part of the page that is hidden leaves the focus to what is around it');
  assert.equal(body.tabIndex, -1);
});

test('a list whose rows change takes the focus from nobody', () => {
  const { body, show } = list();
  const other = new body.constructor('other');
  body.insertBefore(other, null);
  show(['a', 1]);
  other.focus();
  show(['b', 1]);
  show();
  assert.equal(document.activeElement, other);
});

test('a key that is held presses one button, and not those that come up under the focus', () => {
  const { element } = list();
  const isStopped = (key, repeat) => {
    const event = Object.assign(new Event('keydown', { cancelable: true }), { key, repeat });
    element.dispatchEvent(event);
    return event.defaultPrevented;
  };
  assert.deepEqual(['Enter', ' ', 'Tab', 'ArrowDown'].map((key) => [isStopped(key, false), isStopped(key, true)]),
    [[false, true], [false, true], [false, false], [false, false]]);
});
