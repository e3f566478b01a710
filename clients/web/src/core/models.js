// SPDX-License-Identifier: Apache-2.0
import { array, bool, isObject, object, text, textMap, whole } from './read.js';

// The values that stores show, made from what the protocol sends. All of them are plain objects.

/**
 * @param {unknown} value
 * @returns {import('../index.js').LiveUserInfo}
 */
export function userInfo(value) {
  const user = object(value, 'user');
  return {
    userID: text(user.userID, 'userID'),
    userName: text(user.userName, 'userName', ''),
    avatarURL: text(user.avatarURL, 'avatarURL', ''),
  };
}

/**
 * A user of whom only the id is known.
 *
 * @param {string} userID
 * @returns {import('../index.js').LiveUserInfo}
 */
export function bareUser(userID) {
  return { userID, userName: '', avatarURL: '' };
}

/**
 * The live info of a client that is in no live.
 *
 * @type {import('../index.js').LiveInfo}
 */
export const emptyLiveInfo = Object.freeze({
  liveID: '', liveName: '', notice: '', isMessageDisable: false, isPublicVisible: true, keepOwnerOnSeat: false,
  maxSeatCount: 0, seatMode: 'apply', seatTemplate: 600, coverURL: '', backgroundURL: '', categoryList: [],
  activityStatus: 0, isGiftEnabled: true, metaData: {}, liveOwner: { userID: '', userName: '', avatarURL: '' },
  createTime: 0, admins: [], status: 2, maxMemberCount: 0, totalViewerCount: 0, audienceCount: 0, isEmpty: true,
});

/**
 * @param {unknown} value
 * @param {{ totalViewerCount?: number, audienceCount?: number }} [counts] what the list says beside the info
 * @returns {import('../index.js').LiveInfo}
 */
export function liveInfo(value, counts = {}) {
  const info = object(value, 'info');
  const seatMode = text(info.seatMode, 'seatMode', 'apply');
  return {
    liveID: text(info.liveID, 'liveID'),
    liveName: text(info.liveName, 'liveName', ''),
    notice: text(info.notice, 'notice', ''),
    isMessageDisable: bool(info.isMessageDisable, 'isMessageDisable', false),
    isPublicVisible: bool(info.isPublicVisible, 'isPublicVisible', true),
    keepOwnerOnSeat: bool(info.keepOwnerOnSeat, 'keepOwnerOnSeat', false),
    maxSeatCount: whole(info.maxSeatCount, 'maxSeatCount', 0),
    seatMode: seatMode === 'free' ? 'free' : 'apply',
    seatTemplate: whole(info.seatTemplate, 'seatTemplate', 600),
    coverURL: text(info.coverURL, 'coverURL', ''),
    backgroundURL: text(info.backgroundURL, 'backgroundURL', ''),
    categoryList: array(info.categoryList ?? [], 'categoryList').map((entry) => whole(entry, 'category')),
    activityStatus: whole(info.activityStatus, 'activityStatus', 0),
    isGiftEnabled: bool(info.isGiftEnabled, 'isGiftEnabled', true),
    metaData: textMap(info.metaData, 'metaData'),
    liveOwner: userInfo(info.liveOwner),
    createTime: seconds(info.createTime, 'createTime'),
    admins: array(info.admins ?? [], 'admins').map((entry) => text(entry, 'admin')),
    status: whole(info.status, 'status', 2),
    maxMemberCount: whole(info.maxMemberCount, 'maxMemberCount', 0),
    totalViewerCount: counts.totalViewerCount ?? 0,
    audienceCount: counts.audienceCount ?? 0,
    isEmpty: false,
  };
}

/**
 * A time that apps get in whole seconds since 1970.
 *
 * @param {unknown} value milliseconds since 1970; 0 if it is left out
 * @param {string} name
 */
export function seconds(value, name) {
  return Math.floor(whole(value, name, 0) / 1000);
}

const roles = /** @type {const} */ (['owner', 'admin', 'generalUser']);

/**
 * @param {unknown} value
 * @returns {import('../index.js').Role}
 */
export function role(value) {
  return roles[whole(value, 'role', 2)] ?? 'generalUser';
}

/**
 * The user of a free seat.
 *
 * @type {import('../index.js').SeatUserInfo}
 */
export const emptySeatUser = Object.freeze({
  userID: '', userName: '', avatarURL: '', role: 'generalUser', liveID: '', microphoneStatus: 'off',
  allowOpenMicrophone: true, cameraStatus: 'off', allowOpenCamera: true, userSuspendStatus: 'none',
});

/**
 * @param {unknown} value
 * @returns {import('../index.js').SeatUserInfo}
 */
export function seatUser(value) {
  const occupant = object(value, 'occupant');
  const suspended = text(occupant.suspendStatus, 'suspendStatus', 'none');
  return {
    ...userInfo(occupant.user),
    role: role(occupant.role),
    liveID: text(occupant.live, 'live', ''),
    microphoneStatus: bool(occupant.isMicrophoneOn, 'isMicrophoneOn', false) ? 'on' : 'off',
    allowOpenMicrophone: bool(occupant.allowOpenMicrophone, 'allowOpenMicrophone', true),
    cameraStatus: bool(occupant.isCameraOn, 'isCameraOn', false) ? 'on' : 'off',
    allowOpenCamera: bool(occupant.allowOpenCamera, 'allowOpenCamera', true),
    userSuspendStatus: suspended === 'inBackground' || suspended === 'inCalling' ? suspended : 'none',
  };
}

/**
 * The host of a live as a seat user.
 *
 * @param {string} liveID
 * @param {unknown} host
 * @returns {import('../index.js').SeatUserInfo}
 */
export function hostOf(liveID, host) {
  const user = isObject(host) ? userInfo(host) : bareUser('');
  return { ...emptySeatUser, ...user, role: 'owner', liveID };
}

/**
 * The host of a live that is a member of a connection, with its devices if it sits.
 *
 * @param {unknown} value
 * @returns {import('../index.js').SeatUserInfo}
 */
export function memberHost(value) {
  const member = object(value, 'member');
  const host = hostOf(text(member.live, 'live'), member.host);
  for (const seat of Array.isArray(member.seats) ? member.seats : []) {
    if (isObject(seat) && isObject(seat.occupant) && isObject(seat.occupant.user) && seat.occupant.user.userID === host.userID) {
      return { ...seatUser(seat.occupant), ...userInfo(member.host), role: 'owner', liveID: host.liveID };
    }
  }
  return host;
}

/**
 * @param {unknown} value
 * @returns {import('../index.js').Gift}
 */
export function gift(value) {
  const entry = object(value, 'gift');
  return {
    giftID: text(entry.giftID, 'giftID'),
    name: text(entry.name, 'name', ''),
    desc: text(entry.desc, 'desc', ''),
    iconURL: text(entry.iconURL, 'iconURL', ''),
    resourceURL: text(entry.resourceURL, 'resourceURL', ''),
    level: whole(entry.level, 'level', 0),
    coins: whole(entry.coins, 'coins', 0),
    extensionInfo: text(entry.extensionInfo, 'extensionInfo', ''),
  };
}

/**
 * @param {unknown} value
 * @returns {import('../index.js').GiftCategory}
 */
export function giftCategory(value) {
  const entry = object(value, 'category');
  return {
    categoryID: text(entry.categoryID, 'categoryID'),
    name: text(entry.name, 'name', ''),
    desc: text(entry.desc, 'desc', ''),
    extensionInfo: text(entry.extensionInfo, 'extensionInfo', ''),
    giftList: array(entry.gifts ?? [], 'gifts').map(gift),
  };
}

/**
 * @param {unknown} value
 * @returns {import('../index.js').LiveStatistics}
 */
export function statistics(value) {
  const entry = object(value, 'statistics');
  /** @param {string} name */
  const number = (name) => whole(entry[name], name, 0);
  return {
    totalViewers: number('totalViewers'),
    totalGiftsSent: number('totalGiftsSent'),
    totalGiftCoins: number('totalGiftCoins'),
    totalUniqueGiftSenders: number('totalUniqueGiftSenders'),
    totalLikesReceived: number('totalLikesReceived'),
    totalMessageCount: number('totalMessageCount'),
    liveDuration: number('liveDuration'),
  };
}
