// SPDX-License-Identifier: Apache-2.0
import { array, badFrame, bool, isObject, kinded, object, text, whole } from './read.js';
import { PlazaError, plazaError } from './errors.js';

/** The size in characters beyond which a server's frame is rejected: 4 MiB (PROTOCOL.md, section 12). */
export const maxFrameLength = 4 << 20;

/**
 * @typedef {{ n: number, at: number, kind: string, body: import('./read.js').JSONObject }} FeedItem
 * An item of a feed: its number, its time in milliseconds since 1970, and its content.
 *
 * @typedef {{ kind: 'reply', id: number, result?: { kind: string, body: import('./read.js').JSONObject }, error?: PlazaError }} ReplyFrame
 * @typedef {{ kind: 'feed', live: string, epoch: number, number: number, token: string, isHistory: boolean, items: FeedItem[] }} FeedFrame
 * @typedef {{ kind: 'counts', live: string, count: number, totalViewers: number, stale: boolean, at: number }} CountsFrame
 * @typedef {{ kind: 'notice', id: string, live: string, at: number, floor?: number, name: string, body: import('./read.js').JSONObject }} NoticeFrame
 * @typedef {{ kind: 'drain', reconnectWithin: number }} DrainFrame
 * @typedef {ReplyFrame | FeedFrame | CountsFrame | NoticeFrame | DrainFrame | { kind: 'unknown' }} ServerFrame
 */

/**
 * Reads a frame of the server.
 *
 * @param {unknown} data the data of a WebSocket message
 * @returns {ServerFrame} `unknown` for a frame of a kind that this version does not know
 * @throws {PlazaError} `badFrame` if the frame does not follow the protocol
 */
export function parseFrame(data) {
  if (typeof data !== 'string') throw badFrame('a binary message');
  if (data.length > maxFrameLength) throw badFrame('a frame that is too long');
  let frame;
  try {
    frame = JSON.parse(data);
  } catch {
    throw badFrame('a frame that is not JSON');
  }
  if (!isObject(frame)) throw badFrame('a frame that is not an object');
  if (frame.reply !== undefined) return reply(object(frame.reply, 'reply'));
  if (frame.feed !== undefined) return feed(object(frame.feed, 'feed'));
  if (frame.counts !== undefined) return counts(frame.counts);
  if (frame.notice !== undefined) return notice(object(frame.notice, 'notice'));
  if (frame.drain !== undefined) {
    const { reconnectWithin } = object(frame.drain, 'drain');
    return { kind: 'drain', reconnectWithin: Math.max(0, whole(reconnectWithin, 'drain.reconnectWithin')) };
  }
  return { kind: 'unknown' };
}

/**
 * @param {import('./read.js').JSONObject} frame
 * @returns {ReplyFrame}
 */
function reply(frame) {
  const id = whole(frame.id, 'reply.id');
  if (frame.error !== undefined) {
    const error = object(frame.error, 'reply.error');
    const after = error.retryAfter === undefined ? undefined : Math.max(0, whole(error.retryAfter, 'retryAfter'));
    const reason = error.reason === undefined ? undefined : text(error.reason, 'reason');
    return { kind: 'reply', id, error: new PlazaError(whole(error.code, 'code'), text(error.message, 'message', ''), after, reason) };
  }
  return { kind: 'reply', id, result: kinded(frame.result, 'reply.result') };
}

/**
 * @param {import('./read.js').JSONObject} frame
 * @returns {FeedFrame}
 */
function feed(frame) {
  const token = text(frame.token, 'feed.token');
  const position = tokenPosition(token);
  const epoch = whole(frame.epoch, 'feed.epoch');
  if (position === undefined || position.epoch !== epoch) throw badFrame('a feed frame with a bad token');
  const isHistory = bool(frame.history, 'feed.history', false);
  const items = array(frame.items, 'feed.items').map(feedItem);
  for (let index = 1; index < items.length; index += 1) {
    const step = items[index].n - items[index - 1].n;
    if (step < 1 || (!isHistory && step !== 1)) throw badFrame('feed items out of order');
  }
  const last = items[items.length - 1];
  if (last && (isHistory ? last.n > position.number : last.n !== position.number)) {
    throw badFrame('feed items that do not end at their token');
  }
  return { kind: 'feed', live: text(frame.live, 'feed.live'), epoch, number: position.number, token, isHistory, items };
}

/**
 * @param {unknown} value
 * @returns {FeedItem}
 */
function feedItem(value) {
  const item = object(value, 'feed item');
  // An item whose content has another form than one kind is of a later version: it has a number, and no effect.
  const entries = isObject(item.content) ? Object.entries(item.content) : [];
  const [kind, body] = entries.length === 1 ? entries[0] : ['unknown', {}];
  return { n: whole(item.n, 'item.n'), at: whole(item.at, 'item.at', 0), kind, body: isObject(body) ? body : {} };
}

/**
 * Reads counts, in a frame or in a result.
 *
 * @param {unknown} value
 * @returns {CountsFrame}
 */
export function counts(value) {
  const frame = object(value, 'counts');
  return {
    kind: 'counts',
    live: text(frame.live, 'counts.live'),
    count: whole(frame.count, 'counts.count'),
    totalViewers: whole(frame.totalViewers, 'counts.totalViewers', 0),
    stale: bool(frame.stale, 'counts.stale', false),
    at: whole(frame.at, 'counts.at', 0),
  };
}

/**
 * @param {import('./read.js').JSONObject} frame
 * @returns {NoticeFrame}
 */
function notice(frame) {
  const { kind, body } = kinded(frame.content, 'notice.content');
  return {
    kind: 'notice',
    id: text(frame.id, 'notice.id'),
    live: text(frame.live, 'notice.live', ''),
    at: whole(frame.at, 'notice.at', 0),
    floor: frame.floor === undefined ? undefined : whole(frame.floor, 'notice.floor'),
    name: kind,
    body,
  };
}

/**
 * The position that a feed token names: `epoch.number`, possibly followed by a hint for the server.
 *
 * @param {string} token
 * @returns {{ epoch: number, number: number } | undefined} undefined if it is no token
 */
export function tokenPosition(token) {
  const match = /^(\d{1,16})\.(\d{1,16})(?:\.\d+)?$/.exec(token);
  if (match === null) return undefined;
  const epoch = Number(match[1]);
  const number = Number(match[2]);
  return Number.isSafeInteger(epoch) && Number.isSafeInteger(number) ? { epoch, number } : undefined;
}

/**
 * Writes a call.
 *
 * @param {number} id
 * @param {string} method
 * @param {string} params a JSON object
 * @param {number} [age] of a call that is sent again: milliseconds since it was first sent
 * @returns {string}
 */
export function callFrame(id, method, params, age) {
  const first = age === undefined ? '' : `"age":${age},`;
  return `{${first}"id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
}

/** How many bytes the parameters of a call may have: a message has at most 64 KiB. */
const maxParams = (64 << 10) - 256;

/**
 * Writes the parameters of a call.
 *
 * @param {object} params
 * @returns {string}
 * @throws {PlazaError} `invalidParameter` for what JSON cannot say; `messageTooLong` for what the server would close
 * the
 *   connection for
 */
export function callParams(params) {
  let json;
  try {
    json = JSON.stringify(params);
  } catch (error) {
    throw plazaError('invalidParameter', `the parameters are no JSON: ${error}`);
  }
  // A character has at most three bytes for each of its units.
  if (json.length * 3 > maxParams && new TextEncoder().encode(json).length > maxParams) {
    throw plazaError('messageTooLong', 'the parameters have more than 64 KiB');
  }
  return json;
}
