// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../support/fake-clock.js';
import { FakeNetwork } from '../support/fake-network.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage({ keptInWindow: { 'liveplaza.name': 'Carol' } });
const { Shell } = await import('../../pages/shell.js');
const { Session } = await import('../../pages/session/session.js');
const { parsePlace } = await import('../../pages/lib/router.js');
await showLanguage();

/** A shell whose server replies when the test says so, in a window in which Carol has signed in before. */
function make(demoTokens = true, { isRouted = false } = {}) {
  const network = new FakeNetwork();
  const session = new Session({ gateways: ['ws://g/v1'], demoTokens }, class extends network.WebSocket {
    addEventListener() {}
  });
  const shell = new Shell(session, { isFixture: false });
  const shown = [];
  // The list of lives makes many calls, which these tests ignore.
  if (!isRouted) shell.router = { start: () => shown.push('started') };
  const accept = () => {
    network.socket.open();
    const { id } = network.socket.sent[0];
    network.socket.reply(id, 'loggedIn', { gateway: 'g', notices: '1-1', session: 's', user: { userID: 'carol', userName: 'Carol' } });
  };
  return { network, session, shell, shown, accept };
}

const answerToken = (isOK = true) => {
  globalThis.fetch = async () => ({ ok: isOK, json: async () => (isOK ? { token: 'a.b.c' } : { error: { name: 'noPermission', message: 'not here' } }) });
};

test('who is signed in again sees that meanwhile, and not an empty page', async () => {
  answerToken();
  const { session, shell, shown, accept } = make();
  const started = shell.start();
  await settle();
  assert.equal(shell.main.textContent, 'Connecting…');
  assert.equal(shell.main.firstElementChild.getAttribute('role'), 'status');
  assert.deepEqual(shown, []);
  accept();
  await started;
  assert.deepEqual(shown, ['started']);
  assert.equal(shell.toasts.element.textContent, '');
  session.plaza.disconnect();
});

test('who cannot be signed in again is told why, and may sign in', async () => {
  answerToken(false);
  const { shell, shown } = make();
  await shell.start();
  assert.equal(shell.toasts.element.textContent, 'Sign-in failed: you are not allowed to');
  assert.deepEqual(shown, ['started']);
});

for (const [code, reason] of [
  [4102, 'this session continues in another window'], [4105, 'you signed in on another device'],
  [4106, 'you have too many connections'],
]) {
  test(`a session that ends with ${code} says the reason`, async () => {
    answerToken();
    const { network, shell, accept } = make();
    const started = shell.start();
    await settle();
    accept();
    await started;
    network.socket.end(code);
    assert.equal(shell.toasts.element.textContent, `This session has ended: ${reason}`);
  });
}

test('a session whose token ends, and that can get no other, says so', async () => {
  const { network, session, shell, accept } = make(false);
  await shell.start();
  const login = session.signIn({ token: 'a.b.c' });
  await settle();
  accept();
  await login;
  network.socket.end(4101);
  assert.equal(shell.toasts.element.textContent, 'This session has ended: your sign-in has expired');
});

test('who signs in by a name is one user by it, in this window alone', async () => {
  const asked = [];
  globalThis.fetch = async (path, { body }) => {
    asked.push(JSON.parse(body));
    return { ok: true, json: async () => ({ token: 'a.b.c' }) };
  };
  const { session, accept } = make();
  const { SignIn } = await import('../../pages/session/sign-in.js');
  const page = new SignIn({ session });
  page.name.value = ' Dora ';
  const [form] = page.element.querySelectorAll().filter(({ tag }) => tag === 'form');
  form.dispatchEvent(new Event('submit', { cancelable: true }));
  await settle();
  assert.equal(page.status.textContent, 'Connecting…');
  accept();
  await settle();
  assert.deepEqual(asked, [{ user: 'dora', name: 'Dora' }]);
  assert.equal(sessionStorage.getItem('liveplaza.name'), 'Dora');
  assert.equal(localStorage.getItem('liveplaza.name'), null, 'another window may be another user');
  assert.equal(page.status.textContent, '');
  session.plaza.disconnect();
});

test('an address that names no page is the plaza, which says that nothing is there', async () => {
  assert.deepEqual(parsePlace('#/ops'), { page: 'plaza', isUnknown: true });
  Object.assign(globalThis, { IntersectionObserver: class { observe() {} disconnect() {} }, innerHeight: 800 });
  answerToken();
  for (const [hash, said] of [['#/', ''], ['#/live/nonsense<b>%', 'There is nothing at this address. These are the lives of the plaza.']]) {
    location.hash = hash;
    const { session, shell, accept } = make(true, { isRouted: true });
    // The first page is loaded only when it is shown, too.
    await import('../../pages/plaza/plaza-page.js');
    const started = shell.start();
    await settle();
    accept();
    await started;
    await settle();
    assert.equal(shell.page.constructor.name, 'PlazaPage');
    assert.equal(shell.toasts.element.textContent, said);
    shell.page.dispose();
    session.plaza.disconnect();
  }
});

test('an error that is said over the page begins as a sentence', () => {
  const { shell } = make();
  shell.fail({ codeName: 'allSeatsTaken' });
  assert.equal(shell.toasts.element.textContent, 'All seats are taken');
});
