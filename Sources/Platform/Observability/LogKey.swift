// SPDX-License-Identifier: Apache-2.0

/// The key of a value in a log line: a constant, with dots between its parts.
///
/// Other modules add their keys in extensions.
package struct LogKey: Sendable, Hashable {
    /// The key as it is written in the line.
    package let name: String

    /// Makes a key with this name.
    package init(_ name: StaticString) { self.name = name.description }

    /// An app's id.
    package static let app = LogKey("app.id")
    /// A topic.
    package static let topic = LogKey("kafka.topic")
    /// A partition's number.
    package static let partition = LogKey("kafka.partition")
    /// An offset.
    package static let offset = LogKey("kafka.offset")
    /// A port.
    package static let port = LogKey("net.port")
    /// A number of things; the message names the things.
    package static let count = LogKey("count")
    /// A record: its offset or its key.
    package static let record = LogKey("kafka.record")
    /// The name of an epoch of the leases in Redis.
    package static let epoch = LogKey("presence.epoch")
    /// The name of a machine, of a loop or another part of the process, or of a library's facility.
    package static let component = LogKey("component.name")
    /// A reason.
    package static let reason = LogKey("reason")
    /// An error, as text.
    package static let detail = LogKey("error.detail")
    /// A setting's name.
    package static let setting = LogKey("setting.name")
    /// A setting's value.
    package static let value = LogKey("setting.value")
    /// The name of the process in the cluster, which is not the system's pid.
    package static let process = LogKey("process.id")
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
    /// A literal truth value.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// The severity of a log line.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    /// Details that help to find a fault; not written in production.
    case debug
    /// Events of a healthy service that interest an operator: starts, stops, takeovers of partitions.
    case info
    /// A fault that the service has handled.
    case warning
    /// A fault that needs an operator.
    case error

    /// Orders by severity.
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
