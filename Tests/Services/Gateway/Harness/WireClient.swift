// SPDX-License-Identifier: Apache-2.0
import Glibc
import PlazaModel
import PlazaWire

/// A WebSocket client over a plain blocking socket, by which a test can also send invalid bytes or stop reading.
final class WireClient {
    /// What the client received.
    enum Received {
        /// A text frame: decoded, and as it was sent.
        case frame(ServerFrame, text: [UInt8])
        /// A close frame with its code.
        case closed(UInt16)
        /// The end of the TCP connection, without a close frame.
        case ended
    }

    /// The reason why a client, or the cluster that it uses, did not do what a test needs.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The index in `buffer` of the next byte to read.
    private var readIndex = 0
    /// The frames that arrived while a call waited for its reply.
    private var pendingFrames: [(ServerFrame, [UInt8])] = []
    /// The HTTP status of the handshake's response; 101 if the connection is a WebSocket now.
    private(set) var status = 0
    /// The head of the handshake's response: the status line and the headers.
    private(set) var head = ""
    /// The feed token of the last feed frame that `nextItemNumbers` has read.
    private(set) var token = ""
    /// The id of the next call.
    private var nextID: Int64

    /// Connects, and performs the WebSocket handshake, which the gateway may refuse (`status`).
    ///
    /// The bytes `proxyHeader` are sent before the handshake, as a proxy does to name its client's address. `headers`
    /// are further lines of the handshake's request, each with its line end. `receiveBuffer` is the size of the
    /// socket's receive buffer in bytes.
    init(
        port: UInt16, path: String = "/v1", subprotocols: String? = "liveplaza.v1", firstID: Int64 = 1,
        receiveBuffer: Int32? = nil, proxyHeader: [UInt8] = [], headers: String = ""
    ) throws {
        self.nextID = firstID
        self.descriptor = try Self.connect(port, receiveBuffer: receiveBuffer)
        var request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        request += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        if let subprotocols { request += "Sec-WebSocket-Protocol: \(subprotocols)\r\n" }
        try self.write(proxyHeader + Array((request + headers + "\r\n").utf8))
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head.append(try self.readByte()) }
        self.head = String(decoding: head, as: UTF8.self)
        // The status line begins with `HTTP/1.1 `, then come the three digits of the status.
        self.status = Int(self.head.dropFirst(9).prefix(3)) ?? 0
    }

    deinit { close(self.descriptor) }

    /// Opens a socket to a port of this host; `receiveBuffer` is the size of its receive buffer in bytes.
    static func connect(_ port: UInt16, receiveBuffer: Int32? = nil) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            let length = socklen_t(MemoryLayout<Int32>.size)
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // The address 127.0.0.1.
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe Glibc.connect(descriptor, generic, length)
            }
        }
        guard code == 0 else {
            Glibc.close(descriptor)
            throw Failure(description: "no connection to port \(port): errno \(errno)")
        }
        return descriptor
    }

    /// Closes the TCP connection without a close frame.
    func cutConnection() { shutdown(self.descriptor, Int32(SHUT_RDWR)) }

    /// Sends raw bytes.
    func write(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { bytes in
                unsafe Glibc.send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(description: "cannot write: errno \(errno)") }
            sent += count
        }
    }

    /// Sends a text frame.
    func send(_ text: String) throws { try self.write(Self.maskedFrame(.text, Array(text.utf8))) }

    /// The first byte of a frame: 0x80, which marks a frame that is a whole message, plus the opcode.
    enum FirstByte: UInt8 {
        case text = 0x81
        case binary = 0x82
        case close = 0x88
        case ping = 0x89
        case pong = 0x8A
    }

    /// Encodes a masked client frame.
    static func maskedFrame(_ first: FirstByte, _ payload: [UInt8], mask: [UInt8] = [1, 2, 3, 4]) -> [UInt8] {
        var frame = [first.rawValue]
        // The bit 0x80 of the second byte says that the frame is masked. Its other bits are the length, or 126 or 127
        // if the length follows in two or eight bytes.
        switch payload.count {
        case ..<126: frame.append(0x80 | UInt8(payload.count))
        case ...0xFFFF: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            frame.append(0x80 | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                frame.append(UInt8(truncatingIfNeeded: payload.count >> shift))
            }
        }
        frame += mask
        for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index % 4]) }
        return frame
    }

    /// Makes a call and waits for its reply; frames that arrive before the reply are kept for `next`.
    func call(_ method: String, _ params: String = "{}", id: Int64? = nil) throws -> Outcome {
        let callID = try self.begin(method, params, id: id)
        return try self.answer(to: callID)
    }

    /// Calls `ping`; returns whether the gateway answers with a pong, which contains a time.
    func getsPong() throws -> Bool { if case .success(.pong) = try self.call("ping") { true } else { false } }

    /// Sends a call without waiting for its reply; returns the call's id.
    @discardableResult func begin(_ method: String, _ params: String = "{}", id: Int64? = nil) throws -> Int64 {
        let id = id ?? self.nextID
        self.nextID = max(self.nextID, id + 1)
        try self.send("{\"id\":\(id),\"method\":\"\(method)\",\"params\":\(params)}")
        return id
    }

    /// Waits for the reply to a call.
    func answer(to id: Int64) throws -> Outcome {
        if let index = self.pendingFrames.firstIndex(where: { Self.reply($0.0, id) != nil }) {
            return try Self.reply(self.pendingFrames.remove(at: index).0, id)
                ?? { throw Failure(description: "the reply was lost") }()
        }
        while true {
            switch try self.read() {
            case .frame(let frame, let text):
                if let outcome = Self.reply(frame, id) { return outcome }
                self.pendingFrames.append((frame, text))
            case .closed(let code): throw Failure(description: "closed with \(code) instead of an answer")
            case .ended: throw Failure(description: "ended instead of an answer")
            }
        }
    }

    /// Returns the next frame that is not a reply to a call, in the order of arrival.
    func next() throws -> Received {
        if !self.pendingFrames.isEmpty {
            let (frame, text) = self.pendingFrames.removeFirst()
            return .frame(frame, text: text)
        }
        return try self.read()
    }

    /// Returns the item numbers in the next feed frame that has items; skips all other frames.
    func nextItemNumbers() throws -> [Int64] {
        while true {
            switch try self.next() {
            case .frame(.feed(_, _, let items, let token), _):
                self.token = token
                if !items.isEmpty { return items.map(\.n) }
            case .frame: break
            case .closed(let code): throw Failure(description: "closed with \(code)")
            case .ended: throw Failure(description: "ended")
            }
        }
    }

    /// Reads feed frames up to the item `last`, and returns the numbers of all their items.
    func itemNumbers(upTo last: Int64) throws -> [Int64] {
        var numbers: [Int64] = []
        while (numbers.last ?? 0) < last { numbers += try self.nextItemNumbers() }
        return numbers
    }

    /// Waits until the connection is closed, and returns the code of the close frame.
    ///
    /// If the connection ends without a close frame, the code is 1006, as in RFC 6455.
    func closeCode() throws -> UInt16 {
        while true {
            switch try self.read() {
            case .frame: break
            case .closed(let code): return code
            case .ended: return 1006
            }
        }
    }

    /// Waits for `milliseconds` or until something arrives; returns whether nothing has arrived.
    func isQuiet(milliseconds: Int32) -> Bool {
        if self.readIndex < self.buffer.count || !self.pendingFrames.isEmpty { return false }
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, milliseconds) == 0
    }

    /// The outcome in a frame that replies to call `id`; nil for any other frame.
    private static func reply(_ frame: ServerFrame, _ id: Int64) -> Outcome? {
        if case .reply(id, let outcome) = frame { return outcome }
        return nil
    }

    /// Reads one frame from the socket; ping frames are answered and skipped.
    private func read() throws -> Received {
        while true {
            guard let first = try self.nextByte() else { return .ended }
            // The length without the bit of the mask; `maskedFrame` explains 126 and 127.
            var count = Int(try self.readByte() & 0x7F)
            if count == 126 {
                count = Int(try self.readByte()) << 8 | Int(try self.readByte())
            } else if count == 127 {
                count = 0
                for _ in 0..<8 { count = count << 8 | Int(try self.readByte()) }
            }
            var payload: [UInt8] = []
            payload.reserveCapacity(count)
            while payload.count < count { payload.append(try self.readByte()) }
            let opcode = first & 0x0F
            switch opcode {
            // A text frame.
            case 1: return .frame(try Wire.decode(ServerFrame.self, from: payload), text: payload)
            // A close frame. By RFC 6455, a close frame without a code has the code 1005.
            case 8: return .closed(payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : 1005)
            // A ping frame.
            case 9: try self.write(Self.maskedFrame(.pong, payload))
            default: break
            }
        }
    }

    /// Reads and discards at most `count` bytes of whatever the socket holds, without waiting.
    ///
    /// Afterwards the client no longer knows where a frame begins.
    ///
    /// - Returns: the number of bytes; 0 if the server has ended the connection; nil if nothing has arrived.
    func discardBytes(upTo count: Int) -> Int? {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = unsafe recv(self.descriptor, &bytes, count, Int32(MSG_DONTWAIT))
        if received < 0 { return errno == EAGAIN ? nil : 0 }
        return received
    }

    /// Reads one byte of a handshake or frame, in which the connection must not end.
    private func readByte() throws -> UInt8 {
        guard let byte = try self.nextByte() else { throw Failure(description: "the connection ended") }
        return byte
    }

    /// Reads one byte; returns nil if the connection has ended, and throws if nothing comes within 20 s.
    private func nextByte() throws -> UInt8? {
        if self.readIndex == self.buffer.count {
            self.buffer = [UInt8](repeating: 0, count: 65_536)
            self.readIndex = 0
            var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, 20_000) == 1 else {
                self.buffer = []
                throw Failure(description: "nothing came within 20 s")
            }
            let count = unsafe recv(self.descriptor, &self.buffer, self.buffer.count, 0)
            self.buffer.removeLast(self.buffer.count - max(0, count))
            guard count > 0 else { return nil }
        }
        defer { self.readIndex += 1 }
        return self.buffer[self.readIndex]
    }
}

extension Outcome {
    /// The error of a failure; nil for a success.
    var error: ReplyError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
