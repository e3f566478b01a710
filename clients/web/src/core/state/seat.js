// SPDX-License-Identifier: Apache-2.0
import { emptySeatUser, seatUser } from '../models.js';
import { array, bool, isObject, object, text, whole } from '../read.js';

/** @typedef {import('../../index.js').LiveSeatState} State */

/** @returns {State} */
export const initial = () => ({
  seatList: [], canvas: { w: 0, h: 0, templateID: 600 }, speakingUsers: {}, avStatistics: [],
});

/**
 * The device events of a notice.
 *
 * @type {Record<string, string>}
 */
const deviceEvents = {
  'notice.deviceClosedByAdmin.microphone': 'onLocalMicrophoneClosedByAdmin',
  'notice.deviceClosedByAdmin.camera': 'onLocalCameraClosedByAdmin',
  'notice.deviceOpenedByAdmin.microphone': 'onLocalMicrophoneOpenedByAdmin',
  'notice.deviceOpenedByAdmin.camera': 'onLocalCameraOpenedByAdmin',
};

/**
 * @param {State} state
 * @param {import('../live-fold.js').Input} input
 * @param {import('../live-fold.js').Context} context
 * @returns {State}
 */
export function reduce(state, { type, body }, { before, states, emit }) {
  const { record } = states.stage;
  if (record !== undefined && record !== before.stage.record) return stage(state, record);
  switch (type) {
    case 'item.speaking': {
      const users = array(body.users, 'users').map((entry) => object(entry, 'user'));
      const speakingUsers = Object.fromEntries(users.map((entry) => [text(entry.user, 'user'), whole(entry.level, 'level')]));
      return { ...state, speakingUsers };
    }
    case 'local.itemsMissed':
      // Only items tell who speaks, and only when it changes. So who spoke before is taken to be silent.
      return { ...state, speakingUsers: {} };
    case 'notice.deviceClosedByAdmin':
    case 'notice.deviceOpenedByAdmin': {
      const event = deviceEvents[`${type}.${text(body.device, 'device')}`];
      if (event) emit(event, body.policy === undefined ? {} : { policy: body.policy });
      return state;
    }
    default:
      return state;
  }
}

/**
 * Takes a stage, which is shown as a whole: one revision of seats and layout.
 *
 * @param {State} state
 * @param {import('../read.js').JSONObject} record
 * @returns {State}
 */
function stage(state, record) {
  const layout = object(record.layout, 'layout');
  const canvas = object(layout.canvas, 'canvas');
  const regions = regionsOf(layout);
  const live = text(record.live, 'live');
  const seatList = array(record.seats, 'seats').map((seat) => seatInfo(seat, live, regions));
  const connection = isObject(record.connection) ? record.connection : {};
  for (const entry of Array.isArray(connection.members) ? connection.members : []) {
    const member = object(entry, 'member');
    const other = text(member.live, 'member.live');
    if (other === live || member.seats === undefined) continue;
    seatList.push(...array(member.seats, 'member.seats').map((seat) => seatInfo(seat, other, regions)));
  }
  return {
    ...state, seatList,
    canvas: { w: whole(canvas.width, 'width'), h: whole(canvas.height, 'height'),
      templateID: whole(canvas.templateID, 'templateID', 600) },
  };
}

const noRegion = Object.freeze({ x: 0, y: 0, w: 0, h: 0, zorder: 0 });

/**
 * @param {import('../read.js').JSONObject} layout
 * @returns {Map<string, import('../../index.js').RegionInfo>} by live and seat
 */
function regionsOf(layout) {
  return new Map(array(layout.regions ?? [], 'regions').map((entry) => {
    const region = object(entry, 'region');
    /** @param {string} name */
    const number = (name) => whole(region[name], name, 0);
    return [`${region.live}/${region.seatIndex}`,
      { x: number('x'), y: number('y'), w: number('width'), h: number('height'), zorder: number('zorder') }];
  }));
}

/**
 * @param {unknown} value
 * @param {string} live the live whose seat it is
 * @param {Map<string, import('../../index.js').RegionInfo>} regions
 * @returns {import('../../index.js').SeatInfo}
 */
function seatInfo(value, live, regions) {
  const seat = object(value, 'seat');
  const index = whole(seat.index, 'index');
  return {
    index,
    liveID: live,
    isLocked: bool(seat.isLocked, 'isLocked', false),
    isMicrophoneLocked: bool(seat.isMicrophoneLocked, 'isMicrophoneLocked', false),
    isCameraLocked: bool(seat.isCameraLocked, 'isCameraLocked', false),
    userInfo: seat.occupant === undefined ? emptySeatUser : seatUser(seat.occupant),
    region: regions.get(`${live}/${index}`) ?? noRegion,
  };
}
