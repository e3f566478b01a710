// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit

/// What a load run does.
package struct LoadPlan: Sendable {
    /// Where the gateways are; clients are spread over them.
    package var addresses: [PlazaAddress]
    package var rooms = 1
    /// Viewers of each room; each of them also sends.
    package var viewers = 1000
    /// Messages a second in each room.
    package var rate = 40.0
    /// Bytes of a message's text.
    package var size = 200
    package var seconds = 60.0
    /// Clients that log in and join at the same time, while the rooms fill.
    package var entering = 64
    /// How long the gateways have to log the first client in.
    package var loginSeconds = 15.0
    /// How long is waited after the last message for what is still on its way.
    package var drainSeconds = 20.0
    /// Tells runs apart: part of the rooms' and users' names.
    package var name: String
    /// A token for a user.
    package var token: @Sendable (String) -> String

    package init(addresses: [PlazaAddress], name: String, token: @escaping @Sendable (String) -> String) {
        self.addresses = addresses
        self.name = name
        self.token = token
    }
}

extension LoadPlan {
    /// What to say, and to do, when no gateway logged anybody in.
    var nobodyLoggedIn: String {
        let tried = self.addresses.prefix(3).map { "\($0.host):\($0.port)" }.joined(separator: ", ")
        return "No gateway logged anybody in within \(Int(self.loginSeconds)) s; tried \(tried)"
            + (self.addresses.count > 3 ? " and \(self.addresses.count - 3) more" : "")
            + ". Look at `plaza status`, or give --gateway a gateway's WebSocket port that is reached from here."
    }
}

/// How far a run is.
package struct LoadProgress: Hashable, Sendable {
    /// The stages of a run, in order.
    package enum Stage: String, Hashable, Sendable {
        case opening
        case entering
        case settling
        case sending
        case draining
        case ending
    }
    package var stage: Stage
    /// Seconds since the stage began.
    package var seconds: Double
    package var entered: Int
    package var sent: Int
    package var acknowledged: Int
    package var delivered: Int
}
