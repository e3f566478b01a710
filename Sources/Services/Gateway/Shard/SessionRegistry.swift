// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel

/// Maps each session of this gateway to the shard that has the session's connection.
///
/// A shard is an event loop of the gateway. The gateway uses the registry to route replies, and to find the connection
/// that a new connection of the same session replaces.
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

    /// Registers a new connection of a session, and writes its sign-in notice.
    ///
    /// The notice makes the gateways close older connections of the session, or of the user in an app that allows one
    /// device (`DeviceSignIn`). The notice that is written last decides. So each notice is written under the lock,
    /// because otherwise an older connection's notice could come last, and close the newest connection.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - shard: The shard of the connection.
    ///   - writeNotice: Writes the sign-in notice if one is needed, and returns whether the session may be claimed. It
    ///     must be short, because it runs under the lock.
    /// - Returns: The new connection's generation, and the location of the connection that it replaces, if any. Nil if
    ///   `writeNotice` has returned false; nothing is changed then.
    func claim(
        _ session: SessionID, shard: Int, writeNotice: () -> Bool
    ) -> (generation: UInt32, replaced: Location?)? {
        self.state.withLock { state in
            guard writeNotice() else { return nil }
            state.lastGeneration &+= 1
            let generation = state.lastGeneration
            let location = Location(shard: Int32(shard), generation: generation)
            return (generation, state.locations.updateValue(location, forKey: session))
        }
    }

    /// Writes a sign-in notice again, unless another connection has replaced the connection with this generation.
    ///
    /// `writeNotice` runs under the lock, so that no other connection can claim the session meanwhile.
    func writeNoticeIfCurrent(_ session: SessionID, generation: UInt32, writeNotice: () -> Void) {
        self.state.withLock { state in
            if state.locations[session]?.generation == generation { writeNotice() }
        }
    }

    /// Removes a connection that has ended, unless another connection has replaced it.
    func remove(_ session: SessionID, generation: UInt32) {
        self.state.withLock { state in
            if state.locations[session]?.generation == generation { state.locations[session] = nil }
        }
    }

    /// Returns the shard that has the session's connection.
    func shard(of session: SessionID) -> Int? { self.state.withLock { $0.locations[session] }.map { Int($0.shard) } }
}
