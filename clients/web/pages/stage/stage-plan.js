// SPDX-License-Identifier: Apache-2.0

/** The seat templates of voice lives (PROTOCOL.md, section 11.2). */
export const voiceTemplates = new Set([2, 50, 70]);

/** How many of the seats that lie over another one a phone shows above each other. */
const floatRows = 2;

/**
 * Where a region is, in parts of the canvas, in percent; of one that lies over another also its place among these,
 * since a phone shows them where neither its buttons nor its chat are.
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
 * What a stage shows: one entry for each seat whose region has a size, the lowest first. Regions that lie over another
 * one are counted, in the order of their seats: `float` is 0 for the first of them.
 *
 * @param {object} stage
 * @param {string} stage.liveID
 * @param {object[]} stage.seatList of LiveSeatStore
 * @param {object[]} stage.hosts `connected` of CoHostStore
 * @param {Record<string, number> | undefined} stage.scores by user, while a battle is shown
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
