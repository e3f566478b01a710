// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel

/// Maps each session to the shard that has its connection.
///
/// The gateway uses it to route replies, and to find the connection that a new connection of the same session replaces.
final class SessionRegistry: Sendable {
    /// The shard and the generation of a session's connection.
    struct Location: Sendable {
        var shard: Int32
        /// Distinguishes the connections of one session.
        var generation: UInt32
    }

    private struct State {
        var locations: [SessionID: Location] = [:]
        var lastGeneration: UInt32 = 0
    }

    private let state = Locked(State())

    /// The number of sessions.
    var count: Int { self.state.withLock { $0.locations.count } }

    /// Registers a new connection of a session.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - shard: The shard of the connection.
    ///   - publish: Writes the sign-in notice, by which other gateways close the session's connections, and returns
    ///     whether the session may be claimed. It runs under the lock, so it must be short. Without the lock, the
    ///     notice of an older connection could be written last, and close the newest connection.
    /// - Returns: The new connection's generation, and the location of the connection that it replaces, if any. Nil if
    ///   `publish` returned false; nothing was changed then.
    func claim(_ session: SessionID, shard: Int, publish: () -> Bool) -> (generation: UInt32, replaced: Location?)? {
        self.state.withLock { state in
            guard publish() else { return nil }
            state.lastGeneration &+= 1
            let generation = state.lastGeneration
            let location = Location(shard: Int32(shard), generation: generation)
            return (generation, state.locations.updateValue(location, forKey: session))
        }
    }

    /// Runs `publish` under the lock if the session still belongs to the connection with this generation; no other
    /// connection can replace that one meanwhile.
    func publishIfCurrent(_ session: SessionID, generation: UInt32, publish: () -> Void) {
        self.state.withLock { state in
            if state.locations[session]?.generation == generation { publish() }
        }
    }

    /// Removes a connection that has ended, unless another connection has replaced it.
    func release(_ session: SessionID, generation: UInt32) {
        self.state.withLock { state in
            if state.locations[session]?.generation == generation { state.locations[session] = nil }
        }
    }

    /// Returns the shard that has the session's connection.
    func shard(of session: SessionID) -> Int? { self.state.withLock { $0.locations[session] }.map { Int($0.shard) } }
}
