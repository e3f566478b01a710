// SPDX-License-Identifier: Apache-2.0

/** The texts in Chinese of what a viewer opens over a live. */
export default {
  'gift.title': '礼物',
  'gift.none': '本应用没有礼物。',
  'gift.coins.other': '{count} 金币',
  'gift.send': '赠送',
  'gift.count': '数量',
  'gift.off': '本直播间已关闭礼物。',

  'state.open': '已连接',
  'state.waiting': '正在重试…',
  'state.ended': '已结束',
  'state.address': '网关',
  'state.session': '会话',
  'state.position': '消息位置',
  'state.resumes': '恢复次数',
  'state.replayed': '补发的消息',
  'state.gaps': '省略的消息',
  'state.barrage': '弹幕',
  'state.dropped.other': '因屏幕已满省略 {count} 条',

  'audience.empty': '还没有观众。',
  'audience.first': '显示前 {count} 位。',
  'seat.noMicrophone': '浏览器没有提供麦克风，座位上不显示音量。',

  'live.endedByHost': '主播结束了直播。',
  'live.endedByServer': '直播已被应用结束。',
  'live.kickedDevice': '你在另一台设备上进入了本直播。',
  'summary.duration': '时长',
  'summary.viewers': '观看人次',
  'summary.messages': '消息',
  'summary.likes': '点赞',
  'summary.gifts': '礼物',
  'summary.coins': '金币',
  'summary.givers': '送礼人数',
  'summary.back': '返回广场',
};
