// SPDX-License-Identifier: Apache-2.0

/** The seat templates of voice lives (PROTOCOL.md, section 11.2). */
export const voiceTemplates = new Set([2, 50, 70]);

/** The number of floating seats that a phone shows in a column. */
const floatRows = 2;

/**
 * The position of a region, in percent of the canvas. A phone places a region that lies over another one by its number
 * among these, where neither buttons nor the chat are.
 */
export function place(region, canvas, float = 0) {
  const part = (value, whole) => `${((100 * value) / whole).toFixed(3)}%`;
  return {
    '--x': part(region.x, canvas.w),
    '--y': part(region.y, canvas.h),
    '--w': part(region.w, canvas.w),
    '--h': part(region.h, canvas.h),
    'z-index': String(region.zorder),
    '--column': String(Math.floor(float / floatRows)),
    '--row': String(float % floatRows),
  };
}

/**
 * The entries that a stage shows: one for each seat whose region has a size, the lowest region first. `float` numbers
 * the regions that lie over another one, in the order of their seats, from 0.
 *
 * @param {object} stage
 * @param {string} stage.liveID
 * @param {object[]} stage.seatList the seats of LiveSeatStore
 * @param {object[]} stage.hosts `connected` of CoHostStore
 * @param {Record<string, number> | undefined} stage.scores the scores by user, while a battle is shown
 * @returns {{ key: string, seat: object, user?: object, isCoHost: boolean, isOwner: boolean, score?: number, float?: number }[]}
 */
export function stagePlan({ liveID, seatList, hosts, scores }) {
  const isHost = (user, live) => hosts.some((host) => host.liveID === live && host.userID === user.userID);
  let floats = 0;
  return seatList
    .filter(({ region }) => region.w > 0 && region.h > 0)
    .map((seat) => {
      const user = seat.userInfo.userID ? seat.userInfo : undefined;
      const isOwner = user !== undefined && (user.role === 'owner' || isHost(user, seat.liveID));
      return {
        key: `${seat.liveID}/${seat.index}`, seat, user, isOwner,
        isCoHost: seat.liveID !== liveID,
        score: isOwner ? scores?.[user.userID] : undefined,
        float: seat.region.zorder > 0 ? floats++ : undefined,
      };
    })
    .sort((a, b) => a.seat.region.zorder - b.seat.region.zorder);
}
