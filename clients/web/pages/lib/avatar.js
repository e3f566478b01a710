// SPDX-License-Identifier: Apache-2.0
import { h } from './dom.js';
import { hash, initials, nameOf } from './format.js';

/** The number of colours that the style sheets have for people and covers. */
const hues = 10;

/** The colour class of an id; the same on all pages. */
export function hueClass(id) {
  return `hue-${hash(String(id ?? '')) % hues}`;
}

let imageOrigins = new Set();

/** Sets the origins of images that the policy allows besides the page's own origin. @param {string[]} origins */
export function allowImagesOf(origins) {
  imageOrigins = new Set(origins);
}

/** The allowed origins of images, the page's own first. */
export const originsOfImages = () => [location.origin, ...imageOrigins];

/** Returns the address if its image is allowed, otherwise nothing, so that no request goes to other servers. */
export function imageAddress(address) {
  if (!address) return undefined;
  try {
    const url = new URL(address, location.href);
    return url.origin === location.origin || imageOrigins.has(url.origin) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A user's picture: the image, or the initials on the user's colour if there is no image or it does not load. */
export function avatar(user, size = 'medium') {
  const element = h('span', { class: `avatar avatar-${size} ${hueClass(user?.userID)}`, 'aria-hidden': 'true' });
  element.append(h('span', { class: 'avatar-initials' }, initials(nameOf(user))));
  const address = imageAddress(user?.avatarURL);
  if (address) element.append(image(address));
  return element;
}

/** An image element that removes itself if the image does not load. */
export function image(address) {
  const element = h('img', { src: address, alt: '', loading: 'lazy', decoding: 'async', referrerpolicy: 'no-referrer' });
  element.addEventListener('error', () => element.remove(), { once: true });
  return element;
}
