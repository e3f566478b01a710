// SPDX-License-Identifier: Apache-2.0

/** The seat templates of voice lives (PROTOCOL.md, section 11.2). */
export const voiceTemplates = new Set([2, 50, 70]);

/** How many of the seats that lie over another one a phone shows above each other. */
const floatRows = 2;

/**
 * Where a region is, in parts of the canvas, in percent; of one that lies over another also its place among these, since a
 * phone shows them where neither its buttons nor its chat are.
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
 * What a stage shows: one entry for each seat whose region has a size, the lowest first. Regions that lie over another one
 * are counted, in the order of their seats: `float` is 0 for the first of them.
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

/**
 * A battle as it is shown: kept by its page, since the store forgets who fought when it ends.
 *
 * @typedef {{ id: string, endTime: number, isOver: boolean, sides: { user: object, score: number, hasLeft: boolean }[] }} ShownBattle
 */

/**
 * Follows BattleStore's state.
 *
 * @param {ShownBattle | undefined} shown
 * @param {{ currentBattleInfo: object | null, battleUsers: object[], battleScore: Record<string, number> }} state
 * @returns {ShownBattle | undefined}
 */
export function followBattle(shown, { currentBattleInfo, battleUsers, battleScore }) {
  if (currentBattleInfo === null) {
    if (!shown) return undefined;
    const sides = shown.sides.map((side) => ({ ...side, score: battleScore[side.user.userID] ?? side.score }));
    return { ...shown, isOver: true, sides };
  }
  const isSame = shown?.id === currentBattleInfo.battleID;
  const fighting = new Set(battleUsers.map(({ userID }) => userID));
  const known = isSame ? shown.sides.map(({ user }) => user) : [];
  const fresh = battleUsers.filter(({ userID }) => !known.some((user) => user.userID === userID));
  const sides = [...known, ...fresh].map((user) => ({
    user, score: battleScore[user.userID] ?? 0, hasLeft: !fighting.has(user.userID),
  }));
  return { id: currentBattleInfo.battleID, endTime: currentBattleInfo.endTime * 1000, isOver: false, sides };
}

/**
 * The state of a battle at a time.
 *
 * @param {ShownBattle} battle
 * @param {number} now milliseconds since 1970 by the server's clock
 * @returns {{ sides: (ShownBattle['sides'][0] & { share: number })[], left: number, winner?: object }} `left` in
 *   milliseconds; `winner` is left out while it runs, and for a draw
 */
export function battleState(battle, now) {
  const total = battle.sides.reduce((sum, { score }) => sum + Math.max(0, score), 0);
  const sides = battle.sides.map((side) => ({
    ...side,
    // Never nothing: a side without points is still seen.
    share: total > 0 ? Math.max(0.06, Math.max(0, side.score) / total) : 1 / battle.sides.length,
  }));
  const best = Math.max(...sides.map(({ score }) => score));
  const leaders = sides.filter(({ score }) => score === best);
  return {
    sides,
    left: battle.isOver ? 0 : Math.max(0, battle.endTime - now),
    winner: battle.isOver && leaders.length === 1 ? leaders[0] : undefined,
  };
}
