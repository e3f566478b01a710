// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
package import MachineKit
package import PlazaModel

/// Reads the records that a replay needs, topic after topic, and replays them.
///
/// All methods block their thread.
package struct Inspector {
    /// What to replay.
    package struct Query: Sendable {
        package var app: AppID
        package var live: LiveID?
        package var user: UserID?
        /// The length of the window of time, which ends now.
        package var last: Milliseconds
        /// The presence lease: how long a client without heartbeats stays in a live.
        package var lease: Milliseconds

        package init(app: AppID, live: LiveID?, user: UserID?, last: Milliseconds, lease: Milliseconds) {
            self.app = app
            self.live = live
            self.user = user
            self.last = last
            self.lease = lease
        }
    }

    private static let inboxes: [PlazaTopic] = [
        .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox,
    ]
    /// How long before the window calls are read, because the call of the first feed item in the window is older than
    /// the item.
    private static let callLead: Milliseconds = .seconds(30)

    private let scanner: TopicScanner
    private let query: Query
    private let window: ClosedRange<Timestamp>
    private let partitionCount: Int
    private var entries: [TopicEntry] = []
    /// Sentences that name the data that was not read.
    package private(set) var gaps: [String] = []

    /// - Parameters:
    ///   - scanner: the connection to the brokers.
    ///   - query: what to read.
    ///   - now: the end of the window.
    /// - Throws: the broker's error, or `unknownTopic`.
    package init(_ scanner: TopicScanner, _ query: Query, now: Timestamp) throws(KafkaError) {
        self.scanner = scanner
        self.query = query
        self.window = (now - query.last)...now
        self.partitionCount = try scanner.partitions()
    }

    /// Replays a live.
    ///
    /// - Throws: the broker's error.
    package mutating func replay(_ live: LiveID) throws(KafkaError) -> LiveReplay.Result {
        let key = LiveKey(self.query.app, live)
        let start = self.window.lowerBound
        let isOfLive: @Sendable (IncomingRecord) -> Bool = { [text = Array(key.text.utf8)] in $0.key == text }
        let partition = [Int32(PlazaTopic.partition(of: key.text, among: self.partitionCount))]
        for topic in [PlazaTopic.rooms, .stages, .audienceCounts] {
            try self.read(TopicScan(topic, partitions: partition, from: nil, keeps: isOfLive))
        }
        try self.read(
            TopicScan(
                .audienceInbox, partitions: partition, from: start - self.query.lease - Self.callLead, keeps: isOfLive))
        for topic in [PlazaTopic.barrageInbox, .seatInbox] {
            try self.read(
                TopicScan(topic, partitions: partition, from: start - Self.callLead, keeps: isOfLive))
        }
        let name = Array("\"\(live.text)\"".utf8)
        let app = Array(self.query.app.text.utf8)
        let ofOwnerOrLive: @Sendable (IncomingRecord) -> Bool = { record in
            guard let key = record.key, key == app || key.starts(with: app + [UInt8(ascii: "/")]) else { return false }
            return record.value?.contains(name) ?? false
        }
        // Commands that create a live are keyed by its owner, who is not known here, so all partitions are read.
        // Co-host commands are keyed by the app.
        try self.read(TopicScan(.directoryInbox, from: start - Self.callLead, keeps: ofOwnerOrLive))
        let appPartition = [Int32(PlazaTopic.partition(of: self.query.app.text, among: self.partitionCount))]
        try self.read(
            TopicScan(.connectionInbox, partitions: appPartition, from: start - Self.callLead, keeps: ofOwnerOrLive))
        try self.read(TopicScan(.roomFeed, partitions: partition, from: start, keeps: isOfLive))
        try self.readAnswers(
            sessions: Set(self.entries.compactMap { CallRecord($0)?.request.session.text }), from: start)
        return LiveReplay.run(key, window: self.window, lease: self.query.lease, entries: self.entries)
    }

    /// Finds what became of a user's calls.
    ///
    /// - Throws: the broker's error.
    package mutating func replay(_ user: UserID) throws(KafkaError) -> [UserReplay.Line] {
        let key = UserKey(self.query.app, user)
        let start = self.window.lowerBound
        let name = Array("\"userID\":\"\(user.text)\"".utf8)
        let hasUser: @Sendable (IncomingRecord) -> Bool = { $0.value?.contains(name) ?? false }
        for topic in Self.inboxes { try self.read(TopicScan(topic, from: start, keeps: hasUser)) }
        let notices = [Int32(PlazaTopic.partition(of: key.text, among: self.partitionCount))]
        try self.read(
            TopicScan(.userNotices, partitions: notices, from: start) { [text = Array(key.text.utf8)] in
                $0.key == text
            })
        let lives = Set(
            self.entries.compactMap { CallRecord($0) }.filter { $0.user == user && $0.isMessage }.compactMap(\.live))
        let partitions = Set(
            lives.map { Int32(PlazaTopic.partition(of: LiveKey(key.app, $0).text, among: self.partitionCount)) })
        if !partitions.isEmpty {
            try self.read(TopicScan(.roomFeed, partitions: partitions.sorted(), from: start, keeps: hasUser))
        }
        try self.readAnswers(sessions: UserReplay.sessions(of: key, in: self.entries), from: start)
        return UserReplay.run(key, live: self.query.live, window: self.window, entries: self.entries)
    }

    /// Reads the answers to the calls of these sessions, and the dead letters.
    private mutating func readAnswers(sessions: Set<String>, from start: Timestamp) throws(KafkaError) {
        guard !sessions.isEmpty else { return }
        let from = start - Self.callLead
        try self.read(
            TopicScan(.replies, from: from) { record in
                guard let value = record.value, let session = ReplySession.find(in: value) else { return false }
                return sessions.contains(session)
            })
        try self.read(TopicScan(.deadLetters, from: from) { _ in true })
    }

    private mutating func read(_ scan: TopicScan) throws(KafkaError) {
        if let gap = try self.scanner.read(scan, into: &self.entries) { self.gaps.append(gap) }
    }
}

/// Finds the session of an answer in its bytes.
package enum ReplySession {
    /// The session that a reply's bytes name; nil if there is none.
    ///
    /// Scanned instead of decoded, because the topic holds the answers of all users.
    package static func find(in reply: [UInt8]) -> String? {
        let mark = Array("\"session\":\"".utf8)
        // The members of a reply are sorted by name, so `request` follows the outcome and has the last match.
        guard reply.count > mark.count else { return nil }
        for start in stride(from: reply.count - mark.count, through: 0, by: -1)
        where reply[start] == mark[0] && reply[start..<(start + mark.count)].elementsEqual(mark) {
            let rest = reply[(start + mark.count)...]
            return rest.firstIndex(of: UInt8(ascii: "\"")).map { String(decoding: rest[..<$0], as: UTF8.self) }
        }
        return nil
    }
}
