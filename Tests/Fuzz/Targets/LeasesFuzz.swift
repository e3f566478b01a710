// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import Presence
internal import RedisClient
internal import ServiceShell

/// The presence machine's rows and inputs, with any replies of Redis to the scripts that the machine runs there.
///
/// The input is a `RowScript`; its lines that begin with `=` are the replies, in order. A reply is a list of words:
/// `:5` is a number, `$a~b` the text "a b", `!EPOCH` an error, `_` null, and `[` and `]` enclose an array.
public enum LeasesFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        let script = RowScript(input)
        let malformed = Self.registry.counter(
            MetricNames.Shell.malformed, help: "Records that could not be read and were skipped.",
            labels: ["machine": "audience"])
        script.run(
            {
                let connection = ScriptedConnection(script.replies)
                let store = LeaseStore(connection, partition: 0, lease: .seconds(90))
                return PresenceProcessor(Self.machine, store: store, log: .none, metrics: Self.registry)
            }, malformedCount: { malformed.value })
    }

    private static let registry = MetricsRegistry()
    private static let machine = AudienceMachine(partition: 0, policies: MachineScript.policies)
}

/// A Redis that sends the replies of the `RowScript`, and after these the replies of an empty Redis.
private final class ScriptedConnection: LeaseConnection {
    /// The replies that are not sent yet, the last one first.
    private var replies: [[UInt8]]

    init(_ replies: [[UInt8]]) { self.replies = replies.reversed() }

    func connect() throws(RedisError) -> RedisClient.Identity { RedisClient.Identity(serial: 1, runID: "r") }

    func run(_ calls: [RedisScriptCall]) throws(RedisError) -> [RedisReply] {
        calls.map { call in
            if let line = self.replies.popLast() {
                var words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }[...]
                return Self.reply(&words, depth: 0)
            }
            return switch call.script.name {
            // The reply to each script if Redis holds no session; the first one begins with the presence epoch.
            case "open": .array([.bytes(Array("5.1.r".utf8)), .integer(0)])
            case "outbox": .array([.integer(0), .array([])])
            case "page": .array([.integer(0), .bytes([])])
            default: .integer(0)
            }
        }
    }

    /// The reply that the next words describe; an array takes the words up to its `]`, or up to a depth of 8.
    private static func reply(_ words: inout ArraySlice<String>, depth: Int) -> RedisReply {
        guard let word = words.popFirst(), let kind = word.first else { return .null }
        let content = String(word.dropFirst())
        switch kind {
        case ":": return Int64(content).map { .integer($0) } ?? .null
        case "$": return .bytes(Array(content.replacing("~", with: " ").utf8))
        case "!": return .error(content)
        case "[":
            var elements: [RedisReply] = []
            while let next = words.first, next != "]", depth < 8 {
                elements.append(Self.reply(&words, depth: depth + 1))
            }
            _ = words.popFirst()
            return .array(elements)
        default: return .null
        }
    }
}
