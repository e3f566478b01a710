// SPDX-License-Identifier: Apache-2.0
// The part of `deploy/upgrade-test.py` with clients: a seat that is taken, an application and a co-host request that
// are open, and a battle, over an upgrade. It reads commands from standard input, a line each, and answers each with a
// line: `ok: …`, or `failed: …`.
//
//   begin   opens the requests and the battle, and sends scores from then on
//   check   what was open must be so still, for all clients and for a new one; then ends all of it, once each
//   end     ends the lives and the program
//
// Its argument is JSON: the gateways' addresses, a token for each user, and the server API:
// {"urls": […], "tokens": {"stage-a": "…", …}, "http": "http://…", "server": "<token of the app's server>"}.
import { createInterface } from 'node:readline';
import { LivePlaza } from '../clients/web/src/index.js';
import { next, until } from '../clients/web/test/support/cluster.js';
import { TestWebSocket } from '../clients/web/test/support/web-socket.js';

const { urls, tokens, http, server } = JSON.parse(process.argv[2]);
/** How long an effect may take to reach everybody, in milliseconds: a service may have restarted a moment ago. */
const patience = 20_000;
/** How long the requests stay open and the battle lasts, in seconds: longer than an upgrade in one direction. */
const seconds = 290;

const clients = [];
async function login(user) {
  const client = new LivePlaza({ urls, WebSocket: TestWebSocket, token: tokens[user] });
  clients.push(client);
  await client.loginStore.login();
  return client;
}

const [hostA, hostB, hostC, guest, fan, newcomer] = await Promise.all(
  ['stage-a', 'stage-b', 'stage-c', 'stage-guest', 'stage-fan', 'stage-newcomer'].map(login));
for (const [host, liveID] of [[hostA, 'stage-a'], [hostB, 'stage-b'], [hostC, 'stage-c']]) {
  await host.liveListStore.createLive({ liveID });
}
for (const viewer of [guest, fan]) await viewer.liveListStore.joinLive({ liveID: 'stage-a' });
const [a, b, c] = [hostA.live('stage-a'), hostB.live('stage-b'), hostC.live('stage-c')];
const [seated, applying] = [guest.live('stage-a'), fan.live('stage-a')];
const invited = next(seated.coGuest, 'onHostInvitationReceived', patience);
await a.coGuest.inviteToSeat({ userID: 'stage-guest', timeout: 60 });
await invited;
await seated.coGuest.acceptInvitation({ inviterID: 'stage-a' });
await until('the guest sits', () => sits(a, 'stage-guest'), patience);
await a.coHost.requestHostConnection({ targetHost: 'stage-b', timeout: 60 });
await until('the request arrives', () => b.coHost.state.applicant !== null, patience);
await b.coHost.acceptHostConnection({ fromHostLiveID: 'stage-a' });
await until('the lives are connected', () => a.coHost.state.connected.length === 2, patience);

/** What runs over an upgrade; undefined between two. */
let open;

async function begin() {
  await applying.coGuest.applyForSeat({ timeout: seconds });
  await a.coHost.requestHostConnection({ targetHost: 'stage-c', timeout: seconds });
  const { battleInfo } = await a.battle.requestBattle({ config: { duration: seconds }, userIDList: ['stage-b'] });
  open = { battle: battleInfo.battleID, acknowledged: 0, unanswered: 0, ends: [], answers: [], isOver: false };
  const { ends, answers } = open;
  for (const [name, stores] of [['a', a], ['b', b], ['guest', seated]]) {
    stores.battle.addEventListener('onBattleEnded', () => ends.push(name));
  }
  applying.coGuest.addEventListener('onGuestApplicationResponded', ({ detail }) => answers.push(`application ${detail.isAccept}`));
  a.coHost.addEventListener('onCoHostRequestAccepted', () => answers.push('co-host'));
  open.sending = sendScores(open);
  return `an application, a co-host request and battle ${open.battle} are open`;
}

/** Adds 1 to a score again and again, and counts what became of it. */
async function sendScores(battle) {
  while (!battle.isOver) {
    try {
      const scores = [{ live: 'stage-a', score: 1 }];
      const reply = await fetch(`${http}/v1/call/battle.score`, {
        method: 'POST', body: JSON.stringify({ battle: battle.battle, operation: 1, scores }),
        signal: AbortSignal.timeout(10_000),
        headers: { authorization: `Bearer ${server}`, 'content-type': 'application/json' },
      });
      if (reply.ok) battle.acknowledged += 1;
      else battle.unanswered += 1;
    } catch {
      // The gateway restarts, or died before it answered.
      battle.unanswered += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function check() {
  open.isOver = true;
  await open.sending;
  // 1. All is as it was, for who was there.
  const isOpen = (stores) => stores.battle.state.currentBattleInfo?.battleID === open.battle && sits(stores, 'stage-guest')
    && stores.coHost.state.connected.length === 2;
  await until('all see the seat, the connection and the battle', () => [a, b, seated, applying].every(isOpen), patience);
  const isExact = (score) => score >= open.acknowledged && score <= open.acknowledged + open.unanswered;
  const figures = () => `${open.acknowledged} acknowledged and ${open.unanswered} not answered`;
  await until('all have one score, which is exact', () => {
    const scores = [a, b, seated].map(scoreOfA);
    return new Set(scores).size === 1 && isExact(scores[0]);
  }, patience).catch((problem) => {
    throw new Error(`${problem.message}: ${[a, b, seated].map(scoreOfA)}; ${figures()}`);
  });
  const score = scoreOfA(a);
  await until('the host has the application', () => a.coGuest.state.applicants.some((user) => user.userID === 'stage-fan'), patience);
  await until('a host has the co-host request', () => c.coHost.state.applicant?.liveID === 'stage-a', patience);
  // 2. And for who comes now.
  await newcomer.liveListStore.joinLive({ liveID: 'stage-a' });
  const seen = newcomer.live('stage-a');
  await until('a new viewer sees the same', () => isOpen(seen) && scoreOfA(seen) === score, patience);
  await newcomer.liveListStore.leaveLive();
  // 3. Each request ends once, as it is answered, and the battle once for all.
  await a.coGuest.acceptApplication({ userID: 'stage-fan' });
  await until('the fan sits', () => sits(a, 'stage-fan') && sits(b, 'stage-fan', 'stage-a'), patience);
  await c.coHost.acceptHostConnection({ fromHostLiveID: 'stage-a' });
  await until('three lives are connected', () => b.coHost.state.connected.length === 3, patience);
  for (const side of [b, a]) await side.battle.exitBattle({ battleID: open.battle });
  await until('the battle has ended for all', () => open.ends.length >= 3, patience).catch(() => {
    throw new Error(`the battle ended for ${open.ends}`);
  });
  await applying.coGuest.disConnect();
  await c.coHost.exitHostConnection();
  await until('all is as before', () => !sits(a, 'stage-fan') && b.coHost.state.connected.length === 2, patience);
  // A second end or answer would arrive in this time.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const ended = `${open.ends.sort()} / ${open.answers.sort()}`;
  if (ended !== 'a,b,guest / application true,co-host') throw new Error(`ends and answers: ${ended}`);
  return `seat, requests and battle lasted; score ${score}, ${figures()}`;
}

function sits(stores, user, live) {
  return stores.seat.state.seatList.some(({ userInfo }) => userInfo.userID === user && (!live || userInfo.liveID === live));
}

function scoreOfA(stores) {
  return stores.battle.state.battleScore['stage-a'];
}

async function end() {
  for (const host of [hostA, hostB, hostC]) await host.liveListStore.endLive();
  for (const client of clients) await client.loginStore.logout();
  return 'the lives have ended';
}

console.log('ok: a guest sits, and two lives are connected');
const commands = { begin, check, end };
for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(`ok: ${await commands[line]()}`);
  } catch (problem) {
    console.log(`failed: ${problem.message}`);
  }
  if (line === 'end') break;
}
process.exit(0);
