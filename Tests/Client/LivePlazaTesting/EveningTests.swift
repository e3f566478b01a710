// SPDX-License-Identifier: Apache-2.0
import AppInSwift5
import AppInSwift6
import Dispatch
import LivePlazaKit
import LivePlazaTesting
import Testing

/// An evening with an app's screens on a cluster in memory, in Swift 5 mode and in Swift 6 mode.
@MainActor @Suite struct EveningTests {
    private struct NotShown: Error { let what: String }

    @Test(arguments: [5, 6])
    func `an app shows an evening`(swiftVersion: Int) async throws {
        let cluster = SimulatedCluster(seed: UInt64(swiftVersion), queue: .main)
        let play = swiftVersion == 5 ? AppInSwift5.Evening.play : AppInSwift6.Evening.play
        try await play(
            "eve", { user in Self.client(user, cluster) },
            { what, condition in try await Self.advance(cluster, until: what, condition) })
    }

    private static func client(_ user: String, _ cluster: SimulatedCluster) -> LivePlaza {
        let plaza = cluster.client(user)
        plaza.loginStore.login(sdkAppID: 1, userID: user, userSig: cluster.token(user), completion: nil)
        cluster.advance(by: .seconds(1))
        return plaza
    }

    /// Advances the cluster until the condition holds, by at most 30 s of the cluster's time.
    private static func advance(
        _ cluster: SimulatedCluster, until what: String, _ condition: () -> Bool
    ) async throws {
        for _ in 0..<300 {
            if condition() { return }
            cluster.advance(by: .milliseconds(100))
            // The main queue also runs what subscriptions with `receive(on:)` have put there.
            try await Task.sleep(for: .milliseconds(1))
        }
        throw NotShown(what: what)
    }
}
