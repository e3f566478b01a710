// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Folds what a client receives about one live into the states of the live's stores.
///
/// The same inputs always give the same states and events.
///
/// To fold an input means to apply it to the states. A snapshot is a part of the live's state that a call returns; see
/// `SnapshotName`.
struct LiveFold: Sendable {
    let liveID: LiveID
    private let selfID: UserID
    /// The states of the live's stores, and what the fold must know besides them.
    private(set) var states = LiveStates()
    /// The requests of other users for which an event was returned already.
    private var announced = AnnouncedRequests()
    /// The open requests in the lists of a host's stores, with the data to find that a request was accepted.
    private var listed = ListedRequests()
    /// The open requests that this user has made or received, and whose end leads to an event.
    private var openRequests = OpenRequestTracker()
    /// The snapshots that are being read, and the inputs that are kept for each.
    private var pendingReads: [SnapshotName: InputsDuringRead] = [:]
    /// For each kind of snapshot, the server's time of the last snapshot that arrived.
    private var snapshotTimes: [SnapshotName: Timestamp] = [:]

    init(liveID: LiveID, selfID: UserID) {
        self.liveID = liveID
        self.selfID = selfID
    }

    /// Records that the server is asked for a snapshot.
    ///
    /// Inputs that are received before the answer may be newer than the snapshot. But the snapshot replaces what these
    /// inputs have changed. Therefore the inputs are kept, and folded a second time, into the snapshot (R1.18).
    mutating func snapshotRequested(_ name: SnapshotName) {
        self.pendingReads[name] = InputsDuringRead()
        self.openRequests.snapshotRequested(name)
    }

    /// Drops the kept inputs of a snapshot that could not be read.
    mutating func snapshotFailed(_ name: SnapshotName) {
        self.pendingReads[name] = nil
        self.openRequests.snapshotFailed(name)
    }

    /// Whether a request is no longer open according to a snapshot, and no notice of its end was received.
    var awaitsNotices: Bool { self.openRequests.awaitsNotices }

    /// Removes and returns the snapshots that must be read once more.
    ///
    /// They lacked a request of this user, and the request's call has got its outcome only since then.
    mutating func takeSnapshotsLackingRequests() -> Set<SnapshotName> {
        self.openRequests.takeSnapshotsLackingRequests()
    }

    /// Whether more inputs were received during the read of a snapshot than are kept, so that it must be read again.
    func mustReadAgain(_ name: SnapshotName) -> Bool { self.pendingReads[name]?.hasOverflowed ?? false }

    /// Folds an input, keeps it for the pending reads of snapshots that it changes, and returns its events.
    mutating func apply(_ input: FoldInput) -> [StoreEvent] {
        for name in self.pendingReads.keys where name.isChanged(by: input) { self.pendingReads[name]?.append(input) }
        return self.fold(input)
    }

    /// Folds a snapshot that was read, and then the inputs that were kept during the read.
    mutating func snapshotRead(_ snapshot: Snapshot) -> [StoreEvent] {
        let laterInputs = snapshot.name.flatMap { self.pendingReads.removeValue(forKey: $0) }?.inputs ?? []
        if let name = snapshot.name { self.snapshotTimes[name] = snapshot.at }
        let events = self.fold(.snapshot(snapshot))
        // The events of these inputs were returned when they were received.
        for input in laterInputs { _ = self.fold(input, isRepeated: true) }
        // If a request of the snapshot has ended since the server made the snapshot, it is not announced any more. An
        // end from before the snapshot belongs to an earlier request, because a snapshot has no ended requests (R1.19).
        let endedRequests = Set(laterInputs.filter { !snapshot.contains($0) }.flatMap(\.endedRequests))
        return events.filter { event in event.announcedRequest.map { !endedRequests.contains($0) } ?? true }
    }

    /// The snapshots that already contain the change of an input, because they are not older than the input (R1.19).
    private func snapshotsCovering(_ input: FoldInput) -> Set<SnapshotName> {
        guard let at = input.at, !self.snapshotTimes.isEmpty else { return [] }
        return Set(self.snapshotTimes.filter { name, time in at <= time && name.isChanged(by: input) }.keys)
    }

    /// Applies an input to the states, and returns its events.
    ///
    /// `isRepeated`: whether the input was folded before, and is now applied to a snapshot.
    private mutating func fold(_ input: FoldInput, isRepeated: Bool = false) -> [StoreEvent] {
        let formerRevision = self.states.stage.record?.revision
        self.states.live.reduce(input)
        self.states.stage.reduce(input)
        let newStage = self.states.stage.record?.revision == formerRevision ? nil : self.states.stage.record
        self.listed.reduce(input, newStage, live: self.liveID, selfID: self.selfID)
        // Swift copies an array that two values share when one of them changes it. The list of messages is long and
        // changes with each message, so it is moved out of `self.states` before the copies below. Only the reducer of
        // the barrage reads it.
        var barrage = BarrageState()
        swap(&barrage, &self.states.barrage)
        var newStates = self.states
        var context = FoldContext(
            liveID: self.liveID, selfID: self.selfID, states: self.states, newStage: newStage,
            coveringSnapshots: self.snapshotsCovering(input),
            unconfirmedRequests: self.openRequests.unconfirmedRequests(for: input), listedRequests: self.listed)
        // The order matters. `newStates` collects the results. `context.states` has the former states of the stores,
        // plus those results that later reducers read.
        newStates.audience.reduce(input, &context)
        context.states.audience = newStates.audience
        barrage.reduce(input, &context)
        newStates.seat.reduce(input, &context)
        newStates.coHost.reduce(input, &context)
        context.states.coHost = newStates.coHost
        newStates.coGuest.reduce(input, &context)
        newStates.battle.reduce(input, &context)
        newStates.gift.reduce(input, &context)
        newStates.like.reduce(input, &context)
        newStates.summary.reduce(input, context)
        self.announced.reduce(input, &context)
        if !isRepeated { self.openRequests.reduce(input, &context) }
        newStates.barrage = barrage
        // Stage events are for the reducers of this input only.
        newStates.stage.events = []
        self.states = newStates
        return context.events
    }
}
