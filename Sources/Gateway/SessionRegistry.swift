// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel

/// Which shard holds which session: where its replies go, and which older connection a new one of the same session
/// replaces.
final class SessionRegistry: Sendable {
    /// A session's place.
    struct Place: Sendable {
        var shard: Int32
        /// Tells connections of one session apart.
        var generation: UInt32
    }

    private struct State {
        var places: [SessionID: Place] = [:]
        var lastGeneration: UInt32 = 0
    }

    private let state = Locked(State())

    /// How many sessions there are.
    var count: Int { self.state.withLock { $0.places.count } }

    /// A session has a new connection.
    ///
    /// - Parameters:
    ///   - session: which one.
    ///   - shard: where the connection is.
    ///   - tell: hands over what other gateways are told of it, and says whether that was possible. It runs under the lock,
    ///     short as it is: what they hear must stand in the order in which connections replaced each other here, or the
    ///     last one could be ended by an older one.
    /// - Returns: its generation, and the place of the connection that it replaces, if there is one; nil when the others
    ///   could not be told, and nothing is changed.
    func claim(_ session: SessionID, shard: Int, tell: () -> Bool) -> (generation: UInt32, replaced: Place?)? {
        self.state.withLock { state in
            guard tell() else { return nil }
            state.lastGeneration &+= 1
            let generation = state.lastGeneration
            let place = Place(shard: Int32(shard), generation: generation)
            return (generation, state.places.updateValue(place, forKey: session))
        }
    }

    /// Runs `tell` if no other connection has replaced this one, and none does meanwhile.
    func whileHeld(_ session: SessionID, generation: UInt32, tell: () -> Void) {
        self.state.withLock { state in
            if state.places[session]?.generation == generation { tell() }
        }
    }

    /// A connection has ended.
    func release(_ session: SessionID, generation: UInt32) {
        self.state.withLock { state in
            if state.places[session]?.generation == generation { state.places[session] = nil }
        }
    }

    /// The shard that holds the session.
    func shard(of session: SessionID) -> Int? { self.state.withLock { $0.places[session] }.map { Int($0.shard) } }
}
