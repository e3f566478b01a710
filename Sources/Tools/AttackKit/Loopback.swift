// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress

/// The loopback interface: which hosts may be attacked, and from which source addresses.
package enum Loopback {
    /// Returns the numeric address of a host that may be attacked, which must be on the loopback interface.
    ///
    /// `localhost` becomes 127.0.0.1 without a lookup, because a name may resolve to another machine.
    ///
    /// - Parameter host: a numeric address, or `localhost`.
    /// - Returns: the numeric address; nil if the host is not on the loopback interface, or is another name.
    package static func numericAddress(_ host: String) -> String? {
        if host == "localhost" { return "127.0.0.1" }
        guard let address = IPAddress(host) else { return nil }
        return Self.blocks.contains { $0.contains(address) } ? host : nil
    }

    /// The address from which connection number `index` connects to `host`; nil for the system's choice.
    ///
    /// Gateways limit the connections of one address, so an attack uses many addresses. IPv6 has only one loopback
    /// address, so there the system chooses.
    package static func source(of index: Int, to host: String) -> String? {
        guard let address = IPAddress(host), address.isIPv4 else { return nil }
        let group = index / Self.connectionsPerSource
        // Each of the last three numbers of the address has 250 values. The second number is at least 1, because
        // 127.0.0.1 is the address of the honest clients.
        return "127.\(1 + group / (250 * 250) % 250).\(group / 250 % 250).\(1 + group % 250)"
    }

    /// The number of connections that share a source address: half of the HTTP connections that a gateway allows per
    /// address.
    static let connectionsPerSource = 50

    private static let blocks = ["127.0.0.0/8", "::1/128"].compactMap { AddressBlock($0) }
}
