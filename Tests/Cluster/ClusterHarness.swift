// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import PlazaModel
import ProtocolClient
import Testing
import Tokens

/// Gives a test access to a running cluster: addresses, tokens, clients, a load run and the scenario.
struct ClusterHarness: Sendable {
    let cluster: LocalCluster
    private let signingKey: AppKey

    init(_ cluster: LocalCluster) throws {
        self.cluster = cluster
        self.signingKey = try AppsFile.signingKey(of: AppsFile.demoApp, in: .file(cluster.directory.appsFile))
    }

    var addresses: [PlazaAddress] {
        self.cluster.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.port)) }
    }

    /// Signs a token of the demo app.
    ///
    /// If signing fails, the test gets an issue, and the token is empty.
    func token(_ user: String, isServer: Bool = false, validFor lifetime: Duration = .seconds(3600)) -> String {
        let claims = TokenClaims(
            app: AppsFile.demoApp, user: user,
            expires: Int64(Date().timeIntervalSince1970) + lifetime.components.seconds,
            role: isServer ? .server : .user)
        do {
            return try TokenSigner.sign(claims, with: self.signingKey)
        } catch {
            Issue.record(error)
            return ""
        }
    }

    /// A random name for a live or a user, so that tests do not share names; it begins with `prefix`.
    static func uniqueName(_ prefix: String) -> String { prefix + String(UInt32.random(in: .min ... .max), radix: 36) }

    /// Plays the scenario of `plaza demo` (a short live, checked step by step); throws if the cluster does not work.
    func playScenario() async throws {
        let setting = Scenario.Setting(
            addresses: self.addresses, name: Self.uniqueName("ev"), token: { self.token($0, isServer: $1) },
            say: { _ in })
        try await Scenario(setting).play()
    }

    /// Runs load in several lives and disturbs the cluster while messages are sent.
    ///
    /// - Parameters:
    ///   - lives: the number of lives.
    ///   - viewers: the number of viewers of each live.
    ///   - rate: messages a second in each live.
    ///   - duration: how long messages are sent.
    ///   - disturbance: what disturbs the cluster; starts two to three seconds after the sending has begun.
    /// - Returns: the report of the load run.
    /// - Throws: the error of `disturbance`, or the reason why the load could not run.
    func load(
        lives: Int = 4, viewers: Int = 10, rate: Double = 10, duration: Duration = .seconds(10),
        disturbance: @escaping @Sendable () async throws -> Void
    ) async throws -> LoadReport {
        var plan = LoadPlan(addresses: self.addresses, name: Self.uniqueName("ld")) { self.token($0) }
        plan.lives = lives
        plan.viewers = viewers
        plan.rate = rate
        plan.duration = duration
        plan.drainTimeout = .seconds(30)
        // A stream without elements, whose end starts the disturbance: two seconds after the sending has begun, or when
        // the load ends earlier.
        let (untilDisturbance, disturbanceTrigger) = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: LoadReport?.self) { group in
            group.addTask { [plan] in
                let report = try await LoadRunner.run(plan) { progress in
                    if progress.stage == .sending, progress.elapsed >= .seconds(2) { disturbanceTrigger.finish() }
                }
                disturbanceTrigger.finish()
                return report
            }
            group.addTask {
                for await _ in untilDisturbance {}
                try await disturbance()
                return nil
            }
            // One of the two tasks returns the report, the other nil.
            var report: LoadReport?
            while let result = try await group.next() { report = report ?? result }
            guard let report else { throw ScenarioFailure("the load gave no report") }
            return report
        }
    }

    /// Makes a client, which connects and logs in by itself.
    ///
    /// - Parameters:
    ///   - user: the id of the client's user.
    ///   - isServer: whether the client's token has the role of the app's server.
    ///   - hub: the loop on which the client runs.
    ///   - addresses: the gateways that the client may connect to; nil for all gateways.
    /// - Returns: the client.
    func client(
        _ user: String, isServer: Bool = false, on hub: ClientHub, addresses: [PlazaAddress]? = nil
    ) -> PlazaClient {
        var options = BareClientCore.Options(token: self.token(user, isServer: isServer), session: SessionID(user))
        // The interval must be well below the lease, which some tests shorten to a few seconds.
        options.pingInterval = .seconds(1)
        return hub.client(addresses: addresses ?? self.addresses, options: options)
    }
}
