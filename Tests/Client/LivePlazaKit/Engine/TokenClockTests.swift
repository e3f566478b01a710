// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import PlazaWire
import Testing

@testable import LivePlazaKit

/// Tokens expire by the server's clock.
@Suite struct TokenClockTests {
    /// How far the machine's clock is ahead of the server's, in milliseconds: two hours.
    private static let clockLead = 7_200_000.0
    /// The validity of a new token, in milliseconds: an hour.
    private static let validity = 3_600_000.0

    /// A token with no claim but its expiry, in milliseconds since 1970.
    private static func token(endingAt wallTime: Double) -> String {
        "h.\(Base64URL.encode(Array(#"{"exp":\#(Int64(wallTime / 1000))}"#.utf8))).s"
    }

    /// Rules: R2.23.
    @Test func `a machine whose clock is two hours ahead does not ask its token provider again and again`() {
        let askedCount = Locked(0)
        let clock = Locked<SimulationClock?>(nil)
        let harness = EngineHarness(
            answers: ["ping": ["done": [:]]],
            tokenProvider: {
                askedCount.withLock { $0 += 1 }
                let serverTime = (clock.withLock { $0 }?.wall ?? 0) - Self.clockLead
                return Self.token(endingAt: serverTime + Self.validity)
            })
        clock.withLock { $0 = harness.clock }
        let token = Self.token(endingAt: harness.clock.wall - Self.clockLead + Self.validity)
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: token) }
        harness.actAsServer { $0.open() }
        // Together the rounds take 50 minutes, which is less than the validity of a token.
        for _ in 0..<50 {
            let at = JSONValue.integer(Int64(harness.clock.wall - Self.clockLead))
            harness.reply(
                "login",
                ["loggedIn": ["gateway": "g", "notices": "3-10", "session": "s", "user": EngineHarness.user, "at": at]])
            // The provider runs on the engine's queue, which this drains.
            harness.advance(by: 60_000)
        }
        // The client compared the first token's expiry with the machine's clock: it did not know the server's time yet.
        #expect((1...2).contains(askedCount.withLock { $0 }))
        #expect(!harness.stores.takeShownItems().contains(.loginEvent(.loginExpired)))
    }
}
