// SPDX-License-Identifier: Apache-2.0

/** Opens the WebSockets of one client, counts their frames, and cuts the connection at one of them. */
export class CuttableNetwork {
  /** The class of WebSockets for the client. */
  WebSocket;
  #framesUntilCut;
  #socket;

  /** @param Inner the class of the real WebSockets, which has `terminate` */
  constructor(Inner) {
    const network = this;
    this.WebSocket = class extends CuttableSocket {
      constructor(url, protocol) {
        super(() => network.#passes(), () => new Inner(url, protocol));
        network.#socket = this;
      }
    };
  }

  /**
   * Plans a cut after `count` further frames: the next frame is lost with the connection. Frames of both directions are
   * counted together. An attempt to connect and its success count as one frame each.
   */
  planCut(frameCount) {
    this.#framesUntilCut = frameCount;
  }

  /** Cuts the connection now, and cancels a planned cut. */
  cutNow() {
    this.#framesUntilCut = undefined;
    this.#socket?.cut();
  }

  get isCutPlanned() {
    return this.#framesUntilCut !== undefined;
  }

  /** Whether the present connection is open. */
  get isOpen() {
    return this.#socket?.isOpen ?? false;
  }

  /** Counts a frame; returns whether it is delivered. */
  #passes() {
    const count = this.#framesUntilCut;
    if (count === undefined) return true;
    this.#framesUntilCut = count > 0 ? count - 1 : undefined;
    return count > 0;
  }
}

/** A WebSocket over another one, which cuts the connection when a frame must not pass. */
class CuttableSocket {
  onopen = () => {};
  onmessage = (_event) => {};
  onclose = (_event) => {};
  onerror = (_event) => {};
  isOpen = false;
  #isClosed = false;
  #passes;
  #inner;

  constructor(passes, connect) {
    this.#passes = passes;
    if (!passes()) return void this.cut();
    this.#inner = connect();
    this.#inner.onopen = (event) => this.#received(() => {
      this.isOpen = true;
      this.onopen(event);
    });
    this.#inner.onmessage = (event) => this.#received(() => this.onmessage(event));
    this.#inner.onclose = (event) => {
      if (this.#isClosed) return;
      this.#end();
      this.onclose(event);
    };
  }

  send(text) {
    if (this.#isClosed) return;
    if (this.#passes()) this.#inner.send(text);
    else this.cut();
  }

  close(code) {
    this.#end();
    this.#inner?.close(code);
  }

  /** Ends the connection. The client is told later, as after a loss of the network, and not within its own call. */
  cut() {
    if (this.#isClosed) return;
    this.#end();
    this.#inner?.terminate();
    queueMicrotask(() => this.onclose({ code: 1006 }));
  }

  #received(deliver) {
    if (this.#isClosed) return;
    if (this.#passes()) deliver();
    else this.cut();
  }

  #end() {
    this.isOpen = false;
    this.#isClosed = true;
  }
}
