// SPDX-License-Identifier: Apache-2.0
import { hueClass, image, imageAddress } from '../lib/avatar.js';
import { Disposer, fill, h } from '../lib/dom.js';
import { icon } from '../lib/icons.js';

/** The keys of the metadata that describe a product. */
export const productKeys = { name: 'product-name', price: 'product-price', cover: 'product-cover', url: 'product-url' };

/** The product card of a live; nothing if its metadata names no product. */
export class ProductCard extends Disposer {
  #hidden;

  constructor(page) {
    super();
    this.element = h('div', { class: 'panel product', role: 'group', label: 'product.title', hidden: true });
    this.add(page.list.select(({ currentLive }) => currentLive.metaData, (metaData) => this.#show(metaData)));
  }

  /** Returns the address of a product if it is an https address; any host is allowed. */
  static #link(address) {
    try {
      return address && new URL(address).protocol === 'https:' ? address : undefined;
    } catch {
      return undefined;
    }
  }

  #show(metaData) {
    const name = metaData[productKeys.name];
    this.element.hidden = !name || name === this.#hidden;
    if (this.element.hidden) return;
    const cover = imageAddress(metaData[productKeys.cover]);
    const url = ProductCard.#link(metaData[productKeys.url]);
    fill(this.element,
      h('span', { class: `product-cover ${hueClass(name)}`, 'aria-hidden': 'true' }, cover && image(cover)),
      h('span', { class: 'product-text' }, h('strong', {}, name), h('span', { class: 'product-price' }, metaData[productKeys.price] ?? '')),
      url && h('a', { class: 'button tight', href: url, target: '_blank', rel: 'noopener noreferrer', t: 'product.view' }),
      h('button', { class: 'button round tight ghost', type: 'button', label: 'product.close', on: { click: () => {
        this.#hidden = name;
        this.element.hidden = true;
      } } }, icon('close')));
  }
}
