// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// Messages and gifts that an app's backend refused.
///
/// The gateway asks the backend before it passes a call on to the fan-out. It reports a refusal by the command
/// `forbidden`, and the fan-out rejects the call.
@Suite struct BackendRefusalTests {
    /// An error with a code and a text of the backend's own.
    private static let noCredit = ReplyError(ReplyCode(102_150), "no credit")

    /// Lets the backend refuse the caller's call, by default a gift: sends the gateway's report.
    ///
    /// - Returns: the outcome in the reply.
    private func refuse(
        _ barrage: inout BarrageHarness, _ caller: Caller, _ error: ReplyError = Self.noCredit, isGift: Bool = true
    ) -> Outcome? {
        barrage.send(.forbidden(error: error, isGift: isGift, caller: caller)).outcome
    }

    /// The stored errors with the backend's own codes and texts for the calls of a session.
    private func storedErrors(_ barrage: BarrageHarness, _ session: SessionID = "s-bob") -> BackendErrors? {
        if case .backend(let errors)? = barrage.rows[.backend(key, session)] { errors } else { nil }
    }

    @Test func `I15 a message that entered keeps its position when it is sent again and the backend refuses it`() {
        var barrage = BarrageHarness()
        let sent = barrage.sendText(user("bob", call: 1))
        #expect(sent.wasSent)
        #expect(self.refuse(&barrage, user("bob", call: 1), isGift: false) == sent)
        #expect(barrage.feed?.lastNumber == 1 && barrage.feed?.ledger.refusedCount == 0)
        #expect(self.storedErrors(barrage) == nil)
        barrage.expectInvariants()
    }

    /// Rules: R14.12.
    @Test func `I15 a call that the backend refused stays rejected with the same error`() {
        var barrage = BarrageHarness()
        let errorWithHint = ReplyError(.sensitiveWords, "the app's backend did not answer", retryAfter: 1000)
        #expect(self.refuse(&barrage, user("bob", call: 1)) == .failure(error: Self.noCredit))
        #expect(
            self.refuse(&barrage, user("bob", call: 2), errorWithHint, isGift: false) == .failure(error: errorWithHint))
        #expect(barrage.sendText(user("bob", call: 3)).wasSent)
        // The repeated calls keep their errors, although the backend now allows them or returns another error.
        for _ in 1...2 {
            #expect(barrage.sendText(user("bob", call: 1)) == .failure(error: Self.noCredit))
            #expect(self.refuse(&barrage, user("bob", call: 1), errorWithHint) == .failure(error: Self.noCredit))
            #expect(barrage.sendText(user("bob", call: 2)) == .failure(error: errorWithHint))
        }
        #expect(barrage.feed?.lastNumber == 1)
        // The ledger counts the backend's refusals under two codes only: messages as 100026, gifts as 102004.
        let refusedCounts = barrage.feed?.ledger.refused.map { "\($0.code.code): \($0.count)" }
        #expect(refusedCounts == ["100026: 1", "102004: 1"], "expected that each call is counted once")
        barrage.expectInvariants()
    }

    @Test func `a refusal with the default code and text stores no error of the backend`() {
        var barrage = BarrageHarness()
        // The fan-out knows this error without storing it.
        let defaultError = ReplyError(.giftCheckFailed, "the app's backend refused the gift")
        #expect(self.refuse(&barrage, user("bob", call: 1), defaultError) == .failure(error: defaultError))
        // The call is sent again, and the backend returns another error.
        #expect(self.refuse(&barrage, user("bob", call: 1)) == .failure(error: defaultError))
        #expect(self.storedErrors(barrage) == nil)
    }

    @Test func `a caller who is not in the live gets an error that says so, not the backend's error`() {
        var barrage = BarrageHarness()
        #expect(self.refuse(&barrage, user("bob", call: 1, ticket: nil)).code == .notInRoom)
        // bob is kicked: his ticket 100 is below 200, the lowest ticket that he may still use.
        _ = barrage.send(.floor(user: "bob", ticket: Ticket(200)))
        #expect(self.refuse(&barrage, user("bob", call: 2)).code == .staleTicket)
        _ = barrage.send(.ended(ending: ending()))
        #expect(self.refuse(&barrage, user("bob", call: 3, ticket: 300)).code == .noSuchRoom)
        #expect(self.storedErrors(barrage) == nil)
        let unknownLive = LiveKey(app, "none")
        let rejection = barrage.send(
            .forbidden(error: Self.noCredit, isGift: true, caller: user("bob", call: 4)), to: unknownLive)
        #expect(rejection.outcome.code == .noSuchRoom)
        #expect(barrage.rows[.calls(unknownLive, "s-bob")] == nil)
    }

    @Test func `I16 errors of the backend are stored and removed together with the outcomes of their calls`() {
        var barrage = BarrageHarness()
        for counter in Int64(1)...40 {
            #expect(self.refuse(&barrage, user("bob", call: counter)).code == Self.noCredit.code)
            #expect(self.storedErrors(barrage)?.entries.count == Int(min(counter, 16)), "expected at most 16 outcomes")
        }
        // The idempotency window has the last 16 outcomes, those of the calls 25 to 40.
        #expect(self.refuse(&barrage, user("bob", call: 24)).code == .requestForgotten)
        #expect(self.refuse(&barrage, user("bob", call: 25)) == .failure(error: Self.noCredit))
        for counter in Int64(41)...55 { _ = barrage.sendText(user("bob", call: counter)) }
        #expect(self.refuse(&barrage, user("bob", call: 56)).code == Self.noCredit.code)
        // The window has the outcomes of the calls 41 to 56.
        #expect(
            self.storedErrors(barrage)?.entries.count == 1, "expected that only call 56 has an error of the backend")
        barrage.expectInvariants()
        // The window forgets its outcomes after `lifetime`, and is removed a `droppedCounterLifetime` later; each time
        // is rounded up by at most 10 s.
        _ = barrage.advance(milliseconds: IdempotencyLimits.lifetime.count + 10_000)
        #expect(self.storedErrors(barrage)?.entries.isEmpty ?? true)
        _ = barrage.advance(milliseconds: IdempotencyLimits.droppedCounterLifetime.count + 10_000)
        #expect(self.storedErrors(barrage) == nil && barrage.rows[.calls(key, "s-bob")] == nil)
        barrage.expectInvariants()
    }
}
