// SPDX-License-Identifier: Apache-2.0

/// The key of a value in a log line; dotted, and a constant.
///
/// Other modules add theirs in an extension.
package struct LogKey: Sendable, Hashable {
    /// The key as written.
    package let name: String

    /// Names a key.
    package init(_ name: StaticString) { self.name = name.description }

    /// An app's id.
    package static let app = LogKey("app.id")
    /// A live's id.
    package static let live = LogKey("live.id")
    /// A user's id.
    package static let user = LogKey("user.id")
    /// A connection's id.
    package static let connection = LogKey("connection.id")
    /// A call's id.
    package static let call = LogKey("call.id")
    /// A call's method.
    package static let method = LogKey("call.method")
    /// A trace's id.
    package static let trace = LogKey("trace.id")
    /// A topic.
    package static let topic = LogKey("kafka.topic")
    /// A partition's number.
    package static let partition = LogKey("kafka.partition")
    /// An offset.
    package static let offset = LogKey("kafka.offset")
    /// A server's address.
    package static let address = LogKey("net.address")
    /// A port.
    package static let port = LogKey("net.port")
    /// How many there were.
    package static let count = LogKey("count")
    /// How long it took.
    package static let milliseconds = LogKey("duration.ms")
    /// Why.
    package static let reason = LogKey("reason")
    /// An error, by its kind.
    package static let error = LogKey("error.kind")
    /// An error, as text.
    package static let detail = LogKey("error.detail")
    /// A path.
    package static let path = LogKey("path")
    /// A setting's name.
    package static let setting = LogKey("setting.name")
    /// A setting's value.
    package static let value = LogKey("setting.value")
    /// A process's id.
    package static let process = LogKey("process.id")
    /// A signal's name.
    package static let signal = LogKey("signal")
}

/// A value in a log line.
package enum LogValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByStringInterpolation
{
    /// A text.
    case string(String)
    /// A whole number.
    case int(Int)
    /// A number.
    case double(Double)
    /// True or false.
    case bool(Bool)

    /// A literal text.
    package init(stringLiteral value: String) { self = .string(value) }
    /// A literal number.
    package init(integerLiteral value: Int) { self = .int(value) }
    /// A literal truth.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Anything that describes itself, such as an id or an error.
    package init(_ value: some CustomStringConvertible) { self = .string(value.description) }
    /// An error as text.
    package init(error: any Error) { self = .string("\(error)") }
}

/// How much a log line matters.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    /// For finding a fault; off in production.
    case debug
    /// What an operator wants to see of a healthy service: starts, stops, hand-overs.
    case info
    /// Something went wrong and was dealt with.
    case warning
    /// Something went wrong and needs a person.
    case error

    /// Orders by weight.
    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.weight < b.weight }

    private var weight: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}
