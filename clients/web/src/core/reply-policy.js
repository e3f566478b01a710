// SPDX-License-Identifier: Apache-2.0
import { CloseCode, PlazaError, ReplyCode } from './errors.js';
import { badFrame } from './read.js';

/**
 * Whether the same call, with the same id, may be tried again.
 *
 * @param {import('./errors.js').PlazaError} error
 */
export function isRetriable({ code }) {
  return code === ReplyCode.overloaded || code === ReplyCode.unavailable || code === ReplyCode.timedOut;
}

/**
 * Whether the error passes by itself, so that a login or a read is worth repeating.
 *
 * @param {import('./errors.js').PlazaError} error
 */
export function passes(error) {
  return isRetriable(error) || error.code === ReplyCode.tooFrequent || error.code === ReplyCode.internalError;
}

/**
 * Whether a call that has failed with this error may have been applied all the same: its answer did not come in time,
 * was lost in the server, or cannot be read.
 *
 * @param {unknown} error
 */
export function isOutcomeUnknown(error) {
  if (!(error instanceof PlazaError)) return false;
  const { code } = error;
  return isRetriable(error) || code === ReplyCode.requestForgotten || code === ReplyCode.internalError || code === ReplyCode.badFrame;
}

/**
 * Whether a call has failed because the application or the co-host request that it answers is not open.
 *
 * @param {unknown} error
 */
export function saysRequestIsGone(error) {
  return error instanceof PlazaError && (error.code === ReplyCode.requestGone || error.code === ReplyCode.noSuchConnection);
}

/**
 * The kinds of the results that stores read, by method (PROTOCOL.md, section 5).
 *
 * @type {ReadonlyMap<string, string>}
 */
const resultKinds = new Map(Object.entries({
  'audience.list': 'audience', 'battle.request': 'battle', 'battle.requests': 'battleRequests',
  'cohost.candidates': 'lives', 'cohost.request': 'coHost', 'cohost.requests': 'coHostRequests', 'gift.list': 'gifts',
  'live.end': 'statistics', 'live.get': 'room', 'live.list': 'lives', 'live.mutes': 'sanctions',
  'live.summary': 'statistics', 'metadata.get': 'metadata', 'seat.requests': 'seatRequests',
}));

/**
 * The error of a call whose result is of another kind than its method's; undefined if it is of its method's.
 *
 * @param {string} method
 * @param {string} kind the kind of the result
 */
export function wrongResultKind(method, kind) {
  return (resultKinds.get(method) ?? kind) === kind ? undefined : badFrame('a result that the called method does not return');
}

/** The errors of a login that end a client as the close code does that would follow. */
const endings = new Map([
  [ReplyCode.tokenExpired, CloseCode.tokenExpired],
  [ReplyCode.tokenInvalid, CloseCode.tokenRefused],
  [ReplyCode.signedInElsewhere, CloseCode.signedInElsewhere],
  [ReplyCode.overLimit, CloseCode.tooManyConnections],
]);

/**
 * What the error of a login, or of a resume, means (PROTOCOL.md, section 7).
 *
 * @param {import('./errors.js').PlazaError} error
 * @param {boolean} isResume
 * @returns {{ verdict: 'closed', code: number } | { verdict: 'again' } | { verdict: 'lost' } | { verdict: 'end' }}
 * `closed`:
 *   as if the connection was closed with the code; `again`: try the same later; `lost`: the live is over for this
 *   client
 */
export function loginVerdict(error, isResume) {
  const code = endings.get(error.code);
  if (code !== undefined) return { verdict: 'closed', code };
  // A fault of the server says nothing about the login, so it is tried again, as after a lost connection.
  if (passes(error)) return { verdict: 'again' };
  return { verdict: isResume ? 'lost' : 'end' };
}
