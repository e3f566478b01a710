// SPDX-License-Identifier: Apache-2.0
import CoreKit
import Foundation
import PlazaModel
import Testing

@testable import StageCore

struct SeatOutcomesTests {
    private static let now = Timestamp(milliseconds: 1_000)

    /// Each third call is refused, in words of its own.
    private static func fate(_ counter: Int64) -> SeatFate {
        switch counter % 3 {
        case 0: SeatFate(counter: counter, result: .refused(error: ReplyError(.seatLocked, "seat \(counter)")))
        case 1: SeatFate(counter: counter, result: .seat(index: Int(counter)), revision: counter * 8)
        default: SeatFate(counter: counter, result: .done, revision: nil)
        }
    }

    @Test func `a window tells the last fates whole, with the words of refusals, also after it was a row`() throws {
        var window = SeatOutcomes(at: Self.now)
        for counter in 1...Int64(40) { window.record(Self.fate(counter), at: Self.now) }
        let last = (Int64(25)...40).map { Self.fate($0) }
        #expect(window.fates == last)
        for fate in last { #expect(window.verdict(on: fate.counter) == .repeated(fate)) }
        #expect(window.verdict(on: 24) == .forgotten && window.verdict(on: 41) == .fresh)
        let read = try JSONDecoder().decode(SeatOutcomes.self, from: JSONEncoder().encode(window))
        #expect(read == window && read.verdict(on: 27) == .repeated(Self.fate(27)))
        #expect(read.verdict(on: 24) == .forgotten)
    }

    @Test func `what presence answers takes the place of what was passed on`() {
        var window = SeatOutcomes(at: Self.now)
        window.record(SeatFate(counter: 6, result: .passedOn), at: Self.now)
        #expect(window.verdict(on: 6) == .repeated(SeatFate(counter: 6, result: .passedOn)))
        window.record(Self.fate(6), at: Self.now)
        #expect(window.fates == [Self.fate(6)])
        window.record(SeatFate(counter: 6, result: .done), at: Self.now)
        #expect(window.fates == [SeatFate(counter: 6, result: .done)])
    }
}
