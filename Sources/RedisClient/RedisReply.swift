// SPDX-License-Identifier: Apache-2.0

/// One answer of Redis (RESP2).
package indirect enum RedisReply: Equatable, Sendable {
    case null
    case integer(Int64)
    /// A status, such as `OK`.
    case status(String)
    case bytes([UInt8])
    case array([RedisReply])
    /// A refusal of this one command; the pipeline went on.
    case error(String)

    /// A status or bulk answer as text; nil for anything else.
    package var text: String? {
        switch self {
        case .status(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null, .integer, .array, .error: nil
        }
    }
}

/// Why a pipeline gave nothing, or not all.
package enum RedisError: Error, Equatable, Sendable {
    /// No server answers there, or the next attempt is not due yet; nothing was sent.
    case unreachable(String)
    /// The server is still loading its data; nothing was sent.
    case loading
    /// No answer in time. The connection was given up; the commands may have been carried out.
    case timedOut
    /// The connection broke. The commands may have been carried out.
    case disconnected(String)
    /// The peer does not speak Redis's protocol.
    case protocolViolation(String)
    /// More commands or bytes than a pipeline may have; nothing was sent.
    case tooLarge(String)
    /// So many bytes of answers came, beyond the limit, that the connection was given up.
    case replyTooLarge(Int)
    /// The scripts were flushed from the server and are loaded again; the scripts of this pipeline that were refused so
    /// changed nothing, others may have been carried out.
    case scriptsMissing

    /// Whether commands may have been carried out although no answer came.
    package var mayHaveRun: Bool {
        switch self {
        case .timedOut, .disconnected, .protocolViolation, .scriptsMissing, .replyTooLarge: true
        case .unreachable, .loading, .tooLarge: false
        }
    }
}

/// One command: its name and arguments, each as bytes.
package struct RedisCommand: Equatable, Sendable {
    package var arguments: [[UInt8]]

    /// A command of texts.
    package init(_ arguments: [String]) { self.arguments = arguments.map { Array($0.utf8) } }
    /// A command of bytes.
    package init(bytes arguments: [[UInt8]]) { self.arguments = arguments }

    /// How long it is, roughly, on the wire.
    var byteCount: Int { self.arguments.reduce(16) { $0 + $1.count + 16 } }

    /// The commands as Redis reads them.
    static func encode(_ commands: [RedisCommand]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(commands.reduce(0) { $0 + $1.byteCount })
        for command in commands {
            bytes += "*\(command.arguments.count)\r\n".utf8
            for argument in command.arguments {
                bytes += "$\(argument.count)\r\n".utf8
                bytes += argument
                bytes += [13, 10]
            }
        }
        return bytes
    }
}

/// A Lua script, known by a name here and by its hash at the server.
package struct RedisScript: Hashable, Sendable {
    package let name: String
    package let source: String

    package init(name: String, source: String) {
        self.name = name
        self.source = source
    }
}

/// A script to run: with which keys and arguments.
package struct RedisScriptCall: Equatable, Sendable {
    package var script: RedisScript
    package var keys: [String]
    package var arguments: [String]

    package init(_ script: RedisScript, keys: [String], arguments: [String]) {
        self.script = script
        self.keys = keys
        self.arguments = arguments
    }
}
