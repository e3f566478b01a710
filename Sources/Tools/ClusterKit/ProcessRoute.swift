// SPDX-License-Identifier: Apache-2.0

/// The way of one process to Redis and the brokers, where it is not the direct one: through a proxy.
package struct ProcessRoute: Sendable, Equatable {
    /// The way to one broker, which needs a listener of its own for each process with another way: a client learns the
    /// addresses of the brokers from the broker itself.
    package struct Broker: Sendable, Equatable {
        /// The port on which the broker listens.
        package var listener: Int
        /// The port that the broker names to the process.
        package var advertised: Int

        package init(listener: Int, advertised: Int) {
            self.listener = listener
            self.advertised = advertised
        }
    }

    /// The port at which the process reaches Redis; nil for the direct way.
    package var redisPort: Int?
    /// The way to each broker, in their order; empty for the direct way.
    package var brokers: [Broker]

    package init(redisPort: Int? = nil, brokers: [Broker] = []) {
        self.redisPort = redisPort
        self.brokers = brokers
    }

    /// The bootstrap addresses; nil for the direct way.
    var bootstrap: String? {
        self.brokers.isEmpty ? nil : self.brokers.map { "127.0.0.1:\($0.advertised)" }.joined(separator: ",")
    }
}
