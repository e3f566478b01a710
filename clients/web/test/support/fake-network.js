// SPDX-License-Identifier: Apache-2.0

/** A network of fake WebSockets: records the frames of clients, and lets a test act as the server. */
export class FakeNetwork {
  /** All sockets that were made; the last one is the present one. */
  sockets = [];
  /** Called with each frame that a client sends, after it was recorded. */
  onSent = (_frame, _socket) => {};
  /** The addresses for which the constructor throws, as for an invalid address. */
  badAddresses = new Set();
  /** Whether a new socket opens without the test's help. */
  opensAtOnce = false;

  constructor() {
    const network = this;
    this.WebSocket = class {
      constructor(url, protocol) {
        if (network.badAddresses.has(url)) throw new SyntaxError(`${url} is no address`);
        Object.assign(this, { url, protocol, sent: [], isOpen: false, isClosed: false, closedWith: undefined });
        network.sockets.push(this);
        if (network.opensAtOnce) queueMicrotask(() => this.open());
      }

      open() {
        if (this.isClosed) return;
        this.isOpen = true;
        this.onopen?.({});
      }

      send(text) {
        if (!this.isOpen || this.isClosed) throw new Error('sent on a socket that is not open');
        const frame = JSON.parse(text);
        this.sent.push(frame);
        network.onSent(frame, this);
      }

      close(code) {
        this.isClosed = true;
        this.closedWith = code;
      }

      /** Ends the connection, as the server or a loss of the network would. */
      end(code) {
        this.isClosed = true;
        this.onclose?.({ code });
      }

      receive(frame) {
        this.onmessage?.({ data: typeof frame === 'string' ? frame : JSON.stringify(frame) });
      }

      receiveData(data) {
        this.onmessage?.({ data });
      }

      reply(id, kind, body = {}) {
        this.receive({ reply: { id, result: { [kind]: body } } });
      }

      fail(id, code, name, retryAfter) {
        this.receive({ reply: { id, error: { code, name, message: name, ...(retryAfter === undefined ? {} : { retryAfter }) } } });
      }
    };
  }

  get socket() {
    return this.sockets[this.sockets.length - 1];
  }
}
