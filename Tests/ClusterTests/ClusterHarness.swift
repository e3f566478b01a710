// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import LoadKit
import PlazaModel
import TestSupport
import Tokens

/// What tests of a running cluster share: its addresses and tokens, load, and an evening.
struct ClusterHarness: Sendable {
    let cluster: LocalCluster
    private let key: AppKey

    init(_ cluster: LocalCluster) throws {
        self.cluster = cluster
        self.key = try AppsFile.signingKey(of: AppsFile.demoApp, in: .file(cluster.directory.appsFile))
    }

    var addresses: [PlazaAddress] {
        self.cluster.gateways.map { PlazaAddress(host: $0.host, port: UInt16($0.port)) }
    }

    func token(_ user: String, isServer: Bool = false, seconds: Int64 = 3600) -> String {
        let claims = TokenClaims(
            app: AppsFile.demoApp, user: user, expires: Int64(Date().timeIntervalSince1970) + seconds,
            role: isServer ? .server : .user)
        return (try? TokenSigner.sign(claims, with: self.key)) ?? ""
    }

    static func name(_ prefix: String) -> String { prefix + String(UInt32.random(in: .min ... .max), radix: 36) }

    func playEvening() async throws {
        let setting = Evening.Setting(
            addresses: self.addresses, name: Self.name("ev"), token: { self.token($0, isServer: $1) }, say: { _ in })
        try await Evening(setting).play()
    }

    /// Load over several rooms, with something done to the cluster while messages are sent.
    ///
    /// - Parameters:
    ///   - rooms: how many.
    ///   - viewers: of each room.
    ///   - rate: messages a second in each room.
    ///   - seconds: how long messages are sent.
    ///   - trouble: begins two seconds into the sending.
    /// - Returns: what the load saw.
    /// - Throws: what `trouble` throws, or that the load could not run.
    func load(
        rooms: Int = 4, viewers: Int = 10, rate: Double = 10, seconds: Double = 10,
        trouble: @escaping @Sendable () async throws -> Void
    ) async throws -> LoadReport {
        var plan = LoadPlan(addresses: self.addresses, name: Self.name("ld")) { self.token($0) }
        plan.rooms = rooms
        plan.viewers = viewers
        plan.rate = rate
        plan.seconds = seconds
        plan.drainSeconds = 30
        let (sending, began) = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: LoadReport?.self) { group in
            group.addTask { [plan] in
                let report = try await LoadRunner.run(plan) { progress in
                    if progress.stage == .sending, progress.seconds >= 2 { began.finish() }
                }
                began.finish()
                return report
            }
            group.addTask {
                for await _ in sending {}
                try await trouble()
                return nil
            }
            var report: LoadReport?
            while let result = try await group.next() { report = report ?? result }
            guard let report else { throw EveningFailure("the load gave no report") }
            return report
        }
    }

    /// A logged-in client.
    ///
    /// - Parameters:
    ///   - user: who it is.
    ///   - isServer: whether its token is an app's server's.
    ///   - hub: where it runs.
    ///   - addresses: the gateways that it may connect to; nil: all.
    /// - Returns: the client, which connects by itself.
    func client(
        _ user: String, isServer: Bool = false, on hub: ClientHub, addresses: [PlazaAddress]? = nil
    ) -> PlazaClient {
        var options = ClientCore.Options(token: self.token(user, isServer: isServer), session: SessionID(user))
        // Some tests run with a short lease.
        options.pingMilliseconds = 1000
        return hub.client(addresses: addresses ?? self.addresses, options: options)
    }
}

/// Parameters of calls as a dictionary of texts, whole numbers, flags and lists.
struct CallParams: Encodable, Sendable {
    var live: LiveID?
    var user: String?
    var text: String?
    var seatIndex: Int?
    var locked: Bool?
    var timeout: Int?
    var device: String?
    var microphone: Bool?
    var metadata: [String: String]?
    var cursor: String?
    var count: Int?
    var to: [LiveID]?
}
