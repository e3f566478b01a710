// SPDX-License-Identifier: Apache-2.0

/// One reply of Redis (RESP2).
package indirect enum RedisReply: Equatable, Sendable {
    /// The null reply: there is no value.
    case null
    case integer(Int64)
    /// A status, such as `OK`.
    case status(String)
    case bytes([UInt8])
    case array([RedisReply])
    /// The error of this one command; the rest of the pipeline was executed.
    case error(String)

    /// A status or byte reply as text; nil for any other reply.
    package var text: String? {
        switch self {
        case .status(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null, .integer, .array, .error: nil
        }
    }
}

/// Why a pipeline failed.
package enum RedisError: Error, Equatable, Sendable {
    /// No server answers at the address, or the pause after a failed attempt to connect is not over, or a server has
    /// answered an attempt with an unexpected error. The pipeline was not sent.
    case unreachable(String)
    /// While connecting, the server rejected the user, the password or a command that connecting needs. The pipeline
    /// was not sent.
    case accessDenied(String)
    /// The server is still loading its data; nothing was sent.
    case loading
    /// The reply was not received in time. The connection was closed; the commands may have been executed.
    case timedOut
    /// The connection broke. The commands may have been executed.
    case disconnected(String)
    /// The peer does not speak Redis's protocol.
    case protocolViolation(String)
    /// The pipeline has more commands or bytes than the limit; nothing was sent.
    case tooLarge(String)
    /// The replies had this many bytes, more than the limit. The connection was closed.
    case replyTooLarge(Int)
    /// The server no longer had a script; the client loads its scripts again, now or when it next connects. The
    /// pipeline's calls of missing scripts changed nothing; its other commands may have been executed.
    case scriptsMissing

    /// Whether commands may have been executed, although the pipeline failed.
    package var mayHaveRun: Bool {
        switch self {
        case .timedOut, .disconnected, .protocolViolation, .scriptsMissing, .replyTooLarge: true
        case .unreachable, .accessDenied, .loading, .tooLarge: false
        }
    }
}

/// One command: its name and arguments, each as bytes.
package struct RedisCommand: Equatable, Sendable {
    package var arguments: [[UInt8]]

    /// A command from texts.
    package init(_ arguments: [String]) { self.arguments = arguments.map { Array($0.utf8) } }

    /// The approximate size of the command on the wire, in bytes: its arguments, and 16 each for the header of the
    /// command and of every argument.
    var byteCount: Int { self.arguments.reduce(16) { $0 + $1.count + 16 } }

    /// Encodes the commands in Redis's protocol.
    static func encode(_ commands: [RedisCommand]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(commands.reduce(0) { $0 + $1.byteCount })
        for command in commands {
            bytes += "*\(command.arguments.count)\r\n".utf8
            for argument in command.arguments {
                bytes += "$\(argument.count)\r\n".utf8
                bytes += argument
                bytes += "\r\n".utf8
            }
        }
        return bytes
    }
}

/// A Lua script, and its name in errors.
package struct RedisScript: Hashable, Sendable {
    package let name: String
    package let source: String

    package init(name: String, source: String) {
        self.name = name
        self.source = source
    }
}

/// A call of a script, with its keys and arguments.
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
