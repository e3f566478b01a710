// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Identifies a call of an engine.
struct CallKey: Hashable, Sendable {
    /// The `number` of the `ConnectionState` in which the call was made.
    let connection: Int
    /// The number that the connection's core gave the call.
    let handle: Int
}

/// The state of one login: a `ClientCore`, which survives reconnects, with its present WebSocket and its timer.
struct ConnectionState: Sendable {
    /// Counts the logins of the engine, so that late events of an earlier login are ignored.
    let number: Int
    var core: ClientCore
    let addresses: [String]
    let transport: any Transport
    let tokenProvider: (@Sendable () async throws -> String)?
    /// The index of the address to which the client connects or is connected; at first a random one.
    var addressIndex: Int
    /// The number of the last WebSocket; events of earlier ones are ignored.
    var socketCount = 0
    var socket: (any TransportConnection)?
    var timer: PlazaTimer?
    /// When the timer is due; `distantFuture` before the first one.
    var timerDueAt = MonotonicTime.distantFuture
    /// How often the token provider was asked; failures of earlier requests are ignored.
    var tokenFetchCount = 0
    /// The present request to the token provider.
    var tokenFetch: Task<Void, Never>?
    /// When the connection was lost; nil while it is open.
    var lostAt: MonotonicTime?

    /// Passes an event to the core, and returns the actions that follow.
    mutating func updateCore(
        at now: MonotonicTime, _ body: (inout ClientCore, MonotonicTime) -> [ClientAction]
    ) -> [ClientAction] {
        body(&self.core, now)
    }
}
