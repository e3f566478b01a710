// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

/// The last outcomes of a session, with which a repeated call is answered.
///
/// A call's counter is its number in the session. A look-up of a call is `fresh` if the call is new. It is `forgotten`
/// if it is no longer known whether the call was applied; the call is then rejected.
@Suite struct IdempotencyWindowTests {
    private let start = Moment(now: Timestamp(milliseconds: 1_234_567), offset: 0)

    private func moment(after seconds: Int64, standstill: Int64 = 0) -> Moment {
        Moment(now: self.start.now + .seconds(seconds), offset: 0, standstill: .seconds(standstill))
    }

    /// Handles the window's due time, `seconds` after the start, and returns whether the window has ended.
    private func expire(_ window: inout CallWindow, after seconds: Int64, standstill: Int64 = 0) -> Bool {
        window.expire(at: self.moment(after: seconds, standstill: standstill))
    }

    /// The outcome of a call that sent the message with this number.
    private func answer(_ number: Int64) -> CallOutcome {
        .answered(outcome: .success(result: .sent(position: FeedPosition(epoch: 1, number: number))), required: nil)
    }

    /// Rules: R16.8.
    @Test func `I15 the last sixteen outcomes are remembered, and older calls are forgotten`() {
        var window = CallWindow(at: self.start)
        for counter in Int64(1)...20 {
            #expect(window.lookup(counter) == .fresh)
            window.record(self.answer(counter), of: counter, at: self.start)
        }
        // The outcomes of the last 16 of 20 calls are left: those of the calls 5 to 20.
        for counter in Int64(1)...4 { #expect(window.lookup(counter) == .forgotten) }
        for counter in Int64(5)...20 { #expect(window.lookup(counter) == .repeated(self.answer(counter))) }
        #expect(window.lookup(21) == .fresh)
        #expect(window.storage.count == IdempotencyLimits.maxOutcomes)
    }

    @Test func `I15 an unused counter is forgotten if it is below a dropped counter, and fresh if it is above`() {
        var window = CallWindow(at: self.start)
        // Only the even counters are used.
        for counter in stride(from: Int64(2), through: 40, by: 2) {
            window.record(self.answer(counter), of: counter, at: self.start)
        }
        // The last 16 of the even counters are 10 to 40, so 8 is the highest dropped one.
        #expect(window.lookup(7) == .forgotten)
        #expect(window.lookup(9) == .fresh)
    }

    @Test func `I15 the final outcome of a call replaces the outcome 'passed on'`() {
        var window = CallWindow(at: self.start)
        window.record(.passedOn, of: 1, at: self.start)
        window.record(self.answer(2), of: 2, at: self.start)
        window.record(self.answer(1), of: 1, at: self.start)
        #expect(window.lookup(1) == .repeated(self.answer(1)))
        // Call 1 keeps its place before call 2.
        #expect(window.storage.index(of: 1) == 0 && window.storage.index(of: 2) == 1)
        #expect(window.storage.count == 2)
    }

    @Test func `a window expires a minute after its last call and falls due at a multiple of ten seconds`() {
        var window = CallWindow(at: self.start)
        window.record(.passedOn, of: 1, at: self.moment(after: 5))
        #expect(window.storage.expiresAt == self.start.now + .seconds(5 + 60))
        // The expiry is 1,234,567 + 65,000 = 1,299,567 ms, and the due time the next multiple of 10,000 ms.
        #expect(window.due == Timestamp(milliseconds: 1_300_000))
        #expect(window.due >= window.storage.expiresAt)
        // An expiry that is such a multiple is itself the due time: 20,000 + 60,000.
        #expect(
            CallWindow(at: Moment(now: Timestamp(milliseconds: 20_000), offset: 0)).due
                == Timestamp(milliseconds: 80_000))
    }

    /// Rules: R16.11.
    @Test func `I15 a window forgets its outcomes after a minute, and their highest counter five minutes later`() {
        var window = CallWindow(at: self.start)
        for counter in Int64(1)...3 { window.record(self.answer(counter), of: counter, at: self.start) }
        // The outcomes expire after 60 s, and their highest counter 300 s later, after 360 s. The window falls due up
        // to 10 s after each of these times, because due times are multiples of ten seconds.
        #expect(self.expire(&window, after: 70) == false)
        #expect(window.lookup(3) == .forgotten)
        #expect(window.lookup(4) == .fresh)
        #expect(window.storage.count == 0)
        #expect(window.storage.expiresAt == self.moment(after: 360).now)
        #expect(self.expire(&window, after: 381) == true)
    }

    /// Rules: R16.12.
    @Test func `I15 a standstill, which is a time without inputs, lengthens a window by its duration`() {
        var window = CallWindow(at: self.start)
        window.record(self.answer(1), of: 1, at: self.start)
        // Without the standstill, the window would have expired after 60 s.
        #expect(self.expire(&window, after: 100, standstill: 80) == false)
        #expect(window.lookup(1) == .repeated(self.answer(1)))
        // The window expires after its lifetime of 60 s and the standstill of 80 s.
        #expect(window.storage.expiresAt == self.moment(after: 140).now)
        // The same standstill is not added again, so the outcomes expire after 140 s.
        #expect(self.expire(&window, after: 150, standstill: 80) == false)
        #expect(window.lookup(1) == .forgotten)
    }

    @Test func `I15 a call without an outcome counts as forgotten if it is a late retry`() {
        let window = CallWindow(at: self.start)
        #expect(window.lookup(1).treatingFresh(asForgottenIf: false) == .fresh)
        #expect(window.lookup(1).treatingFresh(asForgottenIf: true) == .forgotten)
    }

    @Test func `a gap of more than two seconds between inputs is a standstill`() {
        #expect(Moment.standstill(from: self.start.now, to: self.moment(after: 2).now) == .seconds(0))
        #expect(Moment.standstill(from: self.start.now, to: self.moment(after: 80).now) == .seconds(80))
        // `distantPast` stands for no earlier input.
        #expect(Moment.standstill(from: .distantPast, to: self.start.now) == .seconds(0))
    }
}
