// SPDX-License-Identifier: Apache-2.0
import LivePlazaTesting
import MachineKit
import PlazaWire
import Testing

@testable import LivePlazaKit

/// When a client renews its token if the machine's clock is wrong: tokens expire by the server's clock.
@Suite struct TokenClockTests {
    /// How far the machine's clock is ahead of the server's, in milliseconds: two hours.
    private static let clockLead: Int64 = 2 * 3_600_000
    /// The validity of a new token, in milliseconds: an hour.
    private static let validity: Int64 = 3_600_000

    /// A token whose only claim is its expiry; `wallTime` is in milliseconds since 1970, and the claim in seconds.
    private static func token(expiringAt wallTime: Int64) -> String {
        "h.\(Base64URL.encode(Array(#"{"exp":\#(wallTime / 1000)}"#.utf8))).s"
    }

    /// Rules: R2.23.
    @Test func `a machine whose clock is two hours ahead does not ask its token provider again and again`() {
        let requestCount = Locked(0)
        // The harness's clock, which the token provider needs; nil until the harness exists.
        let clock = Locked<SimulationClock?>(nil)
        let harness = EngineHarness(
            answers: ["ping": ["done": [:]]],
            tokenProvider: {
                requestCount.withLock { $0 += 1 }
                let serverTime = (clock.withLock { $0 }?.wall.milliseconds ?? 0) - Self.clockLead
                return Self.token(expiringAt: serverTime + Self.validity)
            })
        clock.withLock { $0 = harness.clock }
        let token = Self.token(expiringAt: harness.clock.wall.milliseconds - Self.clockLead + Self.validity)
        harness.begin("login") { (engine) throws(ErrorInfo) in _ = try await engine.login(token: token) }
        harness.actAsServer { $0.open() }
        // 50 rounds of a minute, less than the validity of a token. In each round the server answers a login, if the
        // client has sent one with a new token.
        for _ in 0..<50 {
            let at = JSONValue.integer(harness.clock.wall.milliseconds - Self.clockLead)
            harness.reply(
                "login",
                [
                    "loggedIn": [
                        "gateway": "g", "notices": "3-10", "session": "s", "user": EngineHarness.user, "at": at,
                    ]
                ],
                isExpected: false)
            // `advance` also runs the token provider, which is on the engine's queue.
            harness.advance(by: .seconds(60))
        }
        // One or two requests in 50 minutes. Before the login the client does not know the server's time, so by the
        // machine's clock the first token has expired.
        #expect((1...2).contains(requestCount.withLock { $0 }))
        #expect(!harness.stores.takeShownItems().contains(.loginEvent(.loginExpired)))
    }
}
