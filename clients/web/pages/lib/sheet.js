// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';
import { icon } from './icons.js';

/**
 * Opens a dialog with a title. Escape, its button and a click outside close it. The browser keeps the focus inside.
 *
 * @param {string | { t: string, values?: object }} title
 * @param {...Node} content
 * @returns {HTMLDialogElement}
 */
export function openSheet(title, ...content) {
  const heading = typeof title === 'string' ? h('h2', {}, title) : h('h2', { t: title.t, values: title.values });
  heading.id = `sheet-${Math.random().toString(36).slice(2)}`;
  const sheet = h('dialog', { class: 'sheet', 'aria-labelledby': heading.id },
    h('div', { class: 'sheet-head' }, heading,
      h('button', { class: 'button round ghost tight', type: 'button', label: 'sheet.close', on: { click: () => sheet.close() } }, icon('close'))),
    ...content.filter(Boolean));
  sheet.addEventListener('close', () => {
    moveMessages();
    sheet.remove();
  });
  sheet.addEventListener('click', (event) => {
    if (event.target === sheet) sheet.close();
  });
  document.body.append(sheet);
  sheet.showModal();
  moveMessages();
  return sheet;
}

/**
 * Moves the messages of the page into the topmost dialog: elements outside of it cannot be clicked, and screen readers
 * ignore them.
 */
function moveMessages() {
  const messages = document.querySelector('.toasts');
  const front = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  if (messages && messages.parentElement !== front) front.append(messages);
}
