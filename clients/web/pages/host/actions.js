// SPDX-License-Identifier: Apache-2.0

/** The actions that the user may take on a person, by the roles of both. */
export function actionsFor({ role, self, user, info, seat, isMuted }) {
  const targetRole = info.liveOwner.userID === user.userID ? 'owner' : info.admins.includes(user.userID) ? 'admin' : 'viewer';
  const isAbove = user.userID !== self && (role === 'owner' || (role === 'admin' && targetRole === 'viewer'));
  if (!isAbove) return [];
  const actions = [];
  if (seat) {
    actions.push(seat.userInfo.allowOpenMicrophone ? 'muteMic' : 'unmuteMic', seat.userInfo.allowOpenCamera ? 'muteCamera' : 'unmuteCamera', 'kickSeat');
  } else actions.push('invite');
  actions.push(isMuted ? 'unmute' : 'mute');
  if (role === 'owner') actions.push(targetRole === 'admin' ? 'revokeAdmin' : 'makeAdmin');
  actions.push('kick', 'ban');
  return actions;
}
