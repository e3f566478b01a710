// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire

/// Measures how long a gateway takes to parse a client's frame, and how long a service takes to decode the record that
/// the gateway makes from the frame.
enum FrameBench {
    static let benchmark = Benchmark(
        name: "frames", summary: "nanoseconds to parse a client's frame and to decode a record",
        run: { try FrameBench.measure() })

    /// The target: the maximum number of nanoseconds to parse a message of 360 bytes.
    private static let maximumNanoseconds = 10_000.0
    /// The number of times that each measurement is made; the report shows medians.
    private static let rounds = BenchReport.roundCount(default: 7)
    /// How often a round repeats the measured work.
    private static let repetitions = 20_000

    /// A `barrage.sendText` frame with two members of extension info and `text`, which is padded so that the frame has
    /// 360 bytes.
    private static func frame(_ text: String) -> [UInt8] {
        let head = #"{"id":4711,"method":"barrage.sendText","params":{"extensionInfo":{"badge":"gold","level":"17"},"#
        let body = #""live":"concert-2026","text":""# + text
        let end = #""}}"#
        let paddingCount = 360 - head.utf8.count - body.utf8.count - end.utf8.count
        return Array((head + body + String(repeating: "x", count: max(paddingCount, 0)) + end).utf8)
    }

    private static func measure() throws -> BenchReport {
        let caller = Caller(
            user: UserInfo(userID: "alice", userName: "Alice", avatarURL: "https://example.com/a.png"), role: .user,
            request: RequestID(session: "session-1", counter: 1), replyTo: "gateway-1")
        let parser = CallParser(app: "demo", caller: caller, in: "concert-2026")
        // The texts of the two messages: ASCII only, and escape sequences with other characters.
        let plain = self.frame("what a song, encore! ")
        let escaped = self.frame(#"\"encore\" \ud83d\ude00 \u00e4 😀 äöü 日本語 "#)
        let ping = Array(#"{"id":4711,"method":"ping","params":{}}"#.utf8)
        guard case .forward(.barrage(let input), _) = try parser.parse(CallFrame(plain)) else {
            throw BenchFailure(description: "the frame was not parsed as a message")
        }
        // The records that a service decodes: the gateway's input for the message, and a live's info.
        let inputRecord = Wire.encode(input)
        let liveRecord = Wire.encode(
            LiveInfo(liveID: "concert-2026", liveOwner: caller.user) {
                ($0.liveName, $0.categoryList, $0.admins) = ("Concert", [1, 2], ["bob", "carol"])
            })
        let messageTime = try self.nanoseconds { _ = try parser.parse(CallFrame(plain)) }
        let escapedMessageTime = try self.nanoseconds { _ = try parser.parse(CallFrame(escaped)) }
        let pingTime = try self.nanoseconds { _ = try parser.parse(CallFrame(ping)) }
        let inputTime = try self.nanoseconds { _ = try Wire.decode(BarrageInput.self, from: inputRecord) }
        let liveTime = try self.nanoseconds { _ = try Wire.decode(LiveInfo.self, from: liveRecord) }
        return BenchReport(
            values: [
                ("message_nanoseconds", messageTime), ("escaped_message_nanoseconds", escapedMessageTime),
                ("ping_nanoseconds", pingTime), ("input_nanoseconds", inputTime), ("live_nanoseconds", liveTime),
            ], reachesTarget: messageTime <= self.maximumNanoseconds)
    }

    /// The median time of one call of `work`, in nanoseconds of the thread's CPU time.
    private static func nanoseconds(_ work: () throws -> Void) throws -> Double {
        var times: [Double] = []
        for _ in 0..<self.rounds {
            let start = threadCPUSeconds()
            for _ in 0..<self.repetitions { try work() }
            times.append((threadCPUSeconds() - start) * 1e9 / Double(self.repetitions))
        }
        return median(times).rounded()
    }
}
