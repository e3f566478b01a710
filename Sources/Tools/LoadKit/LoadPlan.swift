// SPDX-License-Identifier: Apache-2.0
package import PlazaModel
package import ProtocolClient

/// The parameters of a load run.
package struct LoadPlan: Sendable {
    /// The gateways' addresses; the clients are distributed among them.
    package var addresses: [PlazaAddress]
    /// The number of lives, each with an owner of its own.
    package var lives = 1
    /// The number of viewers of each live; each of them also sends messages.
    package var viewers = 1000
    /// The number of viewers of each live whose received messages are compared with each other; 1 means no comparison.
    ///
    /// Successive viewers begin with successive gateways. As many compared viewers as there are gateways therefore
    /// cover all of them. The comparison stores each message of a live once.
    package var comparedViewers = 1
    /// The number of messages a second in each live.
    package var rate = 40.0
    /// The size of a message's text in bytes.
    package var size = 200
    /// The time during which messages are sent.
    package var duration = Duration.seconds(60)
    /// The maximum number of clients that log in and join at the same time.
    package let maxEntering = 64
    /// How long the run waits for the first login.
    package var loginTimeout = Duration.seconds(15)
    /// How long the run waits after the last message for items that are not delivered yet.
    package var drainTimeout = Duration.seconds(20)
    /// The beginning of the names of lives and users, different in each run.
    package var name: String
    /// Makes a token for a user.
    package var token: @Sendable (_ user: String) -> String

    package init(addresses: [PlazaAddress], name: String, token: @escaping @Sendable (_ user: String) -> String) {
        self.addresses = addresses
        self.name = name
        self.token = token
    }
}

extension LoadPlan {
    /// The id of a live of the run.
    package func liveID(_ index: Int) -> LiveID { LiveID("\(self.name)-\(index)") }

    /// The duration in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = self.duration.components
        // A second has 10^18 attoseconds.
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// The failure to report when no gateway accepted a login, with a remedy.
    var noLoginFailure: String {
        let tried = self.addresses.prefix(3).map { "\($0.host):\($0.port)" }.joined(separator: ", ")
        return "No gateway logged anybody in within \(self.loginTimeout.components.seconds) s; tried \(tried)"
            + (self.addresses.count > 3 ? " and \(self.addresses.count - 3) more" : "")
            + ". Look at `plaza status`, or give --gateway the address of a gateway's WebSocket port that this machine "
            + "can reach."
    }
}

/// The progress of a run.
package struct LoadProgress: Hashable, Sendable {
    /// The stages of a run, in order.
    package enum Stage: String, Hashable, Sendable {
        /// The owners log in and open their lives.
        case opening
        /// The viewers log in and join.
        case entering
        /// The run waits until the join tips, the feed items about joins, no longer count against the feed budget.
        case settling
        /// Messages are sent.
        case sending
        /// The run waits for items that are not delivered yet.
        case draining
        /// The owners end their lives.
        case ending
    }
    /// The stage that the run is in.
    package var stage: Stage
    /// The time since the stage began.
    package var elapsed: Duration
    /// The number of viewers that have joined.
    package var entered: Int
    /// The number of messages sent.
    package var sent: Int
    /// The number of messages that were admitted, according to their replies.
    package var acknowledged: Int
    /// The number of feed items received, summed over all viewers.
    package var delivered: Int
}
