// SPDX-License-Identifier: Apache-2.0

/** The bits of the fields; bits 3 and 4 are none. */
const bits = {
  liveName: 1 << 0,
  notice: 1 << 1,
  isMessageDisable: 1 << 2,
  isPublicVisible: 1 << 5,
  seatMode: 1 << 6,
  coverURL: 1 << 7,
  backgroundURL: 1 << 8,
  categoryList: 1 << 9,
  activityStatus: 1 << 10,
  seatTemplate: 1 << 11,
};

/**
 * The fields of a live that an update names, as bits. `seatLayoutTemplateID` is the Swift SDK's name of `seatTemplate`.
 */
export const ModifyFlag = Object.freeze({ none: 0, ...bits, seatLayoutTemplateID: bits.seatTemplate });

/** Fields that have no bit, and are sent when they are named. */
const withoutBit = ['keepOwnerOnSeat', 'maxSeatCount', 'isGiftEnabled', 'maxMemberCount'];

/**
 * The changeable fields of an info (PROTOCOL.md, section 11.1).
 *
 * @param {{ [field: string]: any }} info
 * @param {number} [modifyFlag] the fields to take; without it all that are there
 * @returns {{ [field: string]: unknown }}
 */
export function changesOf(info, modifyFlag) {
  const flagged = Object.entries(bits).filter(([, bit]) => (modifyFlag === undefined || (modifyFlag & bit) !== 0));
  const fields = [...flagged.map(([field]) => field), ...(modifyFlag === undefined ? withoutBit : [])];
  return Object.fromEntries(fields.filter((field) => info[field] !== undefined).map((field) => [field, info[field]]));
}
