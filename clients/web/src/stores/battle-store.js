// SPDX-License-Identifier: Apache-2.0
import { plazaError } from '../core/errors.js';
import { seconds } from '../core/models.js';
import { array, object, text, whole } from '../core/read.js';
import { initial } from '../core/state/battle.js';
import { LiveStore, liveStores } from './live-store.js';

/** The code of a user who is no host of the connection, as the server has it for lives. */
const notConnected = 4;

/**
 * Battles between connected hosts. Scores are set by the app's server alone; the app decides who won.
 *
 * Events: `onBattleRequestReceived` {battleID, inviter, invitee, durationSeconds, expiresAt, extensionInfo};
 * `onBattleRequestCancelled`, `onBattleRequestTimeout`, `onBattleRequestAccept`, `onBattleRequestReject`
 * {battleID, inviter, invitee}; `onBattleStarted` {battleInfo, inviter, invitees}, `onBattleEnded`
 * {battleInfo, reason}, `onUserJoinBattle`, `onUserExitBattle` {battleID, battleUser}, `onBattleNotStarted` {battleID}:
 * nobody accepted.
 *
 * @extends {LiveStore<import('../index.js').BattleState>}
 */
export class BattleStore extends LiveStore {
  /**
   * @param {string} liveID
   * @param {import('../live-session.js').LiveSession} session
   */
  constructor(liveID, session) {
    super(liveID, session, initial());
  }

  /**
   * The store of a live: of the default instance, unless another is named.
   *
   * @param {string} liveID
   * @param {import('../live-plaza.js').LivePlaza} [plaza]
   */
  static create(liveID, plaza) {
    return liveStores(liveID, plaza).battle;
  }

  /**
   * Asks connected hosts for a battle, or begins one at once.
   *
   * After `timedOut` the request may be open: the events of its answers name the battle, and another request then fails
   * with `battlePending`.
   *
   * @param {{ config?: Partial<import('../index.js').BattleConfig>, userIDList: readonly string[], timeout?: number }} request
   *   whether they must accept, and seconds of the battle (0: the app's longest); hosts of
   *   `CoHostStore.state.connected`: one that is not gets the code 4, and the others are asked; seconds to answer, 1 to
   *   1,800 (10)
   * @returns {Promise<{ battleInfo: import('../index.js').BattleInfo, resultMap: Record<string, number> }>} the battle,
   * with
   *   the config of the request and times that are 0 until it begins; and a code for each user: 0 asked, or fighting at
   *   once; 1 the live has ended, 2 oneself, 3 in a battle or about to be, 4 no host of the connection. If it is 0 for
   *   none, this fails with `noValidRoom`
   * @throws {import('../core/errors.js').PlazaError} `noSuchConnection`, `inAnotherBattle`, `battlePending`,
   * `noValidRoom`,
   *   `battleTooFrequent`, `badParameter`, `needsOwner`
   */
  async requestBattle({ config = {}, userIDList, timeout }) {
    this.session.checkHasLogin();
    const lives = this.#livesOf(userIDList);
    if (lives.size === 0 && userIDList.length > 0) throw this.#noHostError();
    const { duration = 0, needResponse = false, extensionInfo = '' } = config;
    const params = { to: [...lives.values()], duration, needResponse, timeout, extensionInfo };
    // The battle has its id from the server, so its requests have no names before the reply.
    const { reply, codes } = await this.request('battleRequests', [], async () => {
      const reply = await this.call('battle.request', params);
      const codes = new Map(array(reply.codes ?? [], 'codes').map((entry) => {
        const { live, code } = object(entry, 'code');
        return [text(live, 'live'), whole(code, 'code')];
      }));
      // A battle that has begun is no request any more.
      const asked = reply.startTime === undefined ? params.to.filter((live) => (codes.get(live) ?? 0) === 0) : [];
      const opened = asked.map((live) => `ownBattle ${text(reply.battle, 'battle')} ${live}`);
      return { result: { reply, codes }, opened };
    });
    return {
      battleInfo: {
        battleID: text(reply.battle, 'battle'), config: { duration, needResponse, extensionInfo },
        startTime: seconds(reply.startTime, 'startTime'), endTime: seconds(reply.endTime, 'endTime'),
      },
      // Users who are no hosts of the connection were not named to the server.
      resultMap: Object.fromEntries(userIDList.map((user) => {
        const live = lives.get(user);
        return [user, live === undefined ? notConnected : codes.get(live) ?? 0];
      })),
    };
  }

  /**
   * Takes the requests to these users back before the battle begins, also those that were accepted; users who were not
   * asked, or are no hosts of the connection, are ignored. The battle begins if all others have accepted, and is off if
   * nobody else was asked.
   *
   * @param {{ battleId: string, userIdList: readonly string[] }} request
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `noSuchBattle`, `notWhileFighting`, `noPermission`
   */
  async cancelBattleRequest({ battleId, userIdList }) {
    const lives = [...this.#livesOf(userIdList).values()];
    // If none of them was asked, the own live, which is never asked, stands for them: the server then still tells
    // whether there is such a request.
    const to = lives.length === 0 && userIdList.length > 0 ? [this.liveID] : lives;
    await this.callAndChange('battle.cancel', { battle: battleId, to }, ...lives.map((invitee) => (
      { type: 'local.battleRequestCancelled', body: { battle: battleId, invitee }, snapshot: 'battleRequests' })));
  }

  /**
   * Accepts a request.
   *
   * @param {{ battleID: string }} battle
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `noSuchBattle`, `battleOver`, `battlePending`
   */
  async acceptBattle({ battleID }) {
    await this.callAndChange('battle.accept', { battle: battleID }, answered(battleID));
  }

  /**
   * Declines a request.
   *
   * @param {{ battleID: string }} battle
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `noSuchBattle`, `battleOver`
   */
  async rejectBattle({ battleID }) {
    await this.callAndChange('battle.reject', { battle: battleID }, answered(battleID));
  }

  /**
   * Leaves the battle; the others go on.
   *
   * @param {{ battleID: string }} battle
   * @returns {Promise<void>}
   * @throws {import('../core/errors.js').PlazaError} `noSuchBattle`, `battleNotStarted`, `battleOver`,
   * `roomNotInBattle`
   */
  async exitBattle({ battleID }) {
    await this.call('battle.exit', { battle: battleID });
  }

  /**
   * The lives of those users who are hosts of the connection.
   *
   * @param {readonly string[]} users
   * @returns {Map<string, string>} live by user
   */
  #livesOf(users) {
    const { connected } = this.session.statesOf(this.liveID).coHost;
    const lives = new Map(connected.map(({ userID, liveID }) => [userID, liveID]));
    return new Map(users.flatMap((user) => {
      const live = lives.get(user);
      return live === undefined ? [] : [[user, live]];
    }));
  }

  /** The error of a battle request that names no host of the connection, or is made without a connection. */
  #noHostError() {
    const { connected } = this.session.statesOf(this.liveID).coHost;
    return connected.length === 0
      ? plazaError('noSuchConnection', 'the live is in no connection')
      : plazaError('noValidRoom', 'none of these users is a host of this connection');
  }
}

/**
 * A request for a battle is answered.
 *
 * @param {string} battle
 */
function answered(battle) {
  return { type: 'local.battleAnswered', body: { battle }, snapshot: 'battleRequests' };
}
