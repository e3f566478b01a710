// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import Observability
internal import PlazaModel

/// One room of a run: what was sent, what was acknowledged, and what its viewers got.
final class LoadRoom {
    let live: LiveID
    let owner: PlazaConnection
    var viewers: [LoadViewer] = []
    /// The owner logs in again after each loss, and opens its live once.
    var isAskedFor = false
    /// When message number 0 is due, in microseconds of the run's clock.
    var start: Int64 = 0
    var nextSequence = 0
    /// The highest acknowledged number.
    var highest: Int64 = 0
    var admitted = 0
    var dropped = 0
    var refused: [String: Int] = [:]
    /// Calls under way: which message, and when it was due.
    var open: [CallKey: (sequence: Int, due: Int64)] = [:]
    /// Where the reply put each message; and where one viewer, the checker, saw it.
    private var acknowledgedAt: [Int: Int64] = [:]
    private var seenAt: [Int: Int64] = [:]
    /// Messages that the checker saw twice under different numbers: applied twice.
    private(set) var appliedTwice = 0
    private var lastDelivery: Int64?
    private(set) var longestPause: Int64 = 0

    struct CallKey: Hashable {
        var viewer: Int
        var id: Int64
    }

    init(_ live: LiveID, _ owner: PlazaConnection) {
        self.live = live
        self.owner = owner
    }

    func acknowledged(_ sequence: Int, at position: FeedPosition) {
        self.admitted += 1
        self.highest = max(self.highest, position.number)
        self.acknowledgedAt[sequence] = position.number
    }

    /// The checker saw message `sequence` as item `number`.
    func seen(_ sequence: Int, at number: Int64) {
        if self.seenAt.updateValue(number, forKey: sequence) != nil { self.appliedTwice += 1 }
    }

    /// Somebody got something.
    func delivered(at now: Int64, isSending: Bool) {
        if isSending, let last = self.lastDelivery { self.longestPause = max(self.longestPause, now - last) }
        self.lastDelivery = isSending ? now : nil
    }

    /// Messages whose reply and feed disagree about their place.
    var misplaced: Int {
        self.acknowledgedAt.reduce(0) { count, message in
            guard let seen = self.seenAt[message.key] else { return count }
            return seen == message.value ? count : count + 1
        }
    }

    /// Whether all viewers have everything that was acknowledged.
    var isComplete: Bool {
        self.open.isEmpty && self.viewers.allSatisfy { ($0.connection.tracker.position?.number ?? 0) >= self.highest }
    }
}

/// One viewer of a room.
final class LoadViewer {
    let connection: PlazaConnection
    unowned let room: LoadRoom
    let index: Int
    /// Its entry, too, is asked for once; the open call is sent again by itself.
    var isAskedFor = false
    var hasEntered = false
    /// What came before the run is not counted.
    var receivedBefore = 0
    /// The last number when the run began.
    var numberBefore: Int64 = 0

    init(_ connection: PlazaConnection, _ room: LoadRoom, index: Int) {
        self.connection = connection
        self.room = room
        self.index = index
    }

    /// Items that this viewer should have got in the run, and did not.
    var missing: Int {
        let last = self.connection.tracker.position?.number ?? 0
        return self.connection.tracker.missing + Int(max(0, self.room.highest - max(last, self.numberBefore)))
    }
}
