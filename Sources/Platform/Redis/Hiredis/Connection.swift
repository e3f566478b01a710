// SPDX-License-Identifier: Apache-2.0
internal import CHiredis
internal import Concurrency
internal import Glibc
internal import MachineKit

/// One network connection to Redis; only one thread may use it.
///
/// The library hiredis connects and parses the protocol, but plain system calls send and receive the bytes, for two
/// reasons. The writes of hiredis raise SIGPIPE when the peer has closed the connection. The timeouts of hiredis
/// restart with each read, so a pipeline with slow replies would never time out.
@safe final class Connection {
    private let context: UnsafeMutablePointer<redisContext>
    private var receiveBuffer = [UInt8](repeating: 0, count: 65_536)

    /// Connects, and blocks the thread for at most `timeout`.
    init(host: String, port: Int, timeout: Duration) throws(RedisError) {
        let milliseconds = Int(Milliseconds(timeout).count)
        let connectTimeout = timeval(tv_sec: milliseconds / 1_000, tv_usec: milliseconds % 1_000 * 1_000)
        guard let context = unsafe redisConnectWithTimeout(host, Int32(clamping: port), connectTimeout) else {
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

    /// Whether the connection must not be used any more: the peer has closed it or has sent unrequested bytes.
    ///
    /// May only be called between pipelines, when no reply is expected.
    var isUnusable: Bool {
        var entry = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        // Without waiting, `poll` returns 0 if there is neither a byte nor the end of the connection nor an error.
        return unsafe poll(&entry, 1, 0) != 0
    }

    /// Sends all commands at once (a pipeline), then reads one reply for each of them.
    ///
    /// `maxReplyBytes` limits the size of all replies together.
    ///
    /// - Throws: `timedOut` at the pipeline's deadline, `disconnected` when the connection breaks, `protocolViolation`
    ///   for bytes that are not a reply, `replyTooLarge` beyond `maxReplyBytes`. After an error the connection must not
    ///   be used any more.
    func exchange(
        _ commands: [RedisCommand], timeout: Duration, maxReplyBytes: Int
    ) throws(RedisError) -> [RedisReply] {
        var deadline = PipelineDeadline(timeout: Milliseconds(timeout), now: MonotonicClock.now)
        try self.send(RedisCommand.encode(commands), &deadline)
        var replies: [RedisReply] = []
        replies.reserveCapacity(commands.count)
        var receivedBytes = 0
        while replies.count < commands.count {
            if let reply = try self.nextReply() {
                replies.append(reply)
            } else {
                receivedBytes += try self.receive(&deadline)
                if receivedBytes > maxReplyBytes { throw .replyTooLarge(receivedBytes) }
            }
        }
        return replies
    }

    /// Sends all bytes; waits while the socket does not take more.
    private func send(_ bytes: [UInt8], _ deadline: inout PipelineDeadline) throws(RedisError) {
        var sentBytes = 0
        while sentBytes < bytes.count {
            let newlySentBytes = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    self.descriptor, buffer.baseAddress?.advanced(by: sentBytes), buffer.count - sentBytes,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if newlySentBytes > 0 {
                sentBytes += newlySentBytes
                deadline.recordProgress(at: MonotonicClock.now)
            } else if errno == EAGAIN {
                try self.wait(for: POLLOUT, deadline)
            } else if errno != EINTR {
                throw .disconnected("errno \(errno)")
            }
        }
    }

    /// Waits for bytes, and passes them to hiredis's parser.
    ///
    /// - Returns: the number of received bytes.
    private func receive(_ deadline: inout PipelineDeadline) throws(RedisError) -> Int {
        while true {
            let count = unsafe recv(self.descriptor, &self.receiveBuffer, self.receiveBuffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                let code = unsafe self.receiveBuffer.withUnsafeBytes { buffer in
                    unsafe redisReaderFeed(
                        self.context.pointee.reader, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count)
                }
                guard code == REDIS_OK else { throw .protocolViolation(self.readerError) }
                deadline.recordProgress(at: MonotonicClock.now)
                return count
            }
            if count == 0 { throw .disconnected("closed by Redis") }
            if errno == EAGAIN {
                try self.wait(for: POLLIN, deadline)
            } else if errno != EINTR {
                throw .disconnected("errno \(errno)")
            }
        }
    }

    /// Waits until the socket is ready for `event` (`POLLIN` or `POLLOUT`), but no longer than the deadline.
    private func wait(for event: Int32, _ deadline: PipelineDeadline) throws(RedisError) {
        let remaining = deadline.remaining(at: MonotonicClock.now).count
        guard remaining > 0 else { throw .timedOut }
        var entry = pollfd(fd: self.descriptor, events: Int16(event), revents: 0)
        // The result does not matter: the next send or receive reports any error.
        _ = unsafe poll(&entry, 1, Int32(clamping: remaining))
    }

    /// Takes the next reply from hiredis's parser; nil until all bytes of the reply were received.
    private func nextReply() throws(RedisError) -> RedisReply? {
        var pointer: UnsafeMutableRawPointer?
        guard unsafe redisReaderGetReply(self.context.pointee.reader, &pointer) == REDIS_OK else {
            throw .protocolViolation(self.readerError)
        }
        guard let pointer = unsafe pointer else { return nil }
        defer { unsafe freeReplyObject(pointer) }
        return unsafe Self.copy(pointer.assumingMemoryBound(to: redisReply.self))
    }

    /// Copies a reply.
    ///
    /// The recursion is bounded: hiredis 0.14 rejects arrays nested more than seven deep.
    private static func copy(_ reply: UnsafePointer<redisReply>) -> RedisReply {
        switch unsafe reply.pointee.type {
        case REDIS_REPLY_INTEGER: return unsafe .integer(reply.pointee.integer)
        case REDIS_REPLY_STRING: return unsafe .bytes(Self.bytes(reply))
        case REDIS_REPLY_STATUS: return unsafe .status(String(decoding: Self.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: return unsafe .error(String(decoding: Self.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            var elements: [RedisReply] = []
            for index in unsafe 0..<reply.pointee.elements {
                if let element = unsafe reply.pointee.element[index] { unsafe elements.append(Self.copy(element)) }
            }
            return .array(elements)
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

/// The deadline of a pipeline.
///
/// The pipeline fails after `timeout` without any progress, and in any case after 4 × `timeout`.
struct PipelineDeadline {
    /// How many times `timeout` a pipeline that makes progress may take.
    private static let maxTimeouts: Int64 = 4
    private let timeout: Milliseconds
    /// When the pipeline fails in any case.
    private let totalEnd: MonotonicTime
    /// When the pipeline fails unless bytes are sent or received before.
    private var idleEnd: MonotonicTime

    init(timeout: Milliseconds, now: MonotonicTime) {
        self.timeout = timeout
        self.totalEnd = now + Milliseconds(Self.maxTimeouts * timeout.count)
        self.idleEnd = now + timeout
    }

    /// Records that bytes were sent or received.
    mutating func recordProgress(at now: MonotonicTime) { self.idleEnd = now + self.timeout }

    /// The time until the pipeline times out; zero or negative once it has.
    func remaining(at now: MonotonicTime) -> Milliseconds { min(self.totalEnd, self.idleEnd) - now }
}
