// SPDX-License-Identifier: Apache-2.0
package import ProtocolClient

/// The parameters of a load run whose clients are instances of the Swift SDK, all in this process.
package struct SDKLoadPlan: Sendable {
    /// The gateways' addresses; the clients are distributed among them.
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
    package let maxEntering = 64
    /// The beginning of the names of lives and users, different in each run.
    package var name: String
    /// The app's name as the number that the SDK's login takes; 0 if the name is not a number.
    package var sdkAppID: Int32
    /// Makes a token for a user.
    package var token: @Sendable (_ user: String) -> String

    package init(
        addresses: [PlazaAddress], name: String, sdkAppID: Int32, token: @escaping @Sendable (_ user: String) -> String
    ) {
        self.addresses = addresses
        self.name = name
        self.sdkAppID = sdkAppID
        self.token = token
    }
}

/// The results of a load run with instances of the SDK.
package struct SDKLoadReport: Sendable, Hashable, Codable {
    /// The number of instances, owners included.
    package var clients = 0
    /// The number of instances that have logged in and entered their live.
    package var entered = 0
    /// How long it took until all instances had entered, in seconds.
    package var enteringSeconds = 0.0
    /// The number of messages that were sent.
    package var sent = 0
    /// The number of messages that the server has accepted.
    package var accepted = 0
    /// How often an instance should have shown a message, summed over all instances, owners included.
    package var expected = 0
    /// How often an instance has shown a message, summed over all instances.
    package var shown = 0
    /// How often an instance has shown a message whose number was not above all earlier ones: a repeated or late one.
    package var repeated = 0
    /// How often an instance has shown a message although the message before it had not been shown yet.
    package var reordered = 0
    /// The median time from the call of `sendTextMessage` until an instance has shown the message, in milliseconds.
    package var p50 = 0.0
    /// The 99th percentile of the same time, in milliseconds.
    package var p99 = 0.0
    /// The maximum of the same time, in milliseconds.
    package var max = 0.0
    /// The resident memory of one instance that is in a live, in bytes.
    package var bytesPerClient = 0
    /// The processor time of this process while messages were sent, divided by `shown`, in microseconds.
    ///
    /// It includes the time for heartbeats and viewer counts.
    package var cpuMicrosecondsPerMessage = 0.0
    /// The number of instances that still exist although the run has given up all references to them.
    package var leaked = 0
    /// The errors of logins, joins and messages, each different text once with its count.
    package var failures: [String] = []

    /// Whether every instance has entered, has shown every accepted message once, in order, and was deallocated.
    package var isClean: Bool {
        self.entered == self.clients && self.shown == self.expected && self.repeated == 0 && self.reordered == 0
            && self.leaked == 0 && self.failures.isEmpty && self.accepted > 0
    }
}
