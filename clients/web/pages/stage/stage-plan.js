// SPDX-License-Identifier: Apache-2.0

/** Where a region is, in parts of the canvas, in percent. */
export function place(region, canvas) {
  const part = (value, whole) => `${((100 * value) / whole).toFixed(3)}%`;
  return {
    '--x': part(region.x, canvas.width),
    '--y': part(region.y, canvas.height),
    '--w': part(region.width, canvas.width),
    '--h': part(region.height, canvas.height),
    'z-index': String(region.zorder ?? 0),
  };
}

/**
 * What a stage shows, as plain values: one entry for each region that has a size, the lowest first.
 *
 * @param {object} stage a Stage of the protocol
 * @returns {{ key: string, region: object, seat?: object, occupant?: object, member?: object, isCoHost: boolean,
 *   isOwner: boolean, score?: number }[]}
 */
export function stagePlan(stage) {
  const members = new Map((stage.connection?.members ?? []).map((member) => [member.live, member]));
  const sides = new Map((stage.battle?.sides ?? []).map((side) => [side.live, side]));
  return (stage.layout?.regions ?? [])
    .filter((region) => region.width > 0 && region.height > 0)
    .map((region) => {
      const isCoHost = region.live !== stage.live;
      const member = members.get(region.live);
      const seats = isCoHost ? member?.seats ?? [] : stage.seats ?? [];
      const seat = seats.find(({ index }) => index === region.seatIndex);
      // In the first moment of a connection the partner's seats are not known yet, but its host is.
      const host = isCoHost && region.userID && region.userID === member?.host.userID ? { user: member.host, role: 0 } : undefined;
      const occupant = seat?.occupant ?? host;
      const owner = isCoHost ? member?.host.userID : undefined;
      const isOwner = occupant !== undefined && (occupant.role === 0 || occupant.user.userID === owner);
      return {
        key: `${region.live}/${region.seatIndex}`,
        region, seat, occupant, member, isCoHost, isOwner,
        score: isOwner ? sides.get(region.live)?.score : undefined,
      };
    })
    .sort((a, b) => (a.region.zorder ?? 0) - (b.region.zorder ?? 0));
}

/**
 * The state of a battle at a time.
 *
 * @param {object} battle a Battle of the protocol
 * @param {number} now milliseconds since 1970 by the server's clock
 * @returns {{ sides: { live: string, host: object, score: number, hasLeft: boolean, share: number }[],
 *   left: number, isOver: boolean, winner?: object }} `winner` is left out while it runs and for a draw
 */
export function battleState(battle, now) {
  const total = battle.sides.reduce((sum, { score }) => sum + Math.max(0, score), 0);
  const sides = battle.sides.map((side) => ({
    ...side,
    // Never nothing: a side without points is still seen.
    share: total > 0 ? Math.max(0.06, Math.max(0, side.score) / total) : 1 / battle.sides.length,
  }));
  const left = Math.max(0, battle.endTime - now);
  const isOver = battle.ended !== undefined;
  const best = Math.max(...sides.map(({ score }) => score));
  const leaders = sides.filter(({ score }) => score === best);
  return { sides, left: isOver ? 0 : left, isOver, winner: isOver && leaders.length === 1 ? leaders[0] : undefined };
}

/** Estimates the server's clock from its stamps: the latest stamp ever seen, and what has passed since. */
export class ServerClock {
  #offset = -Infinity;

  /** Notes that a stamp of the server arrived just now. The least delayed one says most. */
  heard(stamp, now = Date.now()) {
    if (Number.isFinite(stamp)) this.#offset = Math.max(this.#offset, stamp - now);
  }

  now(local = Date.now()) {
    return this.#offset === -Infinity ? local : local + this.#offset;
  }
}
