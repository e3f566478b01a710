// SPDX-License-Identifier: Apache-2.0

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
 * @param {string} liveID the live that is shown: its side stands first, as its seats do
 * @param {{ liveID: string }[]} hosts `connected` of CoHostStore, in the order of whose seats the other sides follow
 * @returns {ShownBattle | undefined}
 */
export function followBattle(shown, { currentBattleInfo, battleUsers, battleScore }, liveID, hosts) {
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
  const lives = [liveID, ...hosts.map((host) => host.liveID)];
  // Who has parted stands behind the others.
  const place = ({ user }) => lives.indexOf(user.liveID) + 1 || lives.length + 1;
  sides.sort((a, b) => place(a) - place(b));
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
