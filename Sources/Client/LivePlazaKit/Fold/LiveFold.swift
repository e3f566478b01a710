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
        let before = self.states
        self.states.live.reduce(input)
        self.states.stage.reduce(input)
        let newStage =
            self.states.stage.record?.revision == before.stage.record?.revision ? nil : self.states.stage.record
        var events: [StoreEvent] = []
        func reduce(_ body: (inout FoldContext) -> Void) {
            var context = FoldContext(
                liveID: self.liveID, selfID: self.selfID, before: before, states: self.states, newStage: newStage)
            body(&context)
            events += context.events
        }
        // Later reducers read the states of earlier ones.
        var states = self.states
        reduce { states.audience.reduce(input, &$0) }
        self.states.audience = states.audience
        reduce { states.barrage.reduce(input, &$0) }
        reduce { states.seat.reduce(input, &$0) }
        reduce { states.coHost.reduce(input, &$0) }
        self.states.coHost = states.coHost
        reduce { states.coGuest.reduce(input, &$0) }
        reduce { states.battle.reduce(input, &$0) }
        reduce { states.gift.reduce(input, &$0) }
        reduce { states.like.reduce(input, &$0) }
        states.summary.reduce(input)
        self.states = states
        self.states.stage.events = []
        return events
    }
}
