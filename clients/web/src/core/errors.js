// SPDX-License-Identifier: Apache-2.0

/**
 * The codes by which calls fail, under the names of PROTOCOL.md, section 13.
 *
 * @type {Readonly<Record<string, number>>}
 */
export const ReplyCode = Object.freeze({
  userMuted: -2381,
  roomMuted: -2380,
  cameraNeedsHost: -2371,
  seatCameraLocked: -2370,
  microphoneNeedsHost: -2361,
  seatMicrophoneLocked: -2360,
  noSuchSeat: -2344,
  seatLimit: -2340,
  requestRepeated: -2312,
  requestGone: -2311,
  needsOwnerOrAdmin: -2301,
  needsOwner: -2300,
  inAnotherRoom: -2108,
  badRoomName: -2107,
  badRoomID: -2105,
  notInRoom: -2101,
  noSuchRoomOnEntry: -2100,
  notLoggedIn: -1002,
  invalidParameter: -1001,
  tooFrequent: -2,
  failed: -1,
  messageTooLong: 9522,
  timedOut: 60008,
  overloaded: 60100,
  cursorExpired: 60101,
  requestForgotten: 60102,
  unknownMethod: 60103,
  badFrame: 60104,
  droppedByBudget: 60105,
  unavailable: 60106,
  staleTicket: 60107,
  signedInElsewhere: 60108,
  tokenExpired: 70001,
  tokenInvalid: 70003,
  internalError: 100001,
  badParameter: 100002,
  roomExists: 100003,
  noSuchRoom: 100004,
  notMember: 100005,
  noPermission: 100006,
  roomFull: 100008,
  tooManyTags: 100009,
  roomExistsAndIsYours: 100010,
  createdTooOften: 100012,
  overLimit: 100013,
  wrongRoomKind: 100015,
  banned: 100016,
  tooManyAdmins: 100020,
  sensitiveWords: 100026,
  requestConflict: 100102,
  seatLocked: 100200,
  seatOccupied: 100201,
  alreadySeated: 100203,
  allSeatsTaken: 100205,
  notOnSeat: 100206,
  userAlreadyOnSeat: 100210,
  roomHasNoSeats: 100211,
  noSuchConnection: 100400,
  alreadyConnected: 100401,
  connectionPending: 100402,
  connectedElsewhere: 100403,
  connectionLimit: 100404,
  connectionTooFrequent: 100405,
  noSuchBattle: 100411,
  noValidRoom: 100412,
  battleTooFrequent: 100413,
  roomNotInBattle: 100414,
  inAnotherBattle: 100415,
  battlePending: 100416,
  noBattleInRoom: 100418,
  notWhileFighting: 100419,
  battleNotStarted: 100420,
  battleOver: 100421,
  tooManyMetadataKeys: 100500,
  metadataValueTooLong: 100501,
  metadataTooLong: 100502,
  noSuchMetadataKey: 100503,
  metadataKeyTooLong: 100504,
  giftsNotEnabled: 102001,
  noSuchGift: 102002,
  giftCheckFailed: 102004,
  giftsOffInLive: 102008,
});

/** @type {ReadonlyMap<number, string>} */
const names = new Map(Object.entries(ReplyCode).map(([name, code]) => [code, name]));

/**
 * The name of a code; `error<code>` for a code without a name, as the app's own codes 102100 to 102200.
 *
 * @param {number} code
 * @returns {string}
 */
export function replyName(code) {
  return names.get(code) ?? `error${code}`;
}

/** The error with which every method of the SDK fails. */
export class PlazaError extends Error {
  /**
   * @param {number} code a code of PROTOCOL.md, section 13; never 0
   * @param {string} message an English explanation for developers, not for users
   * @param {number} [retryAfter] after how many milliseconds a retry makes sense; left out if it makes none
   * @param {string} [reason] why a live is closed to this client; left out if the server does not tell
   */
  constructor(code, message, retryAfter, reason) {
    super(message);
    this.name = 'PlazaError';
    /** @readonly */
    this.code = code;
    /**
     * The code's name in the protocol, such as `roomFull`.
     *
     * @readonly
     */
    this.codeName = replyName(code);
    /** @readonly */
    this.retryAfter = retryAfter;
    /** @readonly */
    this.reason = reason;
  }
}

/**
 * Makes an error by the name of its code.
 *
 * @param {string} name a key of `ReplyCode`
 * @param {string} message
 * @param {number} [retryAfter] milliseconds
 * @returns {PlazaError}
 */
export function plazaError(name, message, retryAfter) {
  return new PlazaError(ReplyCode[name] ?? ReplyCode.failed, message, retryAfter);
}

/** What the close codes of PROTOCOL.md, section 14, mean for a client. */
export const CloseCode = Object.freeze({
  normal: 1000,
  lost: 1006,
  tokenRefused: 4100,
  tokenExpired: 4101,
  sessionContinues: 4102,
  protocolBroken: 4103,
  tooManyFrames: 4104,
  signedInElsewhere: 4105,
  tooManyConnections: 4106,
});

/**
 * Whether a client may reconnect by itself after a connection ended with this code.
 *
 * @param {number} code a WebSocket close code
 * @returns {boolean}
 */
export function allowsReconnect(code) {
  return code < 4100 || code > 4199;
}
