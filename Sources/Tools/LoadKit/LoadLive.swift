// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// One live of a run: what was sent, what was acknowledged, and what its viewers received.
final class LoadLive {
    let id: LiveID
    /// The connection of the live's owner.
    let owner: PlazaConnection
    var viewers: [LoadViewer] = []
    /// Whether the owner has sent `live.create`; it does so after its first login, but not again after a reconnect.
    var hasSentCreate = false
    /// When message number 0 is due, in microseconds of the run's clock.
    var startMicroseconds: Int64 = 0
    /// The sequence number of the next message to send.
    var nextSequence = 0
    /// The highest feed number of an acknowledged message.
    var highestAcknowledged: Int64 = 0
    /// The number of messages that were admitted to the feed, according to their replies.
    var admitted = 0
    /// The number of messages that the feed budget dropped.
    var dropped = 0
    /// The number of rejected messages by the name of the reply code.
    var refused: [String: Int] = [:]
    /// Calls without a reply yet: the message of each, and when it was due in microseconds of the run's clock.
    var openCalls: [CallKey: (sequence: Int, due: Int64)] = [:]
    /// The feed number of each message according to its reply, by sequence number.
    private var acknowledgedNumbers: [Int: Int64] = [:]
    /// The feed number of each message as the live's checker received it, by sequence number.
    ///
    /// The checker is the first viewer of the live. The run compares what the checker receives with the replies.
    private var checkerNumbers: [Int: Int64] = [:]
    /// How often the checker received a message again as another item of the feed.
    ///
    /// The servers applied such a message twice. A connection's `FeedOrderTracker` cannot detect that, because it
    /// compares only item numbers.
    private(set) var appliedTwiceCount = 0
    /// Compares what several viewers receive (`LoadPlan.comparedViewers`).
    var order = OrderComparison()
    /// The number of gateways to which the compared viewers were connected when sending began.
    var comparedGateways = 0
    /// Measures the longest time during the stage `sending` in which no viewer received anything.
    var pauseClock = PauseClock()

    /// Identifies a call within its live: the index of the viewer and the id of the call on its connection.
    struct CallKey: Hashable {
        var viewer: Int
        var id: Int64
    }

    init(_ id: LiveID, _ owner: PlazaConnection) {
        self.id = id
        self.owner = owner
    }

    /// Records that message `sequence` was admitted at `position`.
    func recordAcknowledgement(_ sequence: Int, at position: FeedPosition) {
        self.admitted += 1
        self.highestAcknowledged = max(self.highestAcknowledged, position.number)
        self.acknowledgedNumbers[sequence] = position.number
    }

    /// Records that the checker received message `sequence` as item `number`.
    ///
    /// - Returns: the number of another item as which the checker has received the message before; nil if it has not.
    func recordCheckerReceipt(_ sequence: Int, at number: Int64) -> Int64? {
        let earlier = self.checkerNumbers.updateValue(number, forKey: sequence)
        if earlier != nil { self.appliedTwiceCount += 1 }
        return earlier
    }

    /// The messages whose feed number differs between the checker's copy and the reply to the sender.
    var numberMismatches: [(sequence: Int, acknowledged: Int64, received: Int64)] {
        self.acknowledgedNumbers.compactMap { sequence, acknowledged in
            guard let received = self.checkerNumbers[sequence], received != acknowledged else { return nil }
            return (sequence, acknowledged, received)
        }
    }

    /// Whether all calls have a reply, and all viewers have received all acknowledged messages.
    var isComplete: Bool {
        self.openCalls.isEmpty
            && self.viewers.allSatisfy { ($0.connection.tracker.position?.number ?? 0) >= self.highestAcknowledged }
    }
}
