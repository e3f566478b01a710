// SPDX-License-Identifier: Apache-2.0

/** Figures about a connection, for tests and for developers. They count from the load of the page. */
export class Wire {
  address = '';
  session = '';
  gateway = '';
  position = '';
  connections = 0;
  resumes = 0;
  replayedItems = 0;
  leftOut = 0;
  items = 0;
  /** @type {(count: number) => void} */
  onGap = () => {};
  /** @type {(replayed: boolean) => void} */
  onResumed = () => {};
  /** Called when the omission of tips begins or ends. @type {(isDegraded: boolean) => void} */
  onTips = () => {};
  /** Whether tips of the live are omitted now. */
  isDegraded = false;
  #last = { live: '', epoch: 0, number: 0 };
  #isReplaying = false;

  /** @param {string} text a received frame */
  received(text) {
    let frame;
    try {
      frame = JSON.parse(text);
    } catch {
      return;
    }
    if (frame.feed) this.#feed(frame.feed);
    else if (frame.reply?.result) this.#reply(frame.reply.result);
  }

  #reply({ loggedIn, resumed, joined }) {
    if (loggedIn) Object.assign(this, { gateway: loggedIn.gateway, session: loggedIn.session });
    if (joined) {
      this.#last = { live: '', epoch: 0, number: 0 };
      this.isDegraded = false;
    }
    if (!resumed) return;
    this.resumes += 1;
    this.#isReplaying = resumed.replayed;
    if (!resumed.replayed) {
      this.#last = { live: '', epoch: 0, number: 0 };
      // The report that tips are complete may be among the missed items. If the omission lasts, it is reported again.
      this.isDegraded = false;
    }
    this.onResumed(resumed.replayed);
  }

  /** Handles the report that tips are omitted, which the server repeats for new viewers. */
  #tips(isDegraded) {
    if (isDegraded === this.isDegraded) return;
    this.isDegraded = isDegraded;
    this.onTips(isDegraded);
  }

  #feed({ live, epoch, items, token, history }) {
    const end = Number(String(token).split('.')[1]);
    this.position = `${epoch}.${end}`;
    const isSame = this.#last.live === live && this.#last.epoch === epoch;
    const fresh = history ? [] : items.filter(({ n }) => !isSame || n > this.#last.number);
    if (fresh.length > 0) {
      const missing = isSame ? fresh[0].n - this.#last.number - 1 : 0;
      if (missing > 0) {
        this.leftOut += missing;
        this.onGap(missing);
      }
      this.items += fresh.length;
      if (this.#isReplaying) this.replayedItems += fresh.length;
      this.#isReplaying = false;
      for (const { content } of fresh) if (content.tips) this.#tips(content.tips.isDegraded);
    }
    this.#last = { live, epoch, number: Math.max(isSame ? this.#last.number : 0, Number.isFinite(end) ? end : 0) };
  }
}

/**
 * Makes a subclass of a WebSocket class that records its frames in `wire`.
 *
 * @param {typeof WebSocket} Base
 * @param {Wire} wire
 */
export function observedSocket(Base, wire) {
  return class extends Base {
    constructor(address, protocols) {
      super(address, protocols);
      // The reply to a resume does not name the gateway, which may be another one.
      if (wire.address !== String(address)) wire.gateway = '';
      wire.address = String(address);
      wire.connections += 1;
      this.addEventListener('message', (event) => wire.received(event.data));
    }
  };
}
