// SPDX-License-Identifier: Apache-2.0
package import ProtocolClient

/// The parameters of a load run whose clients are instances of the Swift SDK, all in this process.
package struct SDKLoadPlan: Sendable {
    /// The gateways' addresses; each client begins with another one.
    package var addresses: [PlazaAddress]
    /// The number of lives, each with an owner that sends its messages.
    package var lives = 1
    /// The number of viewers of each live.
    package var viewers = 100
    /// The number of messages a second in each live.
    package var rate = 5
    /// The time during which messages are sent, in seconds.
    package var seconds = 10
    /// The maximum number of clients that log in and join at the same time.
    package var maxEntering = 64
    /// Distinguishes runs: it is part of the names of lives and users.
    package var name: String
    /// The number of the app; 0 if its name is no number.
    package var sdkAppID: Int32
    /// Makes a token for a user.
    package var token: @Sendable (String) -> String

    package init(
        addresses: [PlazaAddress], name: String, sdkAppID: Int32, token: @escaping @Sendable (String) -> String
    ) {
        self.addresses = addresses
        self.name = name
        self.sdkAppID = sdkAppID
        self.token = token
    }
}

/// What a load run with instances of the SDK has measured.
package struct SDKLoadReport: Sendable, Hashable, Codable {
    /// The number of instances, owners included.
    package var clients = 0
    /// The number of instances that have logged in and entered their live.
    package var entered = 0
    /// How long it took until all had entered, in seconds.
    package var enteringSeconds = 0.0
    /// The number of messages that were sent, and of those that the server has accepted.
    package var sent = 0
    package var accepted = 0
    /// The number of messages that all viewers together should have shown, and have shown.
    package var expected = 0
    package var shown = 0
    /// The number of messages that a viewer has shown twice, or out of order.
    package var repeated = 0
    package var reordered = 0
    /// The time from the call of `sendTextMessage` to a viewer's publication, in milliseconds.
    package var p50 = 0.0
    package var p99 = 0.0
    package var max = 0.0
    /// The resident memory of one instance that is in a live, in bytes.
    package var bytesPerClient = 0
    /// The processor time of this process for one message that one viewer shows, in microseconds; all of the time
    /// while messages were sent, so it includes heartbeats and counts.
    package var cpuMicrosecondsPerMessage = 0.0
    /// The number of instances that exist after all were released.
    package var leaked = 0
    /// Logins, joins and messages that failed, each text once with its number.
    package var failures: [String] = []

    /// Whether every accepted message was shown once by every viewer, and nothing is left.
    package var isClean: Bool {
        self.entered == self.clients && self.shown == self.expected && self.repeated == 0 && self.reordered == 0
            && self.leaked == 0 && self.failures.isEmpty && self.accepted > 0
    }
}
