// SPDX-License-Identifier: Apache-2.0
import { imageAddress, originsOfImages } from '../lib/avatar.js';
import { Disposer, fill, h } from '../lib/dom.js';
import { onLanguage, t } from '../lib/i18n.js';
import { limitBytes } from '../lib/limits.js';
import { kept } from '../lib/theme.js';
import { productKeys } from '../live/product-card.js';
import { card } from '../plaza/card.js';
import { categories, categoryName } from '../plaza/search.js';
import { field } from '../session/sign-in.js';
import { words } from '../session/session.js';
import { isOther } from './running-live.js';

const templates = [600, 601, 602, 603, 604, 800, 801, 802, 200, 400, 50, 70, 2];
/** The number of seats of a voice live. */
const voiceSeats = { 50: 8, 70: 10, 2: 12 };

/** The cover images that the server provides. */
const covers = ['cup', 'games', 'market', 'piano', 'radio'].map((name) => `/pages/covers/evening-${name}.svg`);

/** The error for a picture that would not be shown: the pages' policy allows images of few origins only. */
const originsText = () => ({ origins: originsOfImages().join(', ') });
const checkPicture = (address) => address !== '' && !imageAddress(address) && t('host.noPicture', originsText());

/** Whether a text is an address to which a product card can link. */
const isLink = (address) => address.startsWith('https://') && URL.canParse(address);

/** The form with which a user goes live: title, cover, category, stage, seats. */
export class HostPage extends Disposer {
  constructor(shell) {
    super();
    this.shell = shell;
    const { user } = shell.session;
    const input = (id, attributes) => h('input', { class: 'input', id, autocomplete: 'off', on: { input: () => this.#preview() }, ...attributes });
    const select = (id) => h('select', { class: 'input', id, on: { change: () => this.#preview() } });
    this.name = input('host-name', { maxlength: '60', required: true, placeholder: 'host.namePlaceholder' });
    this.cover = input('host-cover', { type: 'url', maxlength: '180', list: 'host-covers' });
    this.welcome = input('host-notice', { maxlength: '80' });
    this.productName = input('host-product', { maxlength: '80' });
    this.productPrice = input('host-price', { maxlength: '20' });
    this.productCover = input('host-product-cover', { type: 'url', maxlength: '180' });
    this.productLink = input('host-product-link', { type: 'url', maxlength: '180' });
    limitBytes(this.name, 100, { isPlain: true });
    limitBytes(this.cover, 200, { isPlain: true, check: checkPicture });
    limitBytes(this.productCover, 200, { isPlain: true, check: checkPicture });
    limitBytes(this.productLink, 200, { isPlain: true, check: (address) => address !== '' && !isLink(address) && t('host.noLink') });
    limitBytes(this.welcome, 100, { isPlain: false });
    this.category = select('host-category');
    this.template = select('host-template');
    this.seatMode = select('host-seats');
    this.error = h('p', { class: 'form-error', role: 'alert' });
    this.button = h('button', { class: 'button primary', type: 'submit', t: 'host.start' });
    this.card = h('div', {});
    this.element = h('div', { class: 'host' },
      h('header', {}, h('h1', { t: 'host.title' }), h('p', { class: 'quiet', t: 'host.lead' })),
      h('form', { class: 'panel host-form', on: { submit: (event) => this.#start(event) } },
        field('host-name', 'host.name', this.name),
        h('div', { class: 'two' }, field('host-category', 'host.category', this.category), field('host-template', 'host.template', this.template)),
        h('div', { class: 'two' }, field('host-seats', 'host.seatMode', this.seatMode), field('host-notice', 'host.notice', this.welcome)),
        field('host-cover', 'host.cover', this.cover, 'host.coverHint', originsText()),
        h('datalist', { id: 'host-covers' }, ...covers.map((path) => h('option', { value: new URL(path, location.href).href }))),
        h('div', { class: 'two' }, field('host-product', 'host.productName', this.productName), field('host-price', 'host.productPrice', this.productPrice)),
        h('div', { class: 'two' }, field('host-product-cover', 'host.productCover', this.productCover, 'host.productCoverHint', originsText()), field('host-product-link', 'host.productLink', this.productLink, 'host.linkHint')),
        this.error, this.button),
      h('aside', { class: 'host-preview', label: 'host.preview' }, h('h2', { t: 'host.preview' }), this.card));
    this.#options();
    this.add(onLanguage(() => this.#options()));
    this.name.value = kept.get('liveName') ?? '';
    this.user = user;
    this.#preview();
    void shell.session.leave();
  }

  #options() {
    const set = (select, values, text) => {
      const chosen = select.value;
      fill(select, values.map((value) => h('option', { value }, text(value))));
      if (chosen) select.value = chosen;
    };
    set(this.category, categories, categoryName);
    set(this.template, templates, (template) => t(`template.${template}`));
    set(this.seatMode, ['apply', 'free'], (mode) => t(mode === 'free' ? 'host.seatFree' : 'host.seatApply'));
    this.#preview();
  }

  /** The info of the new live. Each user of these pages has one live id, so an owner finds a running live again. */
  get #info() {
    const template = Number(this.template.value);
    return {
      liveID: `live-${this.shell.session.user.userID}`, liveName: this.name.value.trim(),
      coverURL: this.cover.value.trim(), notice: this.welcome.value.trim(),
      categoryList: [Number(this.category.value)], seatTemplate: template, seatMode: this.seatMode.value,
      ...(template in voiceSeats ? { maxSeatCount: voiceSeats[template] } : {}),
    };
  }

  #preview() {
    if (!this.user) return;
    const info = { ...this.#info, liveOwner: this.user, audienceCount: 0, status: 2 };
    fill(this.card, card({ ...info, liveName: info.liveName || t('host.namePlaceholder') }));
    this.card.firstElementChild.tabIndex = -1;
    this.card.firstElementChild.setAttribute('aria-hidden', 'true');
  }

  async #start(event) {
    event.preventDefault();
    this.button.disabled = true;
    this.error.textContent = '';
    const { session, router } = this.shell;
    const info = this.#info;
    try {
      await session.goLive(info);
      kept.set('liveName', info.liveName);
      if (isOther(session.plaza.liveListStore.state.currentLive, info)) this.shell.say(t('host.runsAlready'), { lasts: 12_000 });
      // The live is running already. If its product is rejected, the host enters it all the same.
      await this.#announceProduct(session.plaza.liveListStore).catch((error) => this.shell.say(t('host.noProduct', { reason: words(error) })));
      router.go({ page: 'live', live: info.liveID });
    } catch (error) {
      this.error.textContent = words(error);
    } finally {
      this.button.disabled = false;
    }
  }

  async #announceProduct(list) {
    const fields = { name: this.productName, price: this.productPrice, cover: this.productCover,
      url: this.productLink };
    const values = Object.fromEntries(Object.entries(fields).map(([name, input]) => [productKeys[name], input.value.trim()]));
    if (values[productKeys.name]) await list.updateLiveMetaData(values);
  }
}
