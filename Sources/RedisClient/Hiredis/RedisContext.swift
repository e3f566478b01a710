// SPDX-License-Identifier: Apache-2.0
internal import CHiredis
internal import Glibc

/// One connection of hiredis, freed when this value goes.
///
/// `@safe`: the pointer is made here, used by one thread at a time, and never handed out.
@safe final class RedisContext {
    private let raw: UnsafeMutablePointer<redisContext>

    /// Connects, waiting at most `milliseconds`, which also bounds each later read and write.
    init(host: String, port: Int, milliseconds: Int) throws(RedisError) {
        let limit = timeval(tv_sec: milliseconds / 1000, tv_usec: (milliseconds % 1000) * 1000)
        guard let raw = unsafe redisConnectWithTimeout(host, Int32(port), limit) else {
            throw .unreachable("no memory for a connection")
        }
        guard unsafe raw.pointee.err == 0 else {
            let message = unsafe Self.message(raw)
            unsafe redisFree(raw)
            throw .unreachable(message)
        }
        unsafe redisSetTimeout(raw, limit)
        unsafe redisEnableKeepAlive(raw)
        unsafe self.raw = raw
    }

    deinit { unsafe redisFree(self.raw) }

    /// Adds a command to what is sent with the next read.
    func append(_ command: RedisCommand) throws(RedisError) {
        let lengths = command.arguments.map(\.count)
        // A byte more, so that the buffer is never empty and has an address.
        let flat = Array(command.arguments.joined()) + [0]
        // One buffer holds all arguments; the pointers into it live for the call alone.
        let status = unsafe flat.withUnsafeBufferPointer { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            var offset = 0
            let base = unsafe UnsafeRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
            for length in lengths {
                unsafe pointers.append(base.map { unsafe $0 + offset })
                offset += length
            }
            return unsafe redisAppendCommandArgv(self.raw, Int32(lengths.count), &pointers, lengths)
        }
        guard status == REDIS_OK else { throw self.failure }
    }

    /// Sends what was appended, if it is not on its way, and waits for the next answer.
    func nextReply() throws(RedisError) -> RedisReply {
        var raw: UnsafeMutableRawPointer?
        guard unsafe redisGetReply(self.raw, &raw) == REDIS_OK, let raw = unsafe raw else { throw self.failure }
        defer { unsafe freeReplyObject(raw) }
        return unsafe Self.copy(raw.assumingMemoryBound(to: redisReply.self))
    }

    private var failure: RedisError {
        let message = unsafe Self.message(self.raw)
        switch unsafe self.raw.pointee.err {
        case REDIS_ERR_IO where errno == EAGAIN || errno == ETIMEDOUT: return .timedOut
        case REDIS_ERR_PROTOCOL: return .protocolViolation(message)
        default: return .disconnected(message)
        }
    }

    private static func message(_ raw: UnsafeMutablePointer<redisContext>) -> String {
        // `errstr` is a C array of 128 bytes with a zero at its end.
        unsafe withUnsafeBytes(of: &raw.pointee.errstr) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    /// Copies an answer into Swift's types; hiredis bounds how deep it nests.
    private static func copy(_ reply: UnsafeMutablePointer<redisReply>) -> RedisReply {
        switch unsafe reply.pointee.type {
        case REDIS_REPLY_INTEGER: return .integer(unsafe reply.pointee.integer)
        case REDIS_REPLY_STRING: return .bytes(unsafe Self.bytes(reply))
        case REDIS_REPLY_STATUS: return .status(unsafe String(decoding: Self.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ERROR: return .error(unsafe String(decoding: Self.bytes(reply), as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            var elements: [RedisReply] = []
            let count = unsafe Int(reply.pointee.elements)
            elements.reserveCapacity(count)
            for index in 0..<count {
                if let element = unsafe reply.pointee.element[index] { elements.append(unsafe Self.copy(element)) }
            }
            return .array(elements)
        default: return .null
        }
    }

    private static func bytes(_ reply: UnsafeMutablePointer<redisReply>) -> [UInt8] {
        guard let text = unsafe reply.pointee.str else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: text, count: Int(reply.pointee.len)))
    }
}
