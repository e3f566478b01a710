// SPDX-License-Identifier: Apache-2.0
package import MachineKit

extension RedisClient {
    /// The address of the server, and the limits.
    package struct Settings: Sendable {
        package var host: String
        package var port: Int
        /// The user of the server's access control list; nil for the server's default user.
        package var user: String?
        /// The user's password; nil if the client does not log in.
        package var password: Secret?
        /// How long connecting may take, and how long a pipeline may make no progress: no byte is sent or received.
        ///
        /// A whole pipeline may take four times as long.
        package var timeout = Duration.seconds(1)
        /// The maximum number of commands in one pipeline.
        package var maxPipelineCommands = 100_000
        /// The maximum number of bytes in one pipeline.
        package var maxPipelineBytes = 64 << 20
        /// The maximum number of bytes in the replies to one pipeline.
        package var maxReplyBytes = 256 << 20
        /// The longest pause between attempts to connect; the first pause is a sixteenth of it.
        package var longestReconnectPause = Duration.milliseconds(800)

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Identifies a connection, and the server process to which it leads: changes with each reconnect and with each
    /// start of the server.
    package struct Identity: Equatable, Sendable {
        /// The number of the connection among all connections of this client, counted from 1.
        package var serial: Int
        /// The server's `run_id`, which changes with each start of the server.
        package var runID: String

        /// An identity; `RedisClient` makes one for each connection.
        package init(serial: Int, runID: String) {
            self.serial = serial
            self.runID = runID
        }
    }
}
