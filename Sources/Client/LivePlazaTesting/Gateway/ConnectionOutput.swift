// SPDX-License-Identifier: Apache-2.0

/// What the gateway does to one connection.
struct ConnectionOutput: Sendable {
    enum Action: Sendable {
        /// Send a frame.
        case text([UInt8])
        /// Close the connection with this WebSocket close code.
        case close(code: Int)
    }

    /// The number of the connection.
    let connection: Int
    let action: Action

    init(connection: Int, _ action: Action) {
        self.connection = connection
        self.action = action
    }
}
