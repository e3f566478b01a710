// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Observability

/// Collects the lines of a log.
final class LogLines: Sendable {
    private let lines = ConditionVariable<[String]>([])
    private let level: LogLevel

    /// Collects the lines of this level and of higher levels.
    init(level: LogLevel = .warning) { self.level = level }

    /// All lines logged so far, oldest first.
    var all: [String] { self.lines.update { $0 } }

    /// The log whose lines are collected.
    var log: Log {
        let sink: Log.Sink = { [lines] line in
            let text = String(decoding: line, as: UTF8.self)
            lines.update { $0.append(text) }
        }
        return Log(service: "test", level: self.level, sink: sink)
    }

    /// Waits until a line contains `text`, for at most `timeout`.
    ///
    /// - Returns: whether such a line was logged in time.
    func waitUntilContains(_ text: String, timeout: Duration) -> Bool {
        self.lines.wait(timeout: timeout) { lines in
            lines.contains { $0.contains(text) } ? true : nil
        } ?? false
    }
}
