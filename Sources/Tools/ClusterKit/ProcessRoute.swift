// SPDX-License-Identifier: Apache-2.0

/// How one process reaches Redis and the brokers through a proxy instead of directly.
package struct ProcessRoute: Sendable, Equatable {
    /// The route to one broker.
    ///
    /// A client learns the addresses of all brokers from a broker. Therefore the broker needs a listener for each
    /// process with a route, to name the proxy's address to that process.
    package struct Broker: Sendable, Equatable {
        /// The port on which the broker listens.
        package var listener: Int
        /// The proxy's port, which the broker names to the process as its own address.
        package var advertised: Int

        package init(listener: Int, advertised: Int) {
            self.listener = listener
            self.advertised = advertised
        }
    }

    /// The port at which the process reaches Redis; nil to connect directly.
    package var redisPort: Int?
    /// The route to each broker, in the order of the brokers; empty to connect directly.
    package var brokers: [Broker]

    package init(redisPort: Int? = nil, brokers: [Broker] = []) {
        self.redisPort = redisPort
        self.brokers = brokers
    }

    /// The bootstrap addresses; nil to connect directly.
    var bootstrap: String? {
        self.brokers.isEmpty ? nil : self.brokers.map { "127.0.0.1:\($0.advertised)" }.joined(separator: ",")
    }
}
