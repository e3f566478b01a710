// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import Testing

/// The rates of the calls that a gateway forwards to the services, for one user and for one app.
///
/// Limits are in calls a second; a user or app may make the calls of one second at once. Times are in milliseconds.
@Suite struct ForwardedCallRatesTests {
    private let demo = AppID("demo")
    private let bob = UserID("bob")
    private let eve = UserID("eve")

    /// Makes `count` calls of a user at once, or of the app's servers if `user` is nil; returns how many are admitted.
    private func admittedCount(
        _ rates: inout ForwardedCallRates, _ user: UserID?, of app: AppID, count: Int, at now: MonotonicTime = 0
    ) -> Int {
        (0..<count).filter { _ in rates.admitOrReturnRefusal(user, of: app, at: now) == nil }.count
    }

    /// Rules: R12.15.
    @Test func `I16 a user who makes too many calls gets only its share, and the app's other users are served`() {
        var rates = ForwardedCallRates(callsPerApp: 1000, callsPerUser: 50)
        #expect(self.admittedCount(&rates, self.bob, of: self.demo, count: 5000) == 50)
        let rejection = rates.admitOrReturnRefusal(self.bob, of: self.demo, at: 0)
        #expect(
            rejection?.reason == .callsPerUser && rejection?.retryAfter == Milliseconds(20),
            "50 calls a second: one each 20 ms")
        #expect(self.admittedCount(&rates, self.eve, of: self.demo, count: 50) == 50)
        #expect(
            self.admittedCount(&rates, nil, of: self.demo, count: 10_000) == 900,
            "the app's 1000 calls less the 100 that bob and eve have made; bob's rejected calls do not count")
        #expect(
            self.admittedCount(&rates, self.bob, of: AppID("other"), count: 50) == 50,
            "a user bob of another app has a share of its own")
        #expect(
            self.admittedCount(&rates, self.bob, of: self.demo, count: 500, at: 100) == 5,
            "after 100 ms bob may make 50 / 10 further calls")
    }

    /// Rules: R12.15.
    @Test func `a user gets at most a tenth of its app's calls, whatever its own limit is`() {
        var rates = ForwardedCallRates(callsPerApp: 200, callsPerUser: 100)
        #expect(self.admittedCount(&rates, self.bob, of: self.demo, count: 300) == 20)

        var smallest = ForwardedCallRates(callsPerApp: 3, callsPerUser: 100)
        #expect(
            self.admittedCount(&smallest, self.bob, of: self.demo, count: 300) == 1,
            "a tenth of three calls is less than one, but a user always gets one a second")

        var unlimited = ForwardedCallRates(callsPerApp: nil, callsPerUser: 100)
        #expect(
            self.admittedCount(&unlimited, self.bob, of: self.demo, count: 300) == 100,
            "if the app has no limit, only the user's own counts")
    }

    /// Rules: R12.13.
    @Test func `I16 an app gets its share, another app has its own, and without a limit all calls are admitted`() {
        var rates = ForwardedCallRates(callsPerApp: 100, callsPerUser: 100)
        #expect(self.admittedCount(&rates, nil, of: self.demo, count: 1000) == 100)
        // Now that the app's 100 calls are used up, its servers (nil) and its users are rejected alike.
        for user in [nil, self.bob] {
            let rejection = rates.admitOrReturnRefusal(user, of: self.demo, at: 0)
            #expect(rejection?.reason == .callsPerApp && rejection?.retryAfter == Milliseconds(10))
        }
        #expect(rates.admitOrReturnRefusal(self.bob, of: AppID("other"), at: 0) == nil)
        var unlimited = ForwardedCallRates(callsPerApp: nil, callsPerUser: 100)
        #expect(self.admittedCount(&unlimited, nil, of: self.demo, count: 10_000) == 10_000)
    }
}
