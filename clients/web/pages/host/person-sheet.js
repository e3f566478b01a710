// SPDX-License-Identifier: Apache-2.0
import { avatar } from '../lib/avatar.js';
import { h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';
import { actionsFor } from './actions.js';

/** How long a ban from these pages lasts, in seconds. */
const banTime = 3600;

const icons = { invite: 'seat', muteMic: 'micOff', unmuteMic: 'mic', muteCamera: 'cameraOff', unmuteCamera: 'camera',
  kickSeat: 'leave', mute: 'chat', unmute: 'chat', makeAdmin: 'shield', revokeAdmin: 'shield', kick: 'close',
  ban: 'lock' };
const dangers = new Set(['kick', 'ban', 'kickSeat']);

/** Opens a dialog about a person, with the actions that the user may take. */
export function openPerson(page, user) {
  const { stores, list, shell } = page;
  const info = list.state.currentLive;
  const { userID } = user;
  const seat = stores.seat.state.seatList.find((other) => other.liveID === page.liveID && other.userInfo.userID === userID);
  const isMuted = stores.audience.state.messageBannedUserList.some((other) => other.userID === userID);
  const actions = actionsFor({ role: page.role, self: shell.session.user?.userID, user, info, seat, isMuted });
  const run = {
    invite: async () => {
      await stores.coGuest.inviteToSeat({ userID, timeout: 30 });
      return t('host.invited', { name: nameOf(user) });
    },
    muteMic: () => stores.seat.closeRemoteMicrophone({ userID }),
    unmuteMic: () => stores.seat.openRemoteMicrophone({ userID }),
    muteCamera: () => stores.seat.closeRemoteCamera({ userID }),
    unmuteCamera: () => stores.seat.openRemoteCamera({ userID }),
    kickSeat: () => stores.seat.kickUserOutOfSeat({ userID }),
    mute: () => stores.audience.disableSendMessage({ userID, isDisable: true }),
    unmute: () => stores.audience.disableSendMessage({ userID, isDisable: false }),
    makeAdmin: () => stores.audience.setAdministrator({ userID }),
    revokeAdmin: () => stores.audience.revokeAdministrator({ userID }),
    kick: () => stores.audience.kickUserOutOfRoom({ userID }),
    ban: () => shell.session.plaza.call('live.ban', { live: page.liveID, users: [userID], duration: banTime }, page.liveID),
  };
  const buttons = actions.map((action) => h('button', {
    class: `button${dangers.has(action) ? ' danger' : ''}`, type: 'button', data: { action },
    on: { click: async () => {
      sheet.close();
      try {
        const said = await run[action]();
        shell.say(typeof said === 'string' ? said : t('host.done'));
      } catch (error) {
        shell.fail(error);
      }
    } },
  }, icon(icons[action]), t(`host.${action}`)));
  const sheet = openSheet(nameOf(user), h('div', { class: 'person' }, avatar(user, 'large'), h('span', { class: 'person-name quiet' }, userID)),
    buttons.length > 0 && h('div', { class: 'actions list', role: 'group', 'aria-label': t('host.actions', { name: nameOf(user) }) }, ...buttons));
}
