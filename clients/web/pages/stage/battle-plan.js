// SPDX-License-Identifier: Apache-2.0

/**
 * A battle as it is shown. The page stores it, because the store forgets the sides of a battle when it ends.
 *
 * @typedef {{ id: string, endTime: number, isOver: boolean, sides: { user: object, score: number, hasLeft: boolean }[] }} ShownBattle
 */

/**
 * Updates the shown battle from the state of BattleStore.
 *
 * @param {ShownBattle | undefined} shown
 * @param {{ currentBattleInfo: object | null, battleUsers: object[], battleScore: Record<string, number> }} state
 * @param {string} liveID the live that is shown; its side is the first, as its seats are
 * @param {{ liveID: string }[]} hosts `connected` of CoHostStore; the other sides have the order of these lives
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
  // The sides that have left are after the others.
  const place = ({ user }) => lives.indexOf(user.liveID) + 1 || lives.length + 1;
  sides.sort((a, b) => place(a) - place(b));
  return { id: currentBattleInfo.battleID, endTime: currentBattleInfo.endTime * 1000, isOver: false, sides };
}

/**
 * The state of a battle at a given time.
 *
 * @param {ShownBattle} battle
 * @param {number} now milliseconds since 1970 by the server's clock
 * @returns {{ sides: (ShownBattle['sides'][0] & { share: number })[], left: number, winner?: object }} `left` in
 * milliseconds; `winner` is undefined while the battle runs, and for a draw
 */
export function battleState(battle, now) {
  const total = battle.sides.reduce((sum, { score }) => sum + Math.max(0, score), 0);
  const sides = battle.sides.map((side) => ({
    ...side,
    // The share is never zero, so that a side without points is visible.
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
