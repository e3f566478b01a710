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
    /// - Returns: its generation, and the place of the connection that it replaces, if there is one.
    func claim(_ session: SessionID, shard: Int) -> (generation: UInt32, replaced: Place?) {
        self.state.withLock { state in
            state.lastGeneration &+= 1
            let generation = state.lastGeneration
            let place = Place(shard: Int32(shard), generation: generation)
            return (generation, state.places.updateValue(place, forKey: session))
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
