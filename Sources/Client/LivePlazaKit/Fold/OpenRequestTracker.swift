// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The open requests that this user has made or received; the app gets one event about the end of each request.
///
/// Usually a notice (a message of the server to one user) reports the end. The server keeps a notice for only a minute.
/// If the client missed the notice, a later snapshot of the open requests lacks the request. The notice may still be on
/// its way then, so the client waits a moment. If no notice comes, the client derives from the live's state how the
/// request ended (R1.24).
///
/// A user can make the same request again, under the same name. Therefore an end counts only for a request that was
/// open before the end. The event about the earlier request's end comes before the event about the new request.
///
/// Applications of other users to a host are not tracked, because a host gets no event when an application times out.
struct OpenRequestTracker: Sendable {
    /// How long the tracker remembers a request whose end it published without a notice.
    private static let timeKeptAfterEnd = Milliseconds.seconds(120)

    /// An open request, with the events with which it may end.
    private struct Entry {
        let name: RequestName
        let ends: RequestEnds
        /// An end before this time belongs to an earlier request of the same name.
        ///
        /// `distantPast` if the request is known only from the call that has opened the request.
        let endsFrom: Timestamp
        /// Set if the last snapshot has shown that the request has ended.
        var missing: Missing?

        /// The event to publish when no notice has reported the end; nil if this user has accepted the request.
        func missedEnd(_ context: FoldContext) -> StoreEvent? {
            let isAccepted = self.missing?.isAccepted ?? false || self.name.isAccepted(in: context)
            return isAccepted ? self.ends.accepted : self.ends.unanswered
        }
    }

    /// What a snapshot says about a request whose end no notice has reported.
    private struct Missing {
        /// The time of the snapshot; nil if the server does not send it.
        let at: Timestamp?
        /// Whether the snapshot itself says that the request was accepted.
        let isAccepted: Bool
    }

    /// In the order in which the requests were opened.
    private var entries: [Entry] = []
    /// For each snapshot that is being read: the requests that were opened or have ended since it was requested.
    ///
    /// The time is the time of the last notice about the request. A change by this client itself counts as later than
    /// any snapshot.
    private var changedDuringRead: [SnapshotName: [RequestName: Timestamp]] = [:]
    /// The requests whose end was published without a notice, with the time of the snapshot that lacked them.
    ///
    /// A notice about such an end is ignored unless it is later than the snapshot.
    private var endedUnnoticed: [RequestName: Timestamp] = [:]
    /// The number of this client's unfinished calls that open requests.
    private var sendingCount = 0
    /// The requests that the unfinished calls may open, as far as the requests' names are known before the replies.
    private var sending: [RequestName] = []
    /// The unconfirmed requests that a snapshot lacked; see `unconfirmedRequests`.
    private var lacking: Set<RequestName> = []
    /// The requests that have ended during the unfinished calls and were not known to be open.
    ///
    /// The notice of a request's end may come before the reply to the call that has opened the request.
    private var endedWhileSending: Set<RequestName> = []

    /// Whether a request is missing in a snapshot, and no notice of its end was received.
    var awaitsNotices: Bool { self.entries.contains { $0.missing != nil } }

    mutating func snapshotRequested(_ name: SnapshotName) {
        guard name.hasRequests else { return }
        self.changedDuringRead[name] = [:]
        // For the requests whose calls have an outcome, the new snapshot tells whether they are open.
        self.lacking = self.lacking.filter { $0.snapshot != name || self.sending.contains($0) }
    }

    mutating func snapshotFailed(_ name: SnapshotName) { self.changedDuringRead[name] = nil }

    /// The requests of this user that the input's snapshot may lack although they are open.
    ///
    /// The calls that open these requests have no outcome yet, or got an outcome while the snapshot was read. Therefore
    /// the server may have made the snapshot before it applied the calls. So the lists keep these requests, and the
    /// snapshot is read once more when the calls have an outcome (R1.25).
    func unconfirmedRequests(for input: FoldInput) -> Set<RequestName> {
        guard case .snapshot(let snapshot) = input, let name = snapshot.name, name.hasRequests else { return [] }
        let changedByClient = (self.changedDuringRead[name] ?? [:]).filter { $0.value == .distantFuture }.keys
        return Set(self.sending.filter { $0.snapshot == name }).union(changedByClient)
    }

    /// Removes and returns the snapshots that must be read again, because the calls of requests they lacked have ended.
    mutating func takeSnapshotsLackingRequests() -> Set<SnapshotName> {
        let decided = self.lacking.filter { !self.sending.contains($0) }
        self.lacking.subtract(decided)
        return Set(decided.map(\.snapshot))
    }

    /// Applies an input to the open requests, and corrects the events in `context`.
    ///
    /// It adds the ends that no notice has reported, and removes the event of a notice that comes too late.
    ///
    /// `context`: the states and events that all other reducers have made from the input.
    mutating func reduce(_ input: FoldInput, _ context: inout FoldContext) {
        switch input {
        case .notice(_, let at):
            self.endedUnnoticed = self.endedUnnoticed.filter { $0.value + Self.timeKeptAfterEnd >= at }
            let ended = input.endedRequests
            // The notice comes too late: the end that it reports was published before.
            if ended.contains(where: { name in self.endedUnnoticed[name].map { at <= $0 } ?? false }) {
                context.events = []
            }
            for name in ended { self.end(name, at: at) }
            self.openAnnounced(at: at, &context)
        case .snapshot(let snapshot):
            guard let name = snapshot.name, name.hasRequests else { return }
            let changes = self.changedDuringRead.removeValue(forKey: name) ?? [:]
            self.compare(with: snapshot, except: changes, &context)
        case .local(.requestsSending(let names)):
            self.sendingCount += 1
            self.sending += names
        case .local(.requestsSent(let names, let opened)):
            for name in names {
                if let index = self.sending.firstIndex(of: name) { self.sending.remove(at: index) }
            }
            for name in opened where !self.endedWhileSending.contains(name) {
                self.recordChange(of: name, at: .distantFuture)
                self.open(name, RequestEnds(of: name, context), endsFrom: .distantPast)
            }
            self.sendingCount = max(0, self.sendingCount - 1)
            if self.sendingCount == 0 { self.endedWhileSending = [] }
        case .local(.noticesDue): self.publishMissing(&context)
        case .local: for name in input.endedRequests { self.end(name, at: .distantFuture) }
        case .item, .counts: break
        }
    }

    private mutating func open(_ name: RequestName, _ ends: RequestEnds?, endsFrom: Timestamp) {
        guard let ends else { return }
        self.entries.removeAll { $0.name == name }
        self.entries.append(Entry(name: name, ends: ends, endsFrom: endsFrom))
    }

    private mutating func end(_ name: RequestName, at: Timestamp) {
        self.recordChange(of: name, at: at)
        if let index = self.entries.firstIndex(where: { $0.name == name }) {
            if at >= self.entries[index].endsFrom { self.entries.remove(at: index) }
        } else if self.sendingCount > 0 {
            self.endedWhileSending.insert(name)
        }
    }

    private mutating func recordChange(of name: RequestName, at: Timestamp) {
        let last = self.changedDuringRead[name.snapshot]?[name] ?? at
        self.changedDuringRead[name.snapshot]?[name] = max(last, at)
    }

    /// Opens the requests of others that the events of a notice announce.
    private mutating func openAnnounced(at: Timestamp, _ context: inout FoldContext) {
        context.events = context.events.flatMap { [context] event in
            guard let name = event.announcedRequest else { return [event] }
            self.recordChange(of: name, at: at)
            return self.open(name, by: event, endsFrom: at, context)
        }
    }

    /// Opens a request of another user that an event announces.
    ///
    /// - Returns: the event, after the event about the end of an earlier request of the same name, if there was one;
    ///   nothing if a later request is open already.
    private mutating func open(
        _ name: RequestName, by event: StoreEvent, endsFrom: Timestamp, _ context: FoldContext
    ) -> [StoreEvent] {
        let earlier = self.entries.first { $0.name == name }
        if let earlier {
            if endsFrom < earlier.endsFrom { return [] }
            self.endedUnnoticed[name] = endsFrom - Milliseconds(1)
        }
        self.open(name, RequestEnds(ofAnnounced: event, context), endsFrom: endsFrom)
        return [earlier?.missedEnd(context), event].compactMap(\.self)
    }

    /// Opens the requests that a snapshot contains, and marks the open requests that the snapshot lacks.
    ///
    /// `changes`: the requests that have changed since the server was asked for the snapshot, and when.
    private mutating func compare(
        with snapshot: Snapshot, except changes: [RequestName: Timestamp], _ context: inout FoldContext
    ) {
        let changedLater = Set(changes.filter { change in snapshot.at.map { change.value > $0 } ?? true }.keys)
        let contents = OpenRequestsOfSnapshot(snapshot, context)
        let unconfirmed = context.unconfirmedRequests.filter(\.isShownBeforeReply)
        self.lacking.formUnion(unconfirmed.subtracting(contents.open))
        // A request that is open in the snapshot ends after it.
        let endsFrom = snapshot.at.map { $0 + Milliseconds(1) } ?? .distantPast
        for (name, ends) in contents.own where !changedLater.contains(name) {
            self.open(name, ends, endsFrom: endsFrom)
        }
        context.events = context.events.flatMap { [context] event in
            guard let name = event.announcedRequest, !changedLater.contains(name) else { return [event] }
            return self.open(name, by: event, endsFrom: endsFrom, context)
        }
        for index in self.entries.indices {
            let name = self.entries[index].name
            guard name.snapshot == snapshot.name, !changedLater.contains(name), contents.wouldContain(name) else {
                continue
            }
            let isAccepted = contents.accepted.contains(name)
            let isMissing = isAccepted || !contents.open.contains(name)
            self.entries[index].missing = isMissing ? Missing(at: snapshot.at, isAccepted: isAccepted) : nil
        }
    }

    /// Publishes the ends of the requests that were missing in a snapshot and whose notices have not come.
    private mutating func publishMissing(_ context: inout FoldContext) {
        for entry in self.entries {
            guard let missing = entry.missing else { continue }
            if let event = entry.missedEnd(context) { context.events.append(event) }
            if let at = missing.at { self.endedUnnoticed[entry.name] = at }
        }
        self.entries.removeAll { $0.missing != nil }
    }
}
