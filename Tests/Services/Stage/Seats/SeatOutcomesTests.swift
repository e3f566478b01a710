// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// The recorded outcomes of a session's seat calls (the idempotency window), and the stored row with these outcomes.
///
/// In the row's JSON, `fates` has the outcomes, and `floor` is the highest counter of a call whose outcome is
/// forgotten.
struct SeatOutcomesTests {
    /// The moment of all calls: 1,000 ms, so the calls are counted for second 1.
    private static let now = Moment(now: Timestamp(milliseconds: 1_000), offset: 0)

    /// A different outcome for each call: in turn an error, a seat, and a success without a result.
    private static func outcome(_ counter: Int64) -> SeatOutcome {
        switch counter % 3 {
        case 0: SeatOutcome(result: .rejected(error: ReplyError(.seatLocked, "seat \(counter)")))
        case 1: SeatOutcome(result: .seat(index: Int(counter)), revision: counter * 8)
        default: SeatOutcome(result: .done, revision: nil)
        }
    }

    /// The outcomes in a history, oldest first.
    private static func outcomes(_ history: SeatCallHistory) -> [SeatOutcome] {
        (0..<history.window.storage.count).map { history.window.storage.outcome(at: $0) }
    }

    @Test func `a row with two outcomes of one call, or with more than 16 outcomes, is malformed`() throws {
        /// Decodes a row with one outcome for each of these request counters.
        func decodeHistory(_ counters: [Int64]) throws -> SeatCallHistory {
            let entries = counters.map {
                #"{"counter":\#($0),"result":{"refused":{"error":{"code":100200,"message":"m"}}}}"#
            }
            let json =
                #"{"fates":[\#(entries.joined(separator: ","))],"floor":0,"expiresAt":9,"second":1,"callsInSecond":1}"#
            return try JSONDecoder().decode(SeatCallHistory.self, from: Data(json.utf8))
        }
        #expect(try decodeHistory(Array(1...16)).window.storage.count == 16)
        #expect(throws: DecodingError.self) { try decodeHistory([1, 1]) }
        #expect(throws: DecodingError.self) { try decodeHistory(Array(1...17)) }

        // A row says that `Int64.max` calls were made in this second. Counting another call must not overflow.
        var history = try JSONDecoder().decode(
            SeatCallHistory.self,
            from: Data(#"{"fates":[],"floor":0,"expiresAt":9,"second":1,"callsInSecond":9223372036854775807}"#.utf8))
        history.record(Self.outcome(1), of: 1, at: Self.now)
        #expect(history.window.storage.count == 1)
    }

    @Test func `a window has the last 16 outcomes, errors included, even after encoding and decoding`() throws {
        var history = SeatCallHistory(at: Self.now)
        for counter in 1...Int64(40) { history.record(Self.outcome(counter), of: counter, at: Self.now) }
        // A window has 16 outcomes: those of the calls 25 to 40.
        #expect(Self.outcomes(history) == (Int64(25)...40).map { Self.outcome($0) })
        for counter in Int64(25)...40 {
            #expect(history.window.lookup(counter) == .repeated(Self.outcome(counter)))
        }
        #expect(history.window.lookup(24) == .forgotten, "call 24 was made, but its outcome is displaced")
        #expect(history.window.lookup(41) == .fresh, "call 41 was not made yet")
        let decoded = try JSONDecoder().decode(SeatCallHistory.self, from: JSONEncoder().encode(history))
        #expect(decoded == history && decoded.window.lookup(27) == .repeated(Self.outcome(27)))
        #expect(decoded.window.lookup(24) == .forgotten)
    }

    @Test func `the final outcome replaces the outcome of a call that was passed on to presence`() {
        var history = SeatCallHistory(at: Self.now)
        history.record(SeatOutcome(result: .passedOn), of: 6, at: Self.now)
        #expect(history.window.lookup(6) == .repeated(SeatOutcome(result: .passedOn)))
        history.record(Self.outcome(6), of: 6, at: Self.now)
        #expect(Self.outcomes(history) == [Self.outcome(6)])
        history.record(SeatOutcome(result: .done), of: 6, at: Self.now)
        #expect(Self.outcomes(history) == [SeatOutcome(result: .done)])
    }

    @Test func `the JSON keys of the row do not change`() throws {
        var history = SeatCallHistory(at: Self.now)
        history.record(Self.outcome(1), of: 1, at: Self.now)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // The outcome expires a minute after `now`. No counter is forgotten, so `floor` is the lowest integer.
        #expect(
            String(decoding: try encoder.encode(history), as: UTF8.self)
                == #"{"callsInSecond":1,"expiresAt":61000,"fates":[{"counter":1,"result":{"seat":{"index":1}},"#
                + #""revision":8}],"floor":-9223372036854775808,"second":1}"#)
    }

    /// Rules: R16.11.
    @Test func `I15 a late retry takes no seat, and gets the recorded outcome of its call if there is one`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        var caller = harness.callers.user("gina")
        caller.isLateRetry = true
        #expect(harness.handle(.take(seatIndex: 1, caller: caller)).code == .requestForgotten)
        #expect(harness.seated == [nil, nil, nil, nil])
        caller.isLateRetry = false
        let firstEffects = harness.handle(.take(seatIndex: 1, caller: caller))
        caller.isLateRetry = true
        #expect(harness.handle(.take(seatIndex: 1, caller: caller)).replies == firstEffects.replies)
        // The outcome is forgotten after 60 s, and the counter of the call 300 s later. Each time is rounded up to a
        // multiple of 10 s.
        for milliseconds in [70_000, 310_000] as [Int64] {
            _ = harness.advance(milliseconds: milliseconds)
            #expect(harness.handle(.leave(caller: caller)).code == .requestForgotten)
        }
        #expect(harness.seated == [nil, "gina", nil, nil], "the late retry to leave has no effect")
    }
}
