// SPDX-License-Identifier: Apache-2.0

/** Names, texts and stages for the sample data, in several scripts, with combining marks and special characters. */
export const people = [
  'Mira Solberg', '林小满', 'Tomás Ortega', 'Aoi Tanaka', 'Noor Haddad', '周一', 'Kofi Mensah', 'Elif Yıldız', '<b>Bold Bob</b>',
  'Зоя Петрова', '陈漫漫', 'Priya Nair', 'Jonas Bergqvist', 'Amélie Roux', '🦊 Fox', 'אורי לוי', 'Leila Karimi', '大熊', 'Sam O’Neill', 'Ines Duarte',
].map((userName, index) => ({ userID: `u${index + 1}`, userName, avatarURL: '' }));

const titles = [
  'Late night piano, requests open', '深夜电台：聊聊今天的小事', 'Sourdough from zero', 'Rank climb with viewers', '一起学日语 N3', 'Sunset walk in Lisbon',
  'Handmade ceramics — new glazes', '周末K歌房', 'Open mic: poems & coffee', 'Speedrun practice <script>alert(1)</script>', '云养猫 🐈', 'Mountain bikes, honest reviews',
];
export const texts = [
  'hello everyone!', '主播好厉害', 'first time here, love it', '哈哈哈哈哈', 'what song was that?', '<img src=x onerror=alert(1)>', '𠮷野家的味道 😋', 'can you play the second one again please, I missed the beginning',
  '来了来了', 'so calm tonight', '👏👏👏', 'greetings from Nairobi', '这个颜色好看', 'where did you get that lamp', '+1', 'haha true', 'see you tomorrow then', '加油！',
];
export const gifts = [
  ['rose', 'Rose', 1], ['tea', 'Cup of tea', 5], ['star', 'Shooting star', 52], ['boat', 'Paper boat', 99], ['lantern', '灯笼', 188], ['castle', 'Castle', 1314],
].map(([giftID, name, coins], level) => ({ giftID, name, coins, level, desc: '', iconURL: '', resourceURL: '', extensionInfo: '' }));

/** The seat templates of the first sample lives, so that each kind of stage can be seen. */
const templates = [600, 601, 800, 50, 600, 200, 801, 70, 400, 602, 600, 603];

/** @returns {object} LiveInfo of the sample live with this number */
export function sampleLive(number) {
  const owner = people[number % people.length];
  const hasProduct = number % 4 === 2;
  return {
    liveID: `sample-${number}`, liveName: titles[number % titles.length], notice: 'Be kind. Questions are welcome at any time.',
    isMessageDisable: false, isPublicVisible: true, keepOwnerOnSeat: true, maxSeatCount: 9, seatMode: number % 3 === 1 ? 'free' : 'apply',
    seatTemplate: templates[number % templates.length], coverURL: '', backgroundURL: '', categoryList: [number % 6], activityStatus: 0,
    isGiftEnabled: true, metaData: hasProduct ? { 'product-name': 'Stoneware cup, ash glaze', 'product-price': '€ 24' } : {},
    liveOwner: owner, createTime: Date.now() - 1_800_000, admins: [people[(number + 3) % people.length].userID], status: number % 9 === 7 ? 3 : 2, maxMemberCount: 0,
  };
}

const portrait = { width: 1080, height: 1920 };
const cell = (x, y, width, height, zorder = 0) => ({ x, y, width, height, zorder });

/** The regions of the stage as the server computes them, for the templates of the sample data. */
function cells(template, count) {
  if (template === 601) {
    return [cell(0, 0, 1080, 1920), ...Array.from({ length: count - 1 }, (_, index) => cell(810, 1650 - index * 270, 270, 270, 1))];
  }
  if (template === 801) {
    return [cell(0, 0, 832, 1920), ...Array.from({ length: 6 }, (_, index) => cell(832, index * 320, 248, 320))];
  }
  if (template === 800) return Array.from({ length: 9 }, (_, index) => cell((index % 3) * 360, Math.floor(index / 3) * 640, 360, 640));
  if (template === 50) return Array.from({ length: 8 }, (_, index) => cell((index % 4) * 270, Math.floor(index / 4) * 270, 270, 270));
  if (template === 70) return Array.from({ length: 10 }, (_, index) => cell((index % 5) * 216, Math.floor(index / 5) * 216, 216, 216));
  if (template === 400) return [cell(0, 0, 960, 1080), cell(960, 0, 960, 1080)];
  if (template === 200) return [cell(0, 0, 1920, 1080)];
  if (count === 1) return [cell(0, 0, 1080, 1920)];
  if (count === 2) return [cell(0, 0, 540, 1920), cell(540, 0, 540, 1920)];
  return Array.from({ length: 4 }, (_, index) => cell((index % 2) * 540, Math.floor(index / 2) * 960, 540, 960));
}

/** @returns {object} a Stage of the protocol */
export function sampleStage(info, number, revision, extra = {}) {
  const template = info.seatTemplate;
  const canvas = template === 400 || template === 200 ? { width: 1920, height: 1080 }
    : template === 50 ? { width: 1080, height: 540 } : template === 70 ? { width: 1080, height: 432 } : portrait;
  const seatCount = template === 50 ? 8 : template === 70 ? 10 : template === 400 ? 2 : template === 801 ? 7 : 9;
  const seated = extra.seated ?? (template === 600 ? [1, 2, 4][number % 3] : template === 601 ? 3 : template === 200 ? 1 : template === 400 ? 2 : Math.ceil(seatCount * 0.6));
  const seats = Array.from({ length: seatCount }, (_, index) => ({
    index, isLocked: index === seatCount - 1 && seatCount > 2, isMicrophoneLocked: false, isCameraLocked: false,
    ...(index < seated ? { occupant: occupant(info, number, index, extra) } : {}),
  }));
  const shown = [800, 801, 50, 70, 400].includes(template) ? seatCount : seated;
  const regions = cells(template, shown).slice(0, shown).map((region, seatIndex) => ({
    live: info.liveID, userID: seats[seatIndex]?.occupant?.user.userID ?? '', seatIndex, ...region,
  }));
  return { v: 1, app: 'demo', live: info.liveID, epoch: 1, revision, seats, layout: { canvas: { ...canvas, templateID: template }, regions }, ...extra.stage };
}

function occupant(info, number, index, extra) {
  const user = index === 0 ? info.liveOwner : extra.guest && index === 1 ? extra.guest : people[(number + index * 3) % people.length];
  return {
    user, role: index === 0 ? 0 : index === 1 ? 1 : 2, live: info.liveID, isMicrophoneOn: index !== 2, allowOpenMicrophone: true,
    isCameraOn: true, allowOpenCamera: true, suspendStatus: index === 3 ? 'inBackground' : 'none',
  };
}
