// SPDX-License-Identifier: Apache-2.0

/// All attacks, in the order in which they run.
package enum AttackCatalog {
    package static let all: [any Attack] = [
        NumberAttack(), NumberHTTPAttack(), OversizedRowAttack(), SlowAttack(.head), SlowAttack(.body),
        SlowAttack(.handshake), SlowReaderAttack(), HalfFrameAttack(), PingFlood(), JoinFlood(), LoginFlood(),
        MessageFlood(),
        PayloadAttack(.numbers, over: .http), PayloadAttack(.numbers, over: .webSocket),
        PayloadAttack(.deep, over: .http), PayloadAttack(.deep, over: .webSocket),
        PayloadAttack(.marks, over: .http), PayloadAttack(.marks, over: .webSocket),
    ]

    /// The attacks with these names, each once, in the order of `all`; all attacks if `names` is empty.
    ///
    /// - Throws: `unknown` with the first name that no attack has.
    package static func named(_ names: [String]) throws(AttackError) -> [any Attack] {
        if names.isEmpty { return self.all }
        if let unknown = names.first(where: { name in !self.all.contains { $0.name == name } }) {
            throw .unknown(unknown)
        }
        return self.all.filter { names.contains($0.name) }
    }
}

/// The reason why no attack was started.
package enum AttackError: Error, Equatable, CustomStringConvertible {
    /// No attack has this name.
    case unknown(String)
    /// The host is not on the loopback interface.
    case notLoopback(String)
    /// The honest clients, which use the cluster normally, had these failures without any attack.
    case baseline([String])

    package var description: String {
        switch self {
        case .unknown(let name): "there is no attack \(name)"
        case .notLoopback(let host):
            "\(host) is not an address of the loopback interface. This command attacks only what runs on this machine: "
                + "give 127.0.0.1, ::1 or localhost."
        case .baseline(let failures):
            "the cluster does not serve honest clients even without an attack: \(failures.joined(separator: " "))"
        }
    }
}
