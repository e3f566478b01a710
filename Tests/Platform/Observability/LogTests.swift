// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import Observability
import Synchronization
import Testing

/// Records log lines, and provides the clock of the log, which the test sets.
final class LogRecorder: Sendable {
    private let storage = Mutex<[String]>([])
    /// The wall time in milliseconds since 1970.
    let nowMilliseconds = Atomic<Int64>(0)

    var lines: [String] { self.storage.withLock { $0 } }

    func makeLog(level: LogLevel = .info, linesPerSecond: Int = 20) -> Log {
        Log(
            service: "gateway", instance: "gateway-1", level: level, linesPerSecond: linesPerSecond,
            clock: { WallTime(milliseconds: self.nowMilliseconds.load(ordering: .relaxed)) },
            sink: { line in self.storage.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
    }
}

/// Tests of the form, levels and limits of log lines.
@Suite struct LogTests {
    @Test func `a line is one JSON object with a constant message and dotted keys`() throws {
        let recorder = LogRecorder()
        recorder.nowMilliseconds.store(1_709_210_096_789, ordering: .relaxed)
        recorder.makeLog().with([.app: "demo"])
            .info("room created", [.setting: "l\"1\n\u{1}é", .count: 3, .reason: true])
        #expect(
            recorder.lines == [
                """
                {"time":"2024-02-29T12:34:56.789Z","level":"info","message":"room created","service":"gateway",\
                "instance":"gateway-1","app.id":"demo","setting.name":"l\\"1\\n\\u0001é","count":3,"reason":true}

                """
            ])
        let object = try JSONSerialization.jsonObject(with: Data(recorder.lines[0].utf8)) as? [String: Any]
        #expect(object?["setting.name"] as? String == "l\"1\n\u{1}é")
    }

    @Test func `lines below the level are left out`() {
        let recorder = LogRecorder()
        let log = recorder.makeLog(level: .warning)
        log.debug("a")
        log.info("b")
        log.warning("c")
        log.error("d")
        #expect(recorder.lines.count == 2)
        #expect(recorder.lines[0].contains("\"c\"") && recorder.lines[1].contains("\"d\""))
    }

    @Test func `I16 the lines of each message are limited, and the message's next line counts the suppressed lines`() {
        let recorder = LogRecorder()
        let log = recorder.makeLog(linesPerSecond: 5)
        for _ in 0..<50 { log.info("again and again") }
        log.info("another")
        // In the first second, five lines of the first message and one of the second are written.
        #expect(recorder.lines.count == 6)

        recorder.nowMilliseconds.store(1_000, ordering: .relaxed)
        for _ in 0..<3 { log.info("again and again") }
        #expect(recorder.lines.count == 9)
        // 45 of the first 50 lines were suppressed.
        #expect(recorder.lines.filter { $0.contains("\"log.suppressed\":45") }.count == 1)
    }

    @Test func `I16 a line is limited in length, and says when fields are left out`() throws {
        let recorder = LogRecorder()
        let longText = String(repeating: "é\n", count: 100_000)
        recorder.makeLog().info(
            "long",
            [.detail: .string(longText), .reason: .string(longText), .setting: .string(longText), .count: 1])
        let line = try #require(recorder.lines.first)
        // A line has at most 4 KiB.
        #expect(line.utf8.count <= 4_096)
        #expect(line.contains("\"log.truncated\":true") && line.contains("\"count\":1"))
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    }

    @Test func `the text of a time is the same as Foundation's`() {
        var random = SeededRandom(seed: 3)
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for _ in 0..<2_000 {
            let time = Int64.random(in: -2_000_000_000_000...4_000_000_000_000, using: &random)
            // Foundation cuts a date to whole milliseconds. Without the added tenth of a millisecond, a rounding error
            // of the division could lead to the millisecond before.
            let date = Date(timeIntervalSince1970: (Double(time) + 0.1) / 1_000)
            #expect(WallClock.text(of: WallTime(milliseconds: time)) == date.formatted(format))
        }
    }
}
