// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Glibc
package import MachineKit

/// A log that writes one JSON object per line: time, level, service, message and metadata.
///
/// Messages are constants and values are metadata, so lines can be grouped by message. Never log payloads or tokens.
///
/// A fault that is logged without a limit could fill a disk. Therefore a message is written at most `linesPerSecond`
/// times a second. The next line that is written with this message contains the number of suppressed lines.
///
/// Long lines of several processes in one pipe could mix. Therefore a line has at most 4,096 bytes. Values that do not
/// fit are left out, and `log.truncated` is added.
package struct Log: Sendable {
    /// Called with each line, including its line break, on the thread that logs; no lock is held during the call.
    package typealias Sink = @Sendable ([UInt8]) -> Void

    private let core: Core
    /// The metadata that each line of this log contains, encoded as JSON fields that each begin with a comma.
    private let boundMetadata: String

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - service: the service's name, which each line contains.
    ///   - instance: the instance's name, which each line contains unless it is empty.
    ///   - level: the lowest level that is written.
    ///   - linesPerSecond: how many lines with the same message may be written in a second.
    ///   - clock: returns the time of day.
    ///   - sink: receives the lines.
    package init(
        service: String, instance: String = "", level: LogLevel = .info, linesPerSecond: Int = 20,
        clock: @escaping @Sendable () -> WallTime = { WallClock.now },
        sink: @escaping Sink = Log.standardError
    ) {
        self.core = Core(level: level, linesPerSecond: linesPerSecond, clock: clock, sink: sink)
        var boundMetadata = ",\"service\":"
        JSONText.append(service, to: &boundMetadata)
        if !instance.isEmpty {
            boundMetadata += ",\"instance\":"
            JSONText.append(instance, to: &boundMetadata)
        }
        self.boundMetadata = boundMetadata
    }

    private init(core: Core, boundMetadata: String) {
        self.core = core
        self.boundMetadata = boundMetadata
    }

    /// Makes a log whose lines also contain `metadata`; it shares the level and the limit of lines with this log.
    package func with(_ metadata: KeyValuePairs<LogKey, LogValue>) -> Log {
        var boundMetadata = self.boundMetadata
        for (key, value) in metadata { Self.append(key, value, to: &boundMetadata) }
        return Log(core: self.core, boundMetadata: boundMetadata)
    }

    /// Logs details that help to find a fault.
    package func debug(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.debug, message, metadata)
    }

    /// Logs normal events that interest an operator.
    package func info(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.info, message, metadata)
    }

    /// Logs a fault that the service has handled.
    package func warning(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.warning, message, metadata)
    }

    /// Logs a fault that needs an operator.
    package func error(_ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]) {
        self.write(.error, message, metadata)
    }

    /// Logs at a level that is only known at run time.
    package func write(
        _ level: LogLevel, _ message: StaticString, _ metadata: KeyValuePairs<LogKey, LogValue> = [:]
    ) {
        guard level >= self.core.level else { return }
        let now = self.core.clock()
        let (isAdmitted, suppressedCount) = self.core.countLine(with: message.description, at: now)
        guard isAdmitted else { return }
        var line = "{\"time\":\"\(WallClock.text(of: now))\",\"level\":\"\(level.rawValue)\",\"message\":"
        JSONText.append(message.description, to: &line)
        line += self.boundMetadata
        if suppressedCount > 0 { line += ",\"log.suppressed\":\(suppressedCount)" }
        var isTruncated = false
        for (key, value) in metadata {
            var entry = ""
            Self.append(key, value, to: &entry)
            if line.utf8.count + entry.utf8.count <= Self.maxLineBytes - Self.lineEndBytes {
                line += entry
            } else {
                isTruncated = true
            }
        }
        line += isTruncated ? ",\"log.truncated\":true}\n" : "}\n"
        self.core.sink(Array(line.utf8))
    }

    /// Writes each line to standard error in one piece.
    package static let standardError: Sink = { Self.writeAll($0, to: STDERR_FILENO) }

    /// A log that writes nothing, for tests.
    package static let none = Log(service: "none", sink: { _ in })

    /// The maximum size of a line in bytes: Linux writes that many bytes to a pipe as one piece (`PIPE_BUF`).
    private static let maxLineBytes = 4_096
    /// The space for the end of a line: `,"log.truncated":true`, the brace and the line break have 23 bytes.
    private static let lineEndBytes = 32

    /// Appends a JSON field that begins with a comma.
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

    private static func writeAll(_ line: [UInt8], to descriptor: Int32) {
        var unwritten = line[...]
        while !unwritten.isEmpty {
            let written = unsafe unwritten.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            // A log line that cannot be written is dropped, because there is nowhere to report the failure.
            guard written > 0 else { return }
            unwritten = unwritten.dropFirst(written)
        }
    }

    /// What a log shares with all logs that `with` derives from it.
    private final class Core: Sendable {
        let level: LogLevel
        let clock: @Sendable () -> WallTime
        let sink: Sink
        private let linesPerSecond: Int
        /// The counts of each message, by the message.
        private let windows = Locked<[String: Window]>([:])

        init(level: LogLevel, linesPerSecond: Int, clock: @escaping @Sendable () -> WallTime, sink: @escaping Sink) {
            self.level = level
            self.linesPerSecond = linesPerSecond
            self.clock = clock
            self.sink = sink
        }

        /// Counts a line with `message`, and decides whether the line is written.
        ///
        /// Messages are constants, so there is at most one window for each log statement.
        ///
        /// - Returns: whether the line is written, and the number of lines with this message that were suppressed
        ///   between it and the last written line.
        func countLine(with message: String, at now: WallTime) -> (isAdmitted: Bool, suppressedCount: Int) {
            let limit = self.linesPerSecond
            return self.windows.withLock { windows in
                var window = windows[message] ?? Window(start: now)
                // A new window begins after a second, or when the time of day was set back.
                if now - window.start >= .seconds(1) || now < window.start {
                    window = Window(start: now, suppressedCount: window.suppressedCount)
                }
                window.lineCount += 1
                let suppressedCount = window.suppressedCount
                let isAdmitted = window.lineCount <= limit
                window.suppressedCount = isAdmitted ? 0 : suppressedCount + 1
                windows[message] = window
                return (isAdmitted, suppressedCount)
            }
        }
    }

    /// The counts of one message within about a second.
    private struct Window {
        /// The time of the first line.
        var start: WallTime
        /// The number of lines since `start`, including suppressed lines.
        var lineCount = 0
        /// The number of lines that were suppressed since the last written line.
        var suppressedCount = 0
    }
}

/// The JSON encoding of strings.
enum JSONText {
    /// Appends `text` as a JSON string; only its first 1,024 Unicode scalars are used.
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
