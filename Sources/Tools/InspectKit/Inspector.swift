// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
package import MachineKit
package import PlazaModel

/// Reads the records that a replay needs, one topic after another, and replays them.
///
/// A replay here turns records into lines that tell people what happened in a live, or what became of a user's calls.
///
/// All methods block their thread.
package struct Inspector {
    /// What to replay.
    package struct Query: Sendable {
        package var app: AppID
        /// The live to replay; in the replay of a user, the live to which the result is limited, nil for all lives.
        package var live: LiveID?
        /// The user to replay; nil to replay the live.
        package var user: UserID?
        /// The length of the replay's window of time, which ends now.
        package var lookBack: Milliseconds
        /// The presence lease: how long a client without heartbeats stays in a live.
        package var lease: Milliseconds

        package init(app: AppID, live: LiveID?, user: UserID?, lookBack: Milliseconds, lease: Milliseconds) {
            self.app = app
            self.live = live
            self.user = user
            self.lookBack = lookBack
            self.lease = lease
        }
    }

    private static let inboxes: [PlazaTopic] = [
        .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox,
    ]
    /// How long before the window the reading of calls begins.
    ///
    /// A feed item is newer than its call, so the call of the window's first item may lie before the window.
    private static let callLead: Milliseconds = .seconds(30)

    private let scanner: TopicScanner
    private let query: Query
    private let window: ClosedRange<Timestamp>
    private let partitionCount: Int
    /// The records that were read so far.
    private var entries: [TopicEntry] = []
    /// One readable sentence for each part of the data that could not be read.
    package private(set) var gaps: [String] = []

    /// - Parameters:
    ///   - scanner: the connection to the brokers.
    ///   - query: what to read.
    ///   - now: the end of the window.
    /// - Throws: `unknownTopic` when the brokers have no topics of LivePlaza, or the broker's error.
    package init(_ scanner: TopicScanner, _ query: Query, now: Timestamp) throws(KafkaError) {
        self.scanner = scanner
        self.query = query
        self.window = (now - query.lookBack)...now
        self.partitionCount = try scanner.partitions()
    }

    /// Replays a live.
    ///
    /// - Throws: the broker's error.
    package mutating func replay(_ live: LiveID) throws(KafkaError) -> LiveReplay.Result {
        let key = LiveKey(self.query.app, live)
        let start = self.window.lowerBound
        let hasLiveKey: @Sendable (IncomingRecord) -> Bool = { [text = Array(key.text.utf8)] in $0.key == text }
        let livePartition = [Int32(PlazaTopic.partition(of: key.text, among: self.partitionCount))]
        // These topics hold only the latest record of each live, which may be older than the window.
        for topic in [PlazaTopic.rooms, .stages, .audienceCounts] {
            try self.read(TopicScan(topic, partitions: livePartition, from: nil, isIncluded: hasLiveKey))
        }
        // Each member sends a heartbeat within a lease, so the members at the beginning of the window are found.
        try self.read(
            TopicScan(
                .audienceInbox, partitions: livePartition, from: start - self.query.lease - Self.callLead,
                isIncluded: hasLiveKey))
        for topic in [PlazaTopic.barrageInbox, .seatInbox] {
            try self.read(
                TopicScan(topic, partitions: livePartition, from: start - Self.callLead, isIncluded: hasLiveKey))
        }
        let quotedLive = Array("\"\(live.text)\"".utf8)
        let appKey = Array(self.query.app.text.utf8)
        let mentionsLive: @Sendable (IncomingRecord) -> Bool = { record in
            guard let key = record.key, key == appKey || key.starts(with: appKey + [UInt8(ascii: "/")]) else {
                return false
            }
            return record.value?.contains(quotedLive) ?? false
        }
        // A command that creates a live has the owner's key, and the owner is not known here. So all partitions of the
        // directory's inbox are read. A co-host command has the app's key.
        try self.read(TopicScan(.directoryInbox, from: start - Self.callLead, isIncluded: mentionsLive))
        let appPartition = [Int32(PlazaTopic.partition(of: self.query.app.text, among: self.partitionCount))]
        try self.read(
            TopicScan(.connectionInbox, partitions: appPartition, from: start - Self.callLead, isIncluded: mentionsLive)
        )
        try self.read(TopicScan(.roomFeed, partitions: livePartition, from: start, isIncluded: hasLiveKey))
        try self.readAnswers(
            sessions: Set(self.entries.compactMap { InboxCall($0)?.request.session.text }), from: start)
        return LiveReplay.run(key, window: self.window, lease: self.query.lease, entries: self.entries)
    }

    /// Replays a user's calls with their answers, and the user's notices.
    ///
    /// - Throws: the broker's error.
    package mutating func replay(_ user: UserID) throws(KafkaError) -> [UserReplay.Line] {
        let key = UserKey(self.query.app, user)
        let start = self.window.lowerBound
        let quotedUserID = Array("\"userID\":\"\(user.text)\"".utf8)
        let mentionsUser: @Sendable (IncomingRecord) -> Bool = { $0.value?.contains(quotedUserID) ?? false }
        for topic in Self.inboxes { try self.read(TopicScan(topic, from: start, isIncluded: mentionsUser)) }
        let noticePartition = [Int32(PlazaTopic.partition(of: key.text, among: self.partitionCount))]
        try self.read(
            TopicScan(.userNotices, partitions: noticePartition, from: start) { [text = Array(key.text.utf8)] in
                $0.key == text
            })
        let lives = Set(
            self.entries.compactMap { InboxCall($0) }.filter { $0.user == user && $0.isMessage }.compactMap(\.live))
        let feedPartitions = Set(
            lives.map { Int32(PlazaTopic.partition(of: LiveKey(key.app, $0).text, among: self.partitionCount)) })
        if !feedPartitions.isEmpty {
            try self.read(
                TopicScan(.roomFeed, partitions: feedPartitions.sorted(), from: start, isIncluded: mentionsUser))
        }
        try self.readAnswers(sessions: UserReplay.sessions(of: key, in: self.entries), from: start)
        return UserReplay.run(key, live: self.query.live, window: self.window, entries: self.entries)
    }

    /// Reads the replies to the calls of these sessions, and all dead letters (inputs that a machine could not
    /// process).
    private mutating func readAnswers(sessions: Set<String>, from start: Timestamp) throws(KafkaError) {
        let from = start - Self.callLead
        if !sessions.isEmpty {
            try self.read(
                TopicScan(.replies, from: from) { record in
                    guard let value = record.value, let session = ReplySession.find(in: value) else { return false }
                    return sessions.contains(session)
                })
        }
        try self.read(TopicScan(.deadLetters, from: from) { _ in true })
    }

    /// Adds the records of a scan to `entries`, and a sentence to `gaps` if records are missing.
    private mutating func read(_ scan: TopicScan) throws(KafkaError) {
        if let gap = try self.scanner.read(scan, into: &self.entries) { self.gaps.append(gap) }
    }
}

/// Finds the session in the bytes of a reply.
package enum ReplySession {
    /// The session of the call that a reply answers; nil if the bytes name none.
    ///
    /// The bytes are searched instead of decoded, because the topic holds the replies to all users.
    package static func find(in reply: [UInt8]) -> String? {
        let marker = Array("\"session\":\"".utf8)
        guard reply.count > marker.count else { return nil }
        // The outcome may contain a field `session` too. The fields of a reply are sorted by name, so `request`, which
        // has the wanted session, comes after `outcome`. So the last marker is the right one.
        for start in stride(from: reply.count - marker.count, through: 0, by: -1)
        where reply[start] == marker[0] && reply[start..<(start + marker.count)].elementsEqual(marker) {
            let bytesAfterMarker = reply[(start + marker.count)...]
            return bytesAfterMarker.firstIndex(of: UInt8(ascii: "\"")).map {
                String(decoding: bytesAfterMarker[..<$0], as: UTF8.self)
            }
        }
        return nil
    }
}
