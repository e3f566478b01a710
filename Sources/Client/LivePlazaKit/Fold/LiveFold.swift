// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Folds what a client receives about one live into the states of its stores: the same inputs give the same states and
/// events.
struct LiveFold: Sendable {
    /// The maximum number of inputs that are kept until a requested snapshot arrives.
    private static let maxKept = 1000

    let liveID: LiveID
    private let selfID: UserID
    private(set) var states = LiveStates()
    /// The inputs since each snapshot was requested.
    private var since: [SnapshotName: [FoldInput]] = [:]

    init(liveID: LiveID, selfID: UserID) {
        self.liveID = liveID
        self.selfID = selfID
    }

    /// Records that a snapshot is requested.
    ///
    /// Inputs that are received before the response may be newer than the snapshot. Therefore they are kept, and folded
    /// into the snapshot again (R1.18).
    mutating func snapshotRequested(_ name: SnapshotName) { self.since[name] = [] }

    /// Drops the kept inputs of a snapshot that could not be read.
    mutating func snapshotFailed(_ name: SnapshotName) { self.since[name] = nil }

    /// Folds an input and returns its events.
    mutating func apply(_ input: FoldInput) -> [StoreEvent] {
        for (name, kept) in self.since where name.isChanged(by: input) && kept.count < Self.maxKept {
            self.since[name] = kept + [input]
        }
        return self.fold(input)
    }

    /// Folds a snapshot that was read, and the inputs since it was requested.
    mutating func snapshotRead(_ snapshot: Snapshot) -> [StoreEvent] {
        let since = snapshot.name.flatMap { self.since.removeValue(forKey: $0) } ?? []
        let events = self.fold(.snapshot(snapshot))
        // The events of these inputs were returned when they were received.
        for input in since { _ = self.fold(input) }
        return events
    }

    private mutating func fold(_ input: FoldInput) -> [StoreEvent] {
        let revision = self.states.stage.record?.revision
        self.states.live.reduce(input)
        self.states.stage.reduce(input)
        let newStage = self.states.stage.record?.revision == revision ? nil : self.states.stage.record
        // A list that two values share is copied when one of them changes. The list of messages is long and changes with
        // each message, so no other value has it meanwhile. No reducer reads it but its own.
        var barrage = BarrageState()
        swap(&barrage, &self.states.barrage)
        var states = self.states
        var context = FoldContext(
            liveID: self.liveID, selfID: self.selfID, states: self.states, newStage: newStage)
        // Later reducers read the states of earlier ones.
        states.audience.reduce(input, &context)
        context.states.audience = states.audience
        barrage.reduce(input, &context)
        states.seat.reduce(input, &context)
        states.coHost.reduce(input, &context)
        context.states.coHost = states.coHost
        states.coGuest.reduce(input, &context)
        states.battle.reduce(input, &context)
        states.gift.reduce(input, &context)
        states.like.reduce(input, &context)
        states.summary.reduce(input)
        states.barrage = barrage
        states.stage.events = []
        self.states = states
        return context.events
    }
}
