// SPDX-License-Identifier: Apache-2.0
internal import CHiredis
internal import Concurrency
internal import Glibc

/// One connection: hiredis connects and reads the protocol, the bytes go by plain system calls.
///
/// hiredis's own writing raises SIGPIPE when the peer has gone, and its time-outs start anew with each read without
/// end; here a pipeline whose answers drip has an end too. It belongs to one thread.
@safe final class Connection {
    private let context: UnsafeMutablePointer<redisContext>
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    init(host: String, port: Int, milliseconds: Int) throws(RedisError) {
        let limit = timeval(tv_sec: milliseconds / 1_000, tv_usec: milliseconds % 1_000 * 1_000)
        guard let context = unsafe redisConnectWithTimeout(host, Int32(clamping: port), limit) else {
            throw .unreachable("no memory for a connection")
        }
        guard unsafe context.pointee.err == 0 else {
            let detail = unsafe Self.text(&context.pointee.errstr)
            unsafe redisFree(context)
            throw .unreachable(detail)
        }
        unsafe self.context = context
    }

    deinit { unsafe redisFree(self.context) }

    /// Whether the peer has closed, or sent what nobody asked for; only between pipelines.
    var isClosedByPeer: Bool {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) != 0
    }

    /// Sends all commands, then reads a reply for each.
    func exchange(
        _ commands: [RedisCommand], milliseconds: Int, maximumBytes: Int
    ) throws(RedisError) -> [RedisReply] {
        var clock = PipelineClock(milliseconds: Int64(milliseconds), now: MonotonicClock.milliseconds)
        try self.send(RedisCommand.encode(commands), &clock)
        var replies: [RedisReply] = []
        replies.reserveCapacity(commands.count)
        var received = 0
        while replies.count < commands.count {
            if let reply = try self.nextReply() {
                replies.append(reply)
            } else {
                received += try self.receive(&clock)
                if received > maximumBytes { throw .replyTooLarge(received) }
            }
        }
        return replies
    }

    private func send(_ bytes: [UInt8], _ clock: inout PipelineClock) throws(RedisError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    self.descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count > 0 {
                sent += count
                clock.moved(at: MonotonicClock.milliseconds)
            } else if errno == EAGAIN {
                try self.wait(for: POLLOUT, clock)
            } else if errno != EINTR {
                throw .disconnected("errno \(errno)")
            }
        }
    }

    /// Reads what has come, waiting for it, and gives it to hiredis's reader.
    private func receive(_ clock: inout PipelineClock) throws(RedisError) -> Int {
        while true {
            let count = unsafe recv(self.descriptor, &self.chunk, self.chunk.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                let code = unsafe self.chunk.withUnsafeBytes { buffer in
                    unsafe redisReaderFeed(
                        self.context.pointee.reader, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count)
                }
                guard code == REDIS_OK else { throw .protocolViolation(self.readerError) }
                clock.moved(at: MonotonicClock.milliseconds)
                return count
            }
            if count == 0 { throw .disconnected("closed by Redis") }
            if errno == EAGAIN {
                try self.wait(for: POLLIN, clock)
            } else if errno != EINTR {
                throw .disconnected("errno \(errno)")
            }
        }
    }

    private func wait(for event: Int32, _ clock: PipelineClock) throws(RedisError) {
        let left = clock.left(at: MonotonicClock.milliseconds)
        guard left > 0 else { throw .timedOut }
        var entry = pollfd(fd: self.descriptor, events: Int16(event), revents: 0)
        // Whatever it says, the call that waited finds out more.
        _ = unsafe poll(&entry, 1, Int32(clamping: left))
    }

    private func nextReply() throws(RedisError) -> RedisReply? {
        var pointer: UnsafeMutableRawPointer?
        guard unsafe redisReaderGetReply(self.context.pointee.reader, &pointer) == REDIS_OK else {
            throw .protocolViolation(self.readerError)
        }
        guard let pointer = unsafe pointer else { return nil }
        defer { unsafe freeReplyObject(pointer) }
        return unsafe Self.copy(pointer.assumingMemoryBound(to: redisReply.self))
    }

    /// Copies a reply; hiredis allows lists seven deep.
    private static func copy(_ reply: UnsafePointer<redisReply>) -> RedisReply {
        switch unsafe reply.pointee.type {
        case REDIS_REPLY_INTEGER: return unsafe .integer(reply.pointee.integer)
        case REDIS_REPLY_STRING: return unsafe .bytes(Self.bytes(reply))
        case REDIS_REPLY_STATUS: return unsafe .status(String(decoding: Self.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: return unsafe .error(String(decoding: Self.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            var list: [RedisReply] = []
            for index in unsafe 0..<reply.pointee.elements {
                if let element = unsafe reply.pointee.element[index] { unsafe list.append(Self.copy(element)) }
            }
            return .array(list)
        default: return .null
        }
    }

    private static func bytes(_ reply: UnsafePointer<redisReply>) -> [UInt8] {
        unsafe Array(UnsafeRawBufferPointer(start: reply.pointee.str, count: reply.pointee.len))
    }

    private var descriptor: Int32 { unsafe self.context.pointee.fd }

    private var readerError: String { unsafe Self.text(&self.context.pointee.reader.pointee.errstr) }

    /// The text in one of hiredis's fixed buffers.
    private static func text<Buffer>(_ buffer: inout Buffer) -> String {
        unsafe withUnsafeBytes(of: &buffer) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// How long a pipeline may still take: one time-out without a byte in either direction, four in all.
struct PipelineClock {
    private let milliseconds: Int64
    private let end: Int64
    private var idleEnd: Int64

    init(milliseconds: Int64, now: Int64) {
        self.milliseconds = milliseconds
        self.end = now + 4 * milliseconds
        self.idleEnd = now + milliseconds
    }

    /// Some bytes went or came.
    mutating func moved(at now: Int64) { self.idleEnd = now + self.milliseconds }

    /// Milliseconds until it is over.
    func left(at now: Int64) -> Int64 { min(self.end, self.idleEnd) - now }
}
