// SPDX-License-Identifier: Apache-2.0
import { CloseCode, ReplyCode } from './errors.js';

/**
 * Whether the same call, with the same id, may be tried again.
 *
 * @param {import('./errors.js').PlazaError} error
 */
export function isRetriable({ code }) {
  return code === ReplyCode.overloaded || code === ReplyCode.unavailable || code === ReplyCode.timedOut;
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
 * @returns {{ verdict: 'closed', code: number } | { verdict: 'again' } | { verdict: 'lost' } | { verdict: 'end' }} `closed`:
 *   as if the connection was closed with the code; `again`: try the same later; `lost`: the live is over for this client
 */
export function loginVerdict(error, isResume) {
  const code = endings.get(error.code);
  if (code !== undefined) return { verdict: 'closed', code };
  if (isRetriable(error) || error.code === ReplyCode.tooFrequent) return { verdict: 'again' };
  return { verdict: isResume ? 'lost' : 'end' };
}
