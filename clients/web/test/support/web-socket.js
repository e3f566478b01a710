// SPDX-License-Identifier: Apache-2.0
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const magic = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * A small WebSocket client (RFC 6455) for Node versions without one: `ws:` addresses, text frames, ping and close. It
 * has the part of a browser's interface that the SDK uses, and `terminate`, which cuts the connection like a failure of
 * the network.
 */
export class TestWebSocket {
  onopen = () => {};
  onmessage = (_event) => {};
  onclose = (_event) => {};
  onerror = (_event) => {};
  #socket;
  #buffer = Buffer.alloc(0);
  #parts = [];
  #isOpen = false;
  #isClosed = false;
  #key = randomBytes(16).toString('base64');

  constructor(url, protocol) {
    const { hostname, port, pathname } = new URL(url);
    this.#socket = connect({ host: hostname, port: Number(port) });
    this.#socket.setNoDelay(true);
    this.#socket.on('connect', () => {
      this.#socket.write([
        `GET ${pathname} HTTP/1.1`, `Host: ${hostname}:${port}`, 'Upgrade: websocket', 'Connection: Upgrade',
        `Sec-WebSocket-Key: ${this.#key}`, 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Protocol: ${protocol}`, '', '',
      ].join('\r\n'));
    });
    this.#socket.on('data', (data) => {
      this.#buffer = Buffer.concat([this.#buffer, data]);
      if (this.#isOpen || this.#readHead()) while (this.#readFrame());
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#closed(1006));
  }

  send(text) {
    if (this.#isOpen && !this.#isClosed) this.#write(1, Buffer.from(text));
  }

  close(code = 1000) {
    const body = Buffer.alloc(2);
    body.writeUInt16BE(code);
    if (this.#isOpen) this.#write(8, body);
    this.#socket.end();
  }

  terminate() {
    this.#socket.destroy();
  }

  #readHead() {
    const end = this.#buffer.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const head = this.#buffer.subarray(0, end).toString();
    this.#buffer = this.#buffer.subarray(end + 4);
    const accept = createHash('sha1').update(this.#key + magic).digest('base64');
    if (!head.startsWith('HTTP/1.1 101') || !head.includes(accept)) {
      this.#socket.destroy();
      return false;
    }
    this.#isOpen = true;
    this.onopen({});
    return true;
  }

  #readFrame() {
    const buffer = this.#buffer;
    if (buffer.length < 2 || this.#isClosed) return false;
    let length = buffer[1] & 0x7f;
    let start = 2;
    if (length === 126) {
      if (buffer.length < 4) return false;
      length = buffer.readUInt16BE(2);
      start = 4;
    } else if (length === 127) {
      if (buffer.length < 10) return false;
      length = Number(buffer.readBigUInt64BE(2));
      start = 10;
    }
    if (buffer.length < start + length) return false;
    const body = buffer.subarray(start, start + length);
    this.#buffer = buffer.subarray(start + length);
    const [isLast, opcode] = [(buffer[0] & 0x80) !== 0, buffer[0] & 0xf];
    if (opcode === 9) this.#write(10, body);
    else if (opcode === 8) this.#closed(body.length >= 2 ? body.readUInt16BE(0) : 1005);
    else if (opcode < 8) {
      this.#parts.push(body);
      if (isLast) this.onmessage({ data: Buffer.concat(this.#parts.splice(0)).toString() });
    }
    return true;
  }

  #write(opcode, body) {
    const mask = randomBytes(4);
    const size = body.length < 126 ? [body.length] : body.length < 65536 ? [126, body.length >> 8, body.length & 255] : undefined;
    const head = size ? Buffer.from(size) : Buffer.alloc(9);
    if (!size) {
      head[0] = 127;
      head.writeBigUInt64BE(BigInt(body.length), 1);
    }
    head[0] |= 0x80;
    const masked = Buffer.from(body.map((byte, index) => byte ^ mask[index % 4]));
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode]), head, mask, masked]));
  }

  #closed(code) {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    this.onclose({ code });
  }
}
