// SPDX-License-Identifier: Apache-2.0
package import PlazaModel
package import ProtocolClient

/// The cluster that is attacked; all its addresses are on the loopback interface.
package struct AttackTarget: Sendable {
    /// A process whose metrics can be read.
    package struct Process: Sendable {
        package var name: String
        /// The program's name.
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
    /// The gateways' HTTP addresses; empty if they are not known, and then no attack over HTTP runs.
    package let http: [PlazaAddress]
    /// The processes with metrics; empty if they are not known.
    package let processes: [Process]
    /// The number of partitions of each topic; nil if it is not known.
    package let partitions: Int?
    /// The app that is attacked.
    package let app: AppID
    private let token: @Sendable (_ user: String, _ isServer: Bool) -> String

    /// Describes a cluster.
    ///
    /// `token` makes a token for a user; if its second argument is true, with the role of the app's own server.
    ///
    /// - Throws: `notLoopback` with the first host that is not on the loopback interface.
    package init(
        gateways: [PlazaAddress], http: [PlazaAddress], processes: [Process], partitions: Int?, app: AppID,
        token: @escaping @Sendable (String, Bool) -> String
    ) throws(AttackError) {
        self.gateways = try Self.numeric(gateways)
        self.http = try Self.numeric(http)
        self.processes = processes
        self.partitions = partitions
        self.app = app
        self.token = token
    }

    /// A token for a user of the app.
    func userToken(_ user: String) -> String { self.token(user, false) }

    /// A token for the app's own server, which acts under the name `user`.
    func serverToken(_ user: String) -> String { self.token(user, true) }

    private static func numeric(_ addresses: [PlazaAddress]) throws(AttackError) -> [PlazaAddress] {
        var numeric: [PlazaAddress] = []
        for address in addresses {
            guard let host = Loopback.numeric(address.host) else { throw .notLoopback(address.host) }
            numeric.append(PlazaAddress(host: host, port: address.port))
        }
        return numeric
    }

    /// The number of partitions that is assumed when it is not known: the default with an external Kafka.
    static let assumedPartitions = 12
}

/// The parameters of a run.
package struct AttackPlan: Sendable {
    package var target: AttackTarget
    package var attacks: [any Attack]
    /// How long each attack lasts.
    package var duration = Duration.seconds(5)
    /// The largest number of connections of an attack.
    package var connections = 2_000
    /// The seed of all random number generators; it is also a part of all names.
    package var seed: UInt64

    package init(target: AttackTarget, attacks: [any Attack], seed: UInt64) {
        self.target = target
        self.attacks = attacks
        self.seed = seed
    }

    /// The attacks that can run: those over HTTP need an HTTP address.
    package var runnable: [any Attack] { self.attacks.filter { $0.channel != .http || !self.target.http.isEmpty } }
}
