// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import Testing

/// The shares of the calls that a gateway forwards: one for each user, one for each app.
///
/// Times are in microseconds.
@Suite struct ForwardedCallRatesTests {
    private let demo = AppID("demo")
    private let bob = UserID("bob")
    private let eve = UserID("eve")

    /// Makes `count` calls of a user at once, or of the app's servers if `user` is nil; returns how many are admitted.
    private func admittedCount(
        _ rates: inout ForwardedCallRates, _ user: UserID?, of app: AppID, count: Int, at now: Int64 = 0
    ) -> Int {
        (0..<count).filter { _ in rates.admit(user, of: app, at: now) == nil }.count
    }

    /// Rules: R12.15.
    @Test func `I16 a user who floods gets its share, and the other users of its app are served`() {
        var rates = ForwardedCallRates(callsPerApp: 1000, callsPerUser: 50)
        #expect(self.admittedCount(&rates, self.bob, of: self.demo, count: 5000) == 50)
        let refusal = rates.admit(self.bob, of: self.demo, at: 0)
        #expect(
            refusal?.reason == .callsPerUser && refusal?.retryAfter == Milliseconds(20), "50 a second: one each 20 ms")
        #expect(self.admittedCount(&rates, self.eve, of: self.demo, count: 50) == 50)
        #expect(
            self.admittedCount(&rates, nil, of: self.demo, count: 10_000) == 900,
            "1000 less the 100 admitted calls of users; refused calls do not count")
        #expect(self.admittedCount(&rates, self.bob, of: AppID("other"), count: 50) == 50, "a user of another app")
        #expect(
            self.admittedCount(&rates, self.bob, of: self.demo, count: 500, at: 100_000) == 5, "its share in 100 ms")
    }

    /// Rules: R12.15.
    @Test func `a user gets at most a tenth of its app's calls, whatever its own limit is`() {
        var rates = ForwardedCallRates(callsPerApp: 200, callsPerUser: 100)
        #expect(self.admittedCount(&rates, self.bob, of: self.demo, count: 300) == 20)

        var smallest = ForwardedCallRates(callsPerApp: 3, callsPerUser: 100)
        #expect(
            self.admittedCount(&smallest, self.bob, of: self.demo, count: 300) == 1, "but never less than one a second")

        var unlimited = ForwardedCallRates(callsPerApp: nil, callsPerUser: 100)
        #expect(self.admittedCount(&unlimited, self.bob, of: self.demo, count: 300) == 100)
    }

    /// Rules: R12.13.
    @Test func `I16 an app gets its share, another app has its own, and without a limit all calls are admitted`() {
        var rates = ForwardedCallRates(callsPerApp: 100, callsPerUser: 100)
        #expect(self.admittedCount(&rates, nil, of: self.demo, count: 1000) == 100)
        // A server and a user are refused alike.
        for user in [nil, self.bob] {
            let refusal = rates.admit(user, of: self.demo, at: 0)
            #expect(refusal?.reason == .callsPerApp && refusal?.retryAfter == Milliseconds(10))
        }
        #expect(rates.admit(self.bob, of: AppID("other"), at: 0) == nil)
        var unlimited = ForwardedCallRates(callsPerApp: nil, callsPerUser: 100)
        #expect(self.admittedCount(&unlimited, nil, of: self.demo, count: 10_000) == 10_000)
    }
}
