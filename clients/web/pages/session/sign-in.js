// SPDX-License-Identifier: Apache-2.0
import { Disposer, h } from '../lib/dom.js';
import { t } from '../lib/i18n.js';
import { limitBytes } from '../lib/limits.js';
import { keptInWindow } from '../lib/theme.js';
import { words } from './session.js';

/** The first page: a field for a name where demo tokens are available, otherwise for a token of the app. */
export class SignIn extends Disposer {
  constructor(shell) {
    super();
    this.shell = shell;
    const isDemo = shell.session.givesDemoTokens;
    this.name = h('input', { class: 'input', id: 'sign-name', name: 'name', maxlength: '40', autocomplete: 'nickname', required: isDemo, placeholder: 'sign.namePlaceholder', value: keptInWindow.get('name') ?? '' });
    this.token = h('textarea', { class: 'input', id: 'sign-token', rows: '4', required: true, spellcheck: 'false', autocomplete: 'off' });
    this.error = h('p', { class: 'form-error', role: 'alert' });
    this.status = h('p', { class: 'quiet', role: 'status' });
    this.button = h('button', { class: 'button primary', type: 'submit', t: 'sign.in' });
    limitBytes(this.name, 100, { isPlain: true, check: (name) => isDemo && !name && t('sign.noName') });
    const fields = [field('sign-name', 'sign.name', this.name)];
    if (!isDemo) fields.push(field('sign-token', 'sign.token', this.token, 'sign.tokenHint'));
    this.element = h('div', { class: 'sign' }, h('section', { class: 'panel sign-card' },
      h('span', { class: 'brand-mark', 'aria-hidden': 'true' }), h('h1', { t: 'sign.title' }), h('p', { class: 'quiet', t: 'sign.lead' }),
      h('form', { on: { submit: (event) => this.#submit(event, isDemo) } }, ...fields, this.error, this.status, this.button),
      isDemo && h('p', { class: 'quiet small', t: 'sign.demo' })));
  }

  async #submit(event, isDemo) {
    event.preventDefault();
    const name = this.name.value.trim();
    if (isDemo && !name) return;
    this.button.disabled = true;
    this.error.textContent = '';
    this.status.textContent = t('state.connecting');
    try {
      await this.shell.session.signIn({ name, token: isDemo ? undefined : this.token.value.trim() });
      if (isDemo) keptInWindow.set('name', name);
    } catch (error) {
      this.error.textContent = t('sign.failed', { reason: words(error) });
    } finally {
      this.status.textContent = '';
      this.button.disabled = false;
    }
  }
}

/** A labelled field of a form. @param {object} [values] the values for the hint's text */
export function field(id, label, input, hint, values) {
  const parts = [h('label', { class: 'field-label', for: id, t: label }), input];
  if (hint) {
    input.setAttribute('aria-describedby', `${id}-hint`);
    parts.push(h('span', { class: 'field-hint', id: `${id}-hint`, t: hint, values }));
  }
  return h('div', { class: 'field' }, ...parts);
}
