// SPDX-License-Identifier: Apache-2.0

/** The texts in English of what a viewer opens over a live. */
export default {
  'gift.title': 'Gifts',
  'gift.none': 'This app has no gifts.',
  'gift.coins.one': '{count} coin',
  'gift.coins.other': '{count} coins',
  'gift.send': 'Send',
  'gift.count': 'How many',
  'gift.off': 'Gifts are off in this live.',

  'state.open': 'Connected',
  'state.waiting': 'Trying again…',
  'state.ended': 'Ended',
  'state.address': 'Gateway',
  'state.session': 'Session',
  'state.position': 'Position in the feed',
  'state.resumes': 'Times resumed',
  'state.replayed': 'Messages replayed',
  'state.gaps': 'Messages left out',
  'state.barrage': 'Messages over the stage',
  'state.dropped.one': '{count} left out for lack of room',
  'state.dropped.other': '{count} left out for lack of room',

  'audience.empty': 'Nobody is watching yet.',
  'audience.first': 'The first {count} are shown.',
  'seat.noMicrophone': 'The browser gives no microphone, so your seat shows no level.',

  'live.endedByHost': 'The host ended it.',
  'live.endedByServer': 'It was ended by the app.',
  'live.kickedDevice': 'You entered this live from another device.',
  'summary.duration': 'Duration',
  'summary.viewers': 'Entries',
  'summary.messages': 'Messages',
  'summary.likes': 'Likes',
  'summary.gifts': 'Gifts',
  'summary.coins': 'Coins',
  'summary.givers': 'Givers',
  'summary.back': 'Back to the plaza',
};
