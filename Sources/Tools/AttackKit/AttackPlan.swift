// SPDX-License-Identifier: Apache-2.0
package import PlazaModel
package import ProtocolClient

/// The cluster that is attacked; all its addresses are on the loopback interface.
package struct AttackTarget: Sendable {
    /// A process whose metrics can be read.
    package struct Process: Sendable {
        package var name: String
        /// The raw value of a `ServiceKind`, such as `gateway`.
        package var kind: String
        package var opsPort: Int

        package init(name: String, kind: String, opsPort: Int) {
            self.name = name
            self.kind = kind
            self.opsPort = opsPort
        }
    }

    /// The gateways' WebSocket addresses.
    package let gateways: [PlazaAddress]
    /// The gateways' HTTP addresses; if they are not known, the list is empty and no attack over HTTP runs.
    package let httpAddresses: [PlazaAddress]
    /// The processes whose metrics can be read; empty if they are not known.
    package let processes: [Process]
    /// The number of partitions of each topic; nil if it is not known.
    package let partitions: Int?
    /// The app that is attacked.
    package let app: AppID
    private let token: @Sendable (_ user: String, _ isServer: Bool) -> String

    /// Describes a cluster.
    ///
    /// `token` makes a token for a user; if `isServer`, the token has the role of the app's own server.
    ///
    /// - Throws: `notLoopback` with the first host that is not on the loopback interface.
    package init(
        gateways: [PlazaAddress], httpAddresses: [PlazaAddress], processes: [Process], partitions: Int?, app: AppID,
        token: @escaping @Sendable (_ user: String, _ isServer: Bool) -> String
    ) throws(AttackError) {
        self.gateways = try Self.numericAddresses(of: gateways)
        self.httpAddresses = try Self.numericAddresses(of: httpAddresses)
        self.processes = processes
        self.partitions = partitions
        self.app = app
        self.token = token
    }

    /// A token for a user of the app.
    func userToken(_ user: String) -> String { self.token(user, false) }

    /// A token for the app's own server, which acts under the name `user`.
    func serverToken(_ user: String) -> String { self.token(user, true) }

    private static func numericAddresses(of addresses: [PlazaAddress]) throws(AttackError) -> [PlazaAddress] {
        var numericAddresses: [PlazaAddress] = []
        for address in addresses {
            guard let host = Loopback.numericAddress(address.host) else { throw .notLoopback(address.host) }
            numericAddresses.append(PlazaAddress(host: host, port: address.port))
        }
        return numericAddresses
    }

    /// The number of partitions that is assumed when `partitions` is nil: the default on an external Kafka.
    static let assumedPartitions = 12
}

/// The parameters of a run.
package struct AttackPlan: Sendable {
    package var target: AttackTarget
    package var attacks: [any Attack]
    /// How long each attack lasts at least; it is prolonged while too little was measured (`AttackPeriod`).
    package var duration = Duration.seconds(5)
    /// The maximum number of connections of an attack.
    package var maxConnections = 2_000
    /// The seed of all random number generators; it is also a part of the names of all users and lives.
    package var seed: UInt64

    package init(target: AttackTarget, attacks: [any Attack], seed: UInt64) {
        self.target = target
        self.attacks = attacks
        self.seed = seed
    }

    /// The attacks that can run: all of them if HTTP addresses are known, otherwise those that do not use HTTP.
    package var runnable: [any Attack] {
        self.attacks.filter { $0.channel != .http || !self.target.httpAddresses.isEmpty }
    }
}
