// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc

/// Writes one JSON object a line: time, level, service, message, and the values given.
///
/// Messages are constants and values stand in metadata, so that lines group by message. A message is written at most
/// `linesPerSecond` times a second, so that no fault fills a disk; the next line of that message tells how many were
/// left out. A line holds at most 4,096 bytes, so that lines of several processes in one pipe do not mix; values that
/// do not fit are left out and `log.truncated` says so. Never log payloads or tokens.
package struct Log: Sendable {
    /// Where lines go, each with its line break; called on the thread that logs, without a lock of ours held.
    package typealias Sink = @Sendable ([UInt8]) -> Void

    private let core: Core
    private let bound: String

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - service: the service's name, in each line.
    ///   - instance: the instance's name, in each line.
    ///   - level: lines below it are left out.
    ///   - linesPerSecond: how often one message may be written in a second.
    ///   - clock: the time of day in milliseconds since 1970.
    ///   - sink: where lines go.
    package init(
        service: String, instance: String = "", level: LogLevel = .info, linesPerSecond: Int = 20,
        clock: @escaping @Sendable () -> Int64 = { WallClock.milliseconds() },
        sink: @escaping Sink = Log.standardError
    ) {
        self.core = Core(level: level, linesPerSecond: linesPerSecond, clock: clock, sink: sink)
        var bound = ",\"service\":"
        JSONText.append(service, to: &bound)
        if !instance.isEmpty {
            bound += ",\"instance\":"
            JSONText.append(instance, to: &bound)
        }
        self.bound = bound
    }

    private init(core: Core, bound: String) {
        self.core = core
        self.bound = bound
    }

    /// A log with `metadata` in each line; it shares level and rate with this one.
    package func with(_ metadata: KeyValuePairs<LogKey, LogValue>) -> Log {
        var bound = self.bound
        for (key, value) in metadata { Self.append(key, value, to: &bound) }
        return Log(core: self.core, bound: bound)
    }

    /// Whether lines of this level are written.
    package func writes(_ level: LogLevel) -> Bool { level >= self.core.level }

    /// Logs what helps to find a fault.
    package func debug(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.debug, message, metadata)
    }

    /// Logs what an operator wants to see of a healthy service.
    package func info(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.info, message, metadata)
    }

    /// Logs what went wrong and was dealt with.
    package func warning(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.warning, message, metadata)
    }

    /// Logs what went wrong and needs a person.
    package func error(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.error, message, metadata)
    }

    /// Logs at a level that is only known at run time.
    package func write(
        _ level: LogLevel, _ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]
    ) {
        guard level >= self.core.level else { return }
        let now = self.core.clock()
        guard let suppressed = self.core.admit(message.description, at: now) else { return }
        var line = "{\"time\":\"\(WallClock.text(milliseconds: now))\",\"level\":\"\(level.rawValue)\",\"message\":"
        JSONText.append(message.description, to: &line)
        line += self.bound
        if suppressed > 0 { line += ",\"log.suppressed\":\(suppressed)" }
        var isTruncated = false
        for (key, value) in metadata {
            var entry = ""
            Self.append(key, value, to: &entry)
            if line.utf8.count + entry.utf8.count <= Self.lineLimit - 32 { line += entry } else { isTruncated = true }
        }
        line += isTruncated ? ",\"log.truncated\":true}\n" : "}\n"
        self.core.sink(Array(line.utf8))
    }

    /// Writes lines to standard error, each in one call.
    package static let standardError: Sink = { Self.write($0, to: STDERR_FILENO) }

    /// Writes lines to standard output, each in one call.
    package static let standardOutput: Sink = { Self.write($0, to: STDOUT_FILENO) }

    /// A log that writes nothing, for tests.
    package static let none = Log(service: "none", sink: { _ in })

    private static let lineLimit = 4_096

    private static func append(_ key: LogKey, _ value: LogValue, to text: inout String) {
        text += ","
        JSONText.append(key.name, to: &text)
        text += ":"
        switch value {
        case .string(let string): JSONText.append(string, to: &text)
        case .int(let int): text += int.description
        case .double(let double): text += double.isFinite ? double.description : "null"
        case .bool(let bool): text += bool.description
        }
    }

    private static func write(_ line: [UInt8], to descriptor: Int32) {
        var rest = line[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            // A log that cannot be written has nowhere to say so; the service goes on.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    /// What all logs made from one share.
    private final class Core: Sendable {
        let level: LogLevel
        let clock: @Sendable () -> Int64
        let sink: Sink
        private let linesPerSecond: Int
        private let windows = Locked<[String: Window]>([:])

        init(level: LogLevel, linesPerSecond: Int, clock: @escaping @Sendable () -> Int64, sink: @escaping Sink) {
            self.level = level
            self.linesPerSecond = linesPerSecond
            self.clock = clock
            self.sink = sink
        }

        /// Counts a line of `message`.
        ///
        /// Messages are constants, so the windows are as many as the program has log statements.
        ///
        /// - Returns: how many lines of it were left out since the last one, or nothing when this one is left out too.
        func admit(_ message: String, at now: Int64) -> Int? {
            let limit = self.linesPerSecond
            return self.windows.withLock { windows in
                var window = windows[message] ?? Window(start: now)
                if now - window.start >= 1_000 || now < window.start {
                    window = Window(start: now, suppressed: window.suppressed)
                }
                window.lines += 1
                let suppressed = window.suppressed
                let isAdmitted = window.lines <= limit
                window.suppressed = isAdmitted ? 0 : suppressed + 1
                windows[message] = window
                return isAdmitted ? suppressed : nil
            }
        }
    }

    private struct Window {
        var start: Int64
        var lines = 0
        var suppressed = 0
    }
}

/// JSON's rules for texts.
enum JSONText {
    /// Appends `text` as a JSON string; what is long is cut after 1,024 characters.
    static func append(_ text: String, to result: inout String) {
        result += "\""
        for scalar in text.unicodeScalars.prefix(1_024) {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        result += "\""
    }
}
