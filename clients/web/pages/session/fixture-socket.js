// SPDX-License-Identifier: Apache-2.0
import { gifts, people, sampleLive, sampleStage, texts } from './fixture-lives.js';

const lives = Array.from({ length: 64 }, (_, number) => sampleLive(number));
const audience = (number) => Math.round(40_000 / (number + 1) ** 1.25) + 3;
const stamp = () => Date.now();
const isHost = new URLSearchParams(location.search).has('host');

/** Open requests from and to other hosts. One of them expires after 8 s. */
function sampleRequests() {
  const member = (number) => ({ live: lives[number].liveID, host: lives[number].liveOwner, joinedAt: stamp() });
  const request = (kind, list, number, seconds, more = {}) => ({
    kind, list, inviter: member(list === 'sent' ? 0 : number), invitee: member(list === 'sent' ? number : 0), extensionInfo: '', expiresAt: stamp() + seconds * 1000, ...more,
  });
  return [
    request('cohost', 'received', 8, 90), request('cohost', 'received', 3, 8), request('cohost', 'sent', 6, 60),
    request('battle', 'received', 5, 45, { battle: 'b2', hasAccepted: false, durationSeconds: 60 }), request('battle', 'sent', 5, 30, { battle: 'b3', hasAccepted: false, durationSeconds: 60 }),
  ];
}

/**
 * A WebSocket that simulates the server in the page, with sample lives in which messages arrive by themselves. With it
 * the pages can be seen, and pictures of them taken, without a server. Parameters of the address:
 *
 * - `fixture`: use this socket
 * - `rate=40`: messages a second
 * - `host`: sign in as the owner of the first live
 * - `ends=4102`: end the connection with this close code
 * - `degraded=2`: omit tips for a while, and say so twice
 * - `seated=7`: seven users on the stage
 * - `host&requests`: open requests of other hosts
 */
export class FixtureSocket extends EventTarget {
  onopen;
  onmessage;
  onclose;
  onerror;
  #user = people[0];
  #timers = new Set();
  #live;
  #n = 0;
  #likes = 4200;
  #revision = 0;
  /** The open requests between the first live and others. */
  #open = new URLSearchParams(location.search).has('requests') ? sampleRequests() : [];
  #seat = { seated: Number(new URLSearchParams(location.search).get('seated')) || undefined };

  constructor() {
    super();
    queueMicrotask(() => this.onopen?.({}));
  }

  close() {
    for (const timer of this.#timers) clearInterval(timer);
  }

  send(text) {
    const { id, method, params = {} } = JSON.parse(text);
    queueMicrotask(() => {
      const outcome = this.#answer(method, params);
      this.#frame({ reply: outcome.error ? { id, error: outcome.error } : { id, result: outcome } });
      if (method === 'live.join') this.#begin(params.live);
    });
  }

  #frame(frame) {
    const event = new MessageEvent('message', { data: JSON.stringify(frame) });
    this.dispatchEvent(event);
    this.onmessage?.(event);
  }

  #answer(method, params) {
    const number = lives.findIndex(({ liveID }) => liveID === params.live);
    switch (method) {
      case 'login': {
        this.#user = isHost ? lives[0].liveOwner : { userID: 'me', userName: params.name ?? 'Me', avatarURL: '' };
        return { loggedIn: { session: params.session, user: this.#user, gateway: 'sample', notices: '' } };
      }
      case 'live.list': return this.#list(params);
      case 'live.get': return { room: { details: { info: lives[number], epoch: 1, audience: this.#count(number), stage: this.#stage() } } };
      case 'live.join': return { joined: { ticket: 1, epoch: 1, confirmed: true, token: '1.0.0' } };
      case 'live.leave': this.close(); return { done: {} };
      case 'live.summary': return { statistics: { statistics: this.#statistics(number) } };
      case 'audience.list': return { audience: { page: { members: people.slice(4).map((user, index) => ({ user, role: index === 0 ? 1 : 2, joinedAt: stamp() })), cursor: '', count: 16 } } };
      case 'gift.list': return { gifts: { categories: [{ categoryID: 'all', name: 'All', desc: '', extensionInfo: '', gifts }] } };
      case 'gift.send': this.#item({ gift: { sender: this.#user, gift: gifts.find(({ giftID }) => giftID === params.gift), count: params.count ?? 1, receivers: [] } }); return this.#sent();
      case 'barrage.sendText': this.#item({ text: { sender: this.#user, text: params.text } }); return this.#sent();
      case 'like.send': this.#like(this.#user, params.count ?? 1); return { done: {} };
      case 'seat.take': case 'seat.apply': this.#sit(); return { seat: {} };
      case 'cohost.candidates': return { lives: { items: lives.slice(1, 7).map((info) => ({ info, audienceCount: 3, totalViewerCount: 9 })), cursor: '' } };
      case 'seat.requests': return { seatRequests: { applications: isHost ? [{ guest: people[8] }, { guest: people[11] }] : [], invitations: [] } };
      case 'cohost.requests': return { coHostRequests: this.#requests('cohost') };
      case 'battle.requests': return { battleRequests: this.#requests('battle') };
      case 'cohost.accept': case 'cohost.reject': this.#endRequests('cohost', params.inviter); return { done: {} };
      case 'battle.accept': case 'battle.reject': this.#endRequests('battle', params.battle); return { done: {} };
      case 'cohost.cancel': case 'battle.cancel': params.to.forEach((other) => this.#endRequests(method.split('.')[0], other)); return { done: {} };
      case 'live.mutes': return { sanctions: { page: { items: [], nextOffset: 0 } } };
      case 'live.create': return { error: { code: 100006, name: 'noPermission', message: 'sample data' } };
      default: return { done: {} };
    }
  }

  #list({ cursor = '', count = 20, category }) {
    const all = lives.filter(({ categoryList }) => category === undefined || categoryList.includes(category));
    const from = Number(cursor || 0);
    const items = all.slice(from, from + count).map((info) => {
      const viewers = audience(lives.indexOf(info)) + Math.round(Math.random() * 4);
      return { info, audienceCount: viewers, totalViewerCount: viewers * 7 };
    });
    return { lives: { items, cursor: from + count < all.length ? String(from + count) : '' } };
  }

  #count(number) {
    const count = audience(number) + Math.round(Math.random() * 5);
    return { live: lives[number].liveID, count, totalViewers: count * 7, stale: false, at: stamp() };
  }

  #statistics(number) {
    return { totalViewers: audience(number) * 7, totalGiftsSent: 51, totalGiftCoins: 1830, totalUniqueGiftSenders: 17, totalLikesReceived: this.#likes, totalMessageCount: 912, liveDuration: 1_800_000 };
  }

  /** The open requests of a kind. */
  #requests(kind) {
    const from = (list) => this.#open.filter((request) => request.kind === kind && request.list === list);
    return { sent: from('sent'), received: from('received'), at: stamp() };
  }

  /** @param {string} of the id of the other live, or of the battle */
  #endRequests(kind, of) {
    this.#open = this.#open.filter((request) => request.kind !== kind || ![request.inviter.live, request.invitee.live, request.battle].includes(of));
  }

  #sent() {
    return { sent: { position: { epoch: 1, number: this.#n } } };
  }

  #begin(live) {
    this.#live = lives.findIndex(({ liveID }) => liveID === live);
    this.#n = 0;
    this.#revision = 0;
    const number = this.#live;
    const asked = new URLSearchParams(location.search);
    const rate = Number(asked.get('rate') ?? 2);
    // Tests of a long evening need many messages in a short time, so several arrive at once.
    const batch = Number(asked.get('batch') ?? 1);
    this.#frame({ counts: this.#count(number) });
    this.#item({ stage: { record: this.#stage(), events: [] } });
    if (asked.has('degraded')) this.#degrade(Number(asked.get('degraded')));
    for (let index = 0; index < 12; index += 1) this.#talk();
    this.#every(1000 / rate, () => {
      for (let index = 0; index < batch; index += 1) this.#talk();
    });
    this.#every(2500, () => this.#frame({ counts: this.#count(number) }));
    this.#every(500, () => this.#item({ speaking: { users: [{ user: lives[number].liveOwner.userID, level: 20 + Math.round(Math.random() * 80) }] } }));
    this.#every(1700, () => this.#like(people[(this.#n + 5) % people.length], 1 + (this.#n % 4)));
    this.#every(3800, () => this.#item({ audienceJoined: { user: people[this.#n % people.length] } }));
    this.#every(5200, () => this.#item({ gift: { sender: people[(this.#n + 2) % people.length], gift: gifts[this.#n % gifts.length], count: 1 + (this.#n % 3), receivers: [] } }));
    if (number === 0 || number === 8) this.#fight();
    if (asked.has('ends')) this.#after(500, () => this.#end(Number(asked.get('ends'))));
  }

  /**
   * Omits tips, and reports this as the server does: at once, again every 2 s, and when tips are complete again.
   *
   * @param {number} times how often the omission is reported after the first time
   */
  #degrade(times) {
    this.#item({ tips: { isDegraded: true } });
    for (let turn = 1; turn <= times; turn += 1) this.#after(2000 * turn, () => this.#item({ tips: { isDegraded: turn < times } }));
  }

  /** Ends the connection as the server would. */
  #end(code) {
    this.close();
    this.onclose?.({ code });
  }

  #every(milliseconds, action) {
    this.#timers.add(setInterval(action, milliseconds));
  }

  #after(milliseconds, action) {
    this.#timers.add(setTimeout(action, milliseconds));
  }

  #talk() {
    this.#item({ text: { sender: people[(this.#n * 7) % people.length], text: texts[(this.#n * 5) % texts.length] } });
  }

  #like(sender, count) {
    this.#likes += count;
    this.#item({ likes: { total: this.#likes, sender, count } });
  }

  #sit() {
    this.#seat = { ...this.#seat, guest: this.#user };
    this.#item({ stage: { record: this.#stage(), events: [] } });
  }

  /** Shows the stage of two connected lives and a battle between them. */
  #fight() {
    const info = lives[this.#live];
    const other = lives[5];
    const host = (live) => ({ live: live.liveID, host: live.liveOwner, joinedAt: stamp() });
    const begun = stamp();
    const scores = [0, 0];
    const show = () => {
      const seat = { index: 0, isLocked: false, isMicrophoneLocked: false, isCameraLocked: false, occupant: { user: other.liveOwner, role: 0, live: other.liveID, isMicrophoneOn: true, allowOpenMicrophone: true, isCameraOn: true, allowOpenCamera: true, suspendStatus: 'none' } };
      const region = (live, x) => ({ live: live.liveID, userID: live.liveOwner.userID, seatIndex: 0, x, y: 0, width: 540, height: 1920, zorder: 0 });
      this.#seat = { seated: 1, stage: {
        connection: { id: 'c1', members: [host(info), { ...host(other), seats: [seat] }], templateID: 600, mutedLives: [] },
        battle: { id: 'b1', extensionInfo: '', durationSeconds: 180, needResponse: false, startTime: begun, endTime: begun + 180_000, sides: [info, other].map((live, index) => ({ live: live.liveID, host: live.liveOwner, score: scores[index], hasLeft: false })) },
        layout: { canvas: { width: 1080, height: 1920, templateID: 600 }, regions: [region(info, 0), region(other, 540)] },
      } };
      this.#item({ stage: { record: this.#stage(), events: [] } });
    };
    show();
    this.#every(1500, () => {
      scores[this.#n % 2] += 10 + (this.#n % 50);
      show();
    });
  }

  #stage() {
    this.#revision += 1;
    return sampleStage(lives[Math.max(0, this.#live ?? 0)], Math.max(0, this.#live ?? 0), this.#revision, this.#seat);
  }

  #item(content) {
    this.#n += 1;
    const live = lives[this.#live]?.liveID;
    if (!live) return;
    this.#frame({ feed: { epoch: 1, items: [{ at: stamp(), content, n: this.#n }], live, token: `1.${this.#n}.${this.#n}` } });
  }
}
