// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@Suite struct OutcomeWindowTests {
    private let now = Timestamp(milliseconds: 1_234_567)
    private func answer(_ number: Int64) -> OutcomeWindow.Entry {
        .answered(outcome: .success(result: .sent(position: FeedPosition(epoch: 1, number: number))), seen: nil)
    }

    @Test func `I15 the last sixteen outcomes are known, older ones are refused, never fresh again`() {
        var window = OutcomeWindow(at: self.now)
        for counter in Int64(1)...20 {
            #expect(window.verdict(on: counter) == .fresh)
            window.record(counter, self.answer(counter), at: self.now)
        }
        for counter in Int64(1)...4 { #expect(window.verdict(on: counter) == .forgotten) }
        for counter in Int64(5)...20 { #expect(window.verdict(on: counter) == .repeated(self.answer(counter))) }
        #expect(window.verdict(on: 21) == .fresh)
        #expect(window.kept.count == OutcomeWindow.limit)
    }

    @Test func `I15 a counter that was skipped below one let go is refused`() {
        var window = OutcomeWindow(at: self.now)
        for counter in stride(from: Int64(2), through: 40, by: 2) {
            window.record(counter, self.answer(counter), at: self.now)
        }
        #expect(window.verdict(on: 7) == .forgotten)
        #expect(window.verdict(on: 9) == .fresh)
    }

    @Test func `I15 a second step's answer takes the place of what was passed on`() {
        var window = OutcomeWindow(at: self.now)
        window.record(1, .passedOn, at: self.now)
        window.record(2, self.answer(2), at: self.now)
        window.record(1, self.answer(1), at: self.now)
        #expect(window.verdict(on: 1) == .repeated(self.answer(1)))
        #expect(window.kept.map(\.counter) == [1, 2])
    }

    @Test func `a window lives a minute after its last call, and falls due at whole ten seconds`() {
        var window = OutcomeWindow(at: self.now)
        window.record(1, .passedOn, at: self.now + .seconds(5))
        #expect(window.expiresAt == self.now + .seconds(65))
        #expect(window.due == Timestamp(milliseconds: 1_300_000))
        #expect(window.due >= window.expiresAt)
        #expect(OutcomeWindow(at: Timestamp(milliseconds: 20_000)).due == Timestamp(milliseconds: 80_000))
    }
}
