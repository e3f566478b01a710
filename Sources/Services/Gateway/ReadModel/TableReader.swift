// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import ServiceShell
internal import Synchronization

/// Fills the gateway's tables, which hold the read model, from the public topics, on a dedicated thread.
///
/// `rooms`, `stages`, `audience.counts` and `apps` are read from the beginning, notices from 60 s before now, and the
/// replies to this gateway's calls from the end of their partition.
final class TableReader: Sendable {
    private let gateway: Gateway
    private let log: Log
    /// Reads the topics, and calls the methods of the extension below.
    private let follower: CompactedTopicFollower
    /// Finds the offset of the oldest notice that is read at the start.
    private let recentNoticeFinder: RecentOffsetFinder
    /// When the ranking of lives must next be refreshed, in milliseconds of the monotonic clock.
    ///
    /// Lists of lives are answered from the ranking. Only the reader's thread uses this value; it is atomic because the
    /// class is `Sendable`.
    private let rankingRefreshAt = Atomic<Int64>(0)

    /// The longest time that a poll waits for records.
    private static let maxPollMilliseconds: Int64 = 500
    /// The age of the oldest notices that are read at the start.
    private static let noticeSpan = Milliseconds.seconds(60)

    init(_ gateway: Gateway, kafka: KafkaSettings, mode: KafkaMode) {
        self.gateway = gateway
        self.log = gateway.log
        // With a shorter wait, the consumer gets records sooner, but sends more requests. The in-memory broker can
        // afford more requests, so the wait for that broker is shorter.
        self.follower = CompactedTopicFollower(
            [.rooms, .stages, .audienceCounts, .apps], partitions: gateway.settings.partitions, kafka: kafka,
            fetchWait: mode == .embedded ? .milliseconds(5) : .milliseconds(100), maxRecords: 1000)
        self.recentNoticeFinder = RecentOffsetFinder(span: Self.noticeSpan, mode: mode)
    }

    /// Whether the thread has begun a turn of its loop within the last 30 s.
    var isTurning: Bool { self.follower.isTurning }

    /// The reader's progress, and whether it has something to read.
    var status: ReadStatus { self.follower.status }

    /// Makes `run` return.
    ///
    /// May be called from any thread.
    func stop() { self.follower.stop() }

    /// Reads until `stop` is called.
    func run() {
        self.scheduleRankingRefresh()
        self.follower.run(self)
    }

    /// Sets the next refresh of the ranking to `Ranking.interval` from now.
    private func scheduleRankingRefresh() {
        self.rankingRefreshAt.store((MonotonicClock.now + Ranking.interval).milliseconds, ordering: .relaxed)
    }
}

// MARK: - Callbacks of the follower

extension TableReader: CompactedTopicSubscriber {
    /// Returns the start offsets of all partitions of the notices, and of the partition with the replies to this
    /// gateway.
    ///
    /// - Throws: `KafkaError` when the broker does not answer in time.
    func additionalPartitions(_ consumer: KafkaConsumer) throws(KafkaError) -> [TopicPartition: Int64] {
        for topic in [PlazaTopic.userNotices, .replies] {
            _ = try consumer.loadTopicMetadata(topic.rawValue, timeout: .seconds(10))
        }
        var offsets: [TopicPartition: Int64] = [:]
        let partitions = Int32(self.gateway.settings.partitions)
        for number in 0..<partitions {
            // The look-ups of many partitions may take long; without `recordProgress`, the loop would count as hung.
            self.follower.recordProgress()
            let partition = TopicPartition(PlazaTopic.userNotices.rawValue, number)
            let spanStart = try self.recentNoticeFinder.find(consumer, partition)
            // After a failure that lasted longer than the span, the notices before the span would be skipped. So
            // reading continues at the next unread offset if that is earlier. `spanStart` is negative if it stands for
            // the beginning of the partition; `lastReadOffset` is negative if no notice was read yet.
            let lastReadOffset = self.gateway.tables.lastNoticeOffset(ofPartition: Int(number))
            offsets[partition] = spanStart >= 0 && lastReadOffset >= 0 ? min(spanStart, lastReadOffset + 1) : spanStart
        }
        let replyPartition = PlazaTopic.partition(of: self.gateway.settings.id.text, among: Int(partitions))
        offsets[TopicPartition(PlazaTopic.replies.rawValue, Int32(replyPartition))] = LogicalOffset.end
        return offsets
    }

    /// Returns whether the tables count as filled only when the topic was read up to its end.
    ///
    /// It is false for notices, because a notice that is read after the tables are filled is sent to its user at once.
    func mustLoadFirst(topic: String) -> Bool { topic != PlazaTopic.userNotices.rawValue }

    /// Sends the buffered replies whose deadline has passed, and returns how long the next poll may wait.
    ///
    /// The gateway buffers a reply until the tables have the revision that the reply requires, or until the deadline of
    /// the reply. The poll may wait until the next such deadline or the next refresh of the ranking, at most 500 ms.
    func preparePoll() -> Duration {
        let now = MonotonicClock.now
        let refreshAt = MonotonicTime(milliseconds: self.rankingRefreshAt.load(ordering: .relaxed))
        let nextReplyAt = self.gateway.routeOverdueReplies()
        let deadline = min(nextReplyAt ?? refreshAt, refreshAt)
        return .milliseconds(max(1, min(Self.maxPollMilliseconds, (deadline - now).count)))
    }

    /// Reports that the tables are filled, so that the gateway can listen.
    func topicsLoaded() {
        self.gateway.tablesFilled()
        self.log.info("the tables are filled", [.count: .int(self.gateway.tables.sizes.liveRecords)])
    }

    /// Refreshes the ranking and prunes the notices, if that is due.
    func turnFinished() {
        guard MonotonicClock.now.milliseconds >= self.rankingRefreshAt.load(ordering: .relaxed) else { return }
        self.scheduleRankingRefresh()
        self.gateway.refreshRankingAndPruneNotices()
    }

    /// Logs a failure of the consumer, and reports it to the gateway.
    func readFailed(_ error: KafkaError) {
        ConsumerLoop.logFailure(
            error, "the tables cannot be read now", isStarting: !self.gateway.areTablesFilled, in: self.log)
        self.gateway.brokerConnectionLost()
    }

    /// Applies one record to the tables; a record that cannot be decoded is logged and skipped.
    func recordReceived(_ record: IncomingRecord) {
        guard let topic = PlazaTopic(rawValue: record.topic),
            let keyText = record.key.map({ String(decoding: $0, as: UTF8.self) })
        else { return }
        do throws(WireError) {
            switch topic {
            case .rooms:
                if let value = record.value {
                    self.gateway.received(try Wire.decode(LiveRecord.self, from: value))
                } else if let key = LiveKey(text: keyText) {
                    self.gateway.liveRemoved(key)
                }
            case .stages:
                if let value = record.value {
                    self.gateway.received(try Wire.decode(StageRecord.self, from: value))
                } else if let key = LiveKey(text: keyText) {
                    self.gateway.stageRemoved(key)
                }
            case .audienceCounts: try self.applyCount(record, keyText)
            case .apps:
                if let value = record.value {
                    self.gateway.received(try Wire.decode(AppRecord.self, from: value))
                }
            case .userNotices:
                // The in-memory broker delivers all notices; `includes` is false for those from before the span.
                guard let value = record.value, self.recentNoticeFinder.includes(record) else { return }
                let notice = try Wire.decode(Notice.self, from: value)
                self.gateway.received(notice, partition: Int(record.partition), offset: record.offset)
            case .replies:
                // The partition also contains the replies of other gateways.
                guard keyText == self.gateway.settings.id.text, let value = record.value else { return }
                self.gateway.received(try Wire.decode(Reply.self, from: value))
            // The follower reads no other topic.
            default: break
            }
        } catch {
            self.log.warning(
                "a record cannot be read",
                [
                    .topic: .string(record.topic), .partition: .int(Int(record.partition)),
                    .offset: .int(Int(record.offset)), .detail: .string("\(error)"),
                ])
        }
    }

    /// Applies a record of `audience.counts`: a live's viewer count, or the epoch of a presence partition.
    private func applyCount(_ record: IncomingRecord, _ keyText: String) throws(WireError) {
        if keyText.hasPrefix(PresenceEpochRecord.keyPrefix) {
            if let value = record.value {
                self.gateway.received(try Wire.decode(PresenceEpochRecord.self, from: value))
            }
        } else if let value = record.value {
            self.gateway.received(try Wire.decode(CountRecord.self, from: value))
        } else if let key = LiveKey(text: keyText) {
            self.gateway.countRemoved(key)
        }
    }
}
