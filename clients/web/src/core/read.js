// SPDX-License-Identifier: Apache-2.0
import { plazaError } from './errors.js';

// Readers of values that a server sent. A server of a later version may add fields, so unknown ones are ignored; a
// field of the wrong type makes the frame a bad one, which the caller reports and drops.

/** @typedef {{ [key: string]: unknown }} JSONObject */

/**
 * The error of a frame that does not follow the protocol.
 *
 * @param {string} what
 * @returns {import('./errors.js').PlazaError}
 */
export function badFrame(what) {
  return plazaError('badFrame', `the server sent ${what}`);
}

/**
 * @param {unknown} value
 * @returns {value is JSONObject}
 */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * @param {unknown} value
 * @param {string} name the field, for the error
 * @returns {JSONObject}
 */
export function object(value, name) {
  if (!isObject(value)) throw badFrame(`no object as ${name}`);
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {unknown[]}
 */
export function array(value, name) {
  if (!Array.isArray(value)) throw badFrame(`no list as ${name}`);
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {string} [otherwise] the value of a field that is left out; without it the field is required
 * @returns {string}
 */
export function text(value, name, otherwise) {
  if (value === undefined && otherwise !== undefined) return otherwise;
  if (typeof value !== 'string') throw badFrame(`no text as ${name}`);
  return value;
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {number} [otherwise] the value of a field that is left out; without it the field is required
 * @returns {number} a whole number that JavaScript represents exactly
 */
export function whole(value, name, otherwise) {
  if (value === undefined && otherwise !== undefined) return otherwise;
  if (!Number.isSafeInteger(value)) throw badFrame(`no whole number as ${name}`);
  return /** @type {number} */ (value);
}

/**
 * @param {unknown} value
 * @param {string} name
 * @param {boolean} [otherwise] the value of a field that is left out; without it the field is required
 * @returns {boolean}
 */
export function bool(value, name, otherwise) {
  if (value === undefined && otherwise !== undefined) return otherwise;
  if (typeof value !== 'boolean') throw badFrame(`no boolean as ${name}`);
  return value;
}

/**
 * A map from text to text. Built with `fromEntries`, which makes own properties even of a key such as `__proto__`.
 *
 * @param {unknown} value
 * @param {string} name
 * @returns {Record<string, string>}
 */
export function textMap(value, name) {
  if (value === undefined) return {};
  return Object.fromEntries(Object.entries(object(value, name)).map(([key, entry]) => [key, text(entry, name)]));
}

/**
 * The only key of an object that names its kind, and what it holds.
 *
 * @param {unknown} value
 * @param {string} name
 * @returns {{ kind: string, body: JSONObject }}
 */
export function kinded(value, name) {
  const entries = Object.entries(object(value, name));
  if (entries.length !== 1) throw badFrame(`not one kind as ${name}`);
  const [kind, body] = entries[0];
  return { kind, body: object(body, `${name}.${kind}`) };
}
