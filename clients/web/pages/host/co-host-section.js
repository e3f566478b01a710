// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { Disposer, fill, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { hasText, onLanguage, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { RequestList } from './request-list.js';

/** How long a request to another host stays open, in seconds. */
const waits = 30;
const durations = [30, 60, 180, 300];

/** The owner's part of the panel about other lives: candidates, connected lives, and battles. */
export class CoHostSection extends Disposer {
  /** Whether the list of candidates was read; before that it is not known whether there are none. */
  #isRead = false;

  constructor(page) {
    super();
    this.page = page;
    const { coHost, battle } = page.stores;
    this.requests = new RequestList(page);
    this.add(() => this.requests.dispose());
    this.candidates = new KeyedList(h('ul', {}));
    this.refresh = h('button', { class: 'button tight', type: 'button', t: 'connect.candidates', on: { click: () => this.#read() } });
    this.more = h('button', { class: 'button tight', type: 'button', t: 'connect.more', hidden: true, on: { click: () => this.#read(coHost.state.candidatesCursor) } });
    this.members = new KeyedList(h('ul', {}));
    this.exit = h('button', { class: 'button tight danger', type: 'button', t: 'connect.exit', on: { click: () => this.#try(() => coHost.exitHostConnection()) } });
    this.duration = h('select', { class: 'input', label: 'fight.duration' });
    this.needResponse = h('input', { type: 'checkbox', role: 'switch' });
    this.start = h('button', { class: 'button tight primary', type: 'button', on: { click: () => this.#fight() } }, icon('battle'), h('span', { t: 'fight.start' }));
    this.leaveBattle = h('button', { class: 'button tight danger', type: 'button', t: 'fight.exit', on: { click: () => this.#try(() => battle.exitBattle({ battleID: battle.state.currentBattleInfo.battleID })) } });
    this.connection = h('div', { class: 'connection' }, h('h2', {}, icon('users'), h('span', { t: 'connect.members' })), this.members.element,
      h('label', { class: 'switch' }, h('span', { t: 'fight.ask' }), this.needResponse),
      h('div', { class: 'actions' }, this.duration, this.start, this.leaveBattle, this.exit));
    this.element = h('section', {}, h('h2', {}, icon('link'), h('span', { t: 'connect.title' })), this.refresh,
      h('p', { class: 'quiet small', t: 'connect.late' }), this.candidates.element, this.more, this.connection);
    this.duration.style.width = 'auto';
    this.add(coHost.subscribe(() => this.#draw()));
    this.add(battle.select((state) => this.#fights(state), () => this.#draw()));
    this.add(onLanguage(() => this.#drawAll()));
    const told = { onCoHostRequestAccepted: 'connect.accepted', onCoHostRequestRejected: 'connect.rejected',
      onCoHostRequestTimeout: 'connect.timeout' };
    for (const [event, key] of Object.entries(told)) this.listen(coHost, event, ({ detail }) => this.#tell(key, detail.invitee));
    this.listen(coHost, 'onCoHostRequestCancelled', () => this.#tell('connect.cancelled'));
    this.listen(battle, 'onBattleRequestReject', ({ detail }) => this.#tell('fight.rejected', detail.invitee));
    this.listen(battle, 'onBattleNotStarted', () => this.#tell('fight.notStarted'));
    this.#drawAll();
  }

  #tell(key, user) {
    this.page.shell.say(t(key, { name: nameOf(user) }));
  }

  async #try(action) {
    try {
      await action();
    } catch (error) {
      this.page.shell.fail(error);
      // The server may have applied the call although it failed here.
      void this.requests.read();
    }
  }

  #read(cursor = '') {
    return this.#try(async () => {
      await this.page.stores.coHost.getCoHostCandidates({ cursor });
      this.#isRead = true;
      this.#draw();
    });
  }

  async #invite(host) {
    const { coHost } = this.page.stores;
    await coHost.requestHostConnection({ targetHost: host.liveID, layoutTemplate: 600, timeout: waits });
    // The request may have been answered already.
    if (coHost.state.invitees.some(({ liveID }) => liveID === host.liveID)) this.requests.asked({ kind: 'coHost', host }, waits);
  }

  #fight() {
    const { coHost, battle } = this.page.stores;
    const others = coHost.state.connected.filter(({ liveID }) => liveID !== this.page.liveID);
    return this.#try(async () => {
      const needResponse = this.needResponse.checked;
      const { battleInfo: { battleID }, resultMap } = await battle.requestBattle({
        userIDList: others.map(({ userID }) => userID), timeout: waits,
        config: { duration: Number(this.duration.value), needResponse, extensionInfo: '' },
      });
      // The battle was requested, but perhaps some hosts could not be invited.
      for (const host of others) {
        if (hasText(`fight.code${resultMap[host.userID]}`)) this.#tell(`fight.code${resultMap[host.userID]}`, host);
        else if (needResponse && resultMap[host.userID] === 0) this.requests.asked({ kind: 'battle', host, battleID }, waits);
      }
      // Some hosts may have answered before the reply arrived.
      await this.requests.read();
    });
  }

  #drawAll() {
    const chosen = this.duration.value || '60';
    fill(this.duration, durations.map((seconds) => h('option', { value: seconds }, t('fight.seconds', { count: seconds }))));
    this.duration.value = chosen;
    this.#draw();
  }

  #draw() {
    const { coHost, battle } = this.page.stores;
    const { candidates, invitees, connected, mutedLives, coHostStatus } = coHost.state;
    this.more.hidden = coHost.state.candidatesCursor === '';
    const asked = new Set(invitees.map(({ liveID }) => liveID));
    const shown = ({ userID, userName, avatarURL }) => [userID, userName, avatarURL];
    const rows = candidates.map((host) => [host.liveID, [shown(host), asked.has(host.liveID)], () => h('li', { class: 'person', data: { live: host.liveID } },
      avatar(host, 'small'), h('span', { class: 'person-name' }, nameOf(host) || host.liveID),
      asked.has(host.liveID)
        ? this.#button('connect.withdraw', () => this.requests.withdraw({ kind: 'coHost', host }))
        : this.#button('connect.ask', () => this.#invite(host)))]);
    this.candidates.show(rows, this.#isRead ? () => h('li', { class: 'blank', t: 'connect.none' }) : undefined);
    this.connection.hidden = coHostStatus !== 'connected';
    this.members.show(connected.filter(({ liveID }) => liveID !== this.page.liveID).map((host) => {
      const isMuted = mutedLives.includes(host.liveID);
      return [host.liveID, [shown(host), isMuted],
        () => h('li', { class: 'person' }, avatar(host, 'small'), h('span', { class: 'person-name' }, nameOf(host)),
        this.#button(isMuted ? 'connect.unmuteRemote' : 'connect.muteRemote', () => coHost.muteRemoteHostAudio({ liveID: host.liveID, isMuted: !isMuted })))];
    }));
    // A battle of other hosts is shown too; it does not prevent this host from starting one.
    const isFighting = this.#fights(battle.state);
    this.start.hidden = this.duration.hidden = isFighting;
    this.needResponse.parentElement.hidden = isFighting;
    this.leaveBattle.hidden = !isFighting;
  }

  /** Whether this host is in the battle, and has not left it. */
  #fights({ battleUsers }) {
    return battleUsers.some(({ userID }) => userID === this.page.shell.session.user?.userID);
  }

  #button(key, run) {
    return h('button', { class: 'button tight', type: 'button', on: { click: () => this.#try(run) } }, t(key));
  }
}
