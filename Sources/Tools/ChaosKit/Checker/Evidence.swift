// SPDX-License-Identifier: Apache-2.0
internal import LoadKit
internal import MachineKit
internal import PlazaModel

/// An excerpt of a history that shows a finding; `isShortest` says whether it was made as short as possible.
package struct Evidence: Hashable, Sendable, Codable {
    /// One event of the excerpt.
    package struct Event: Hashable, Sendable, Codable {
        /// The client that did or received what `message` says.
        package var client: String
        package var live: String?
        /// The epoch of an item in the live's feed; nil for any other event.
        package var epoch: Int64?
        /// The number of that item; nil for any other event.
        package var number: Int64?
        /// What the client did or received, with the id of the message if it is about one.
        package var message: String
        /// When, in milliseconds since 1970; nil if that was not recorded.
        package var time: Int64?

        init(client: String, live: LiveID?, message: String, at time: Timestamp?) {
            self.client = client
            self.live = live?.text
            self.message = message
            self.time = time?.milliseconds
        }

        /// A call, and how it came out.
        init(_ call: CallRecord) {
            let outcome =
                switch call.outcome {
                case .acknowledged(let number): number.map { "acknowledged as item \($0)" } ?? "acknowledged"
                case .rejected: "refused"
                case .unanswered: "no answer"
                }
            self.init(client: call.client, live: call.live, message: "\(call.action): \(outcome)", at: call.at)
        }

        /// A step of a client's feed: an item, a gap or the client's removal from the live.
        init(_ step: FeedHistory.Step, of feed: FeedHistory) {
            switch step {
            case .gap: self.init(client: feed.client, live: feed.live, message: "may miss items here", at: nil)
            case .removed: self.init(client: feed.client, live: feed.live, message: "is removed from it", at: nil)
            case .item(let epoch, let number, let content, let time):
                self.init(client: feed.client, live: feed.live, message: "gets \(content.evidenceText)", at: time)
                (self.epoch, self.number) = (epoch, number)
            }
        }

        /// What the app's server read about a battle.
        init(_ read: BattleRead) {
            let scores = read.scores.sorted { $0.key.text < $1.key.text }.map { "\($0.key) \($0.value)" }
            let state = read.hasEnded ? "over" : "running"
            self.init(
                client: "the app's server", live: nil,
                message: "reads battle \(read.battle.text): \(state), \(scores.joined(separator: ", "))", at: read.at)
        }

        /// What a client read of the metadata.
        init(_ read: MetadataRead) {
            let values = read.values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
            self.init(
                client: read.client, live: read.live, message: "reads the metadata \(values.joined(separator: ", "))",
                at: read.at)
        }

        /// A walk through the list of lives.
        init(_ walk: ListWalk) {
            let pages = walk.pages.map { "[\($0.map(\.text).joined(separator: ", "))]" }
            self.init(
                client: walk.name, live: nil, message: "gets the pages \(pages.joined(separator: " "))", at: walk.at)
        }

        /// The event as a line.
        var line: String {
            let place = self.live.map { " in \($0)" } ?? ""
            let position = self.number.map { " item \($0) of epoch \(self.epoch ?? 0):" } ?? ""
            return
                "\(self.time.map(Self.clockTime) ?? "--:--:--.---") \(self.client)\(place)\(position) \(self.message)"
        }

        /// The time of the day in UTC.
        private static func clockTime(_ milliseconds: Int64) -> String {
            // Exactly `count` digits of a value below 10,000, with zeros in front: 5 becomes "10005", then "05".
            func digits(_ value: Int64, _ count: Int) -> String {
                String(String(value + 10_000).suffix(count))
            }
            let seconds = milliseconds / 1000
            return [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map { digits($0, 2) }.joined(separator: ":")
                + ".\(digits(milliseconds % 1000, 3))"
        }
    }

    /// The finding, as the report names it.
    package var finding: String
    /// The events, by time.
    package var events: [Event]
    /// Whether no single event can be left out; false if the search ended at its limit, or if nothing was searched.
    package var isShortest: Bool

    package init(finding: String, events: [Event], isShortest: Bool) {
        self.finding = finding
        self.events = events
        self.isShortest = isShortest
    }

    /// Evidence of a finding about the load, whose viewers keep no history: the load's first incidents.
    init(finding: String, _ incidents: [LoadIncident]) {
        self.init(
            finding: finding,
            events: incidents.map { Event(client: $0.client, live: $0.live, message: $0.text, at: $0.at) },
            isShortest: false)
    }

    /// The maximum number of printed events; the report in JSON has all.
    private static let maxLines = 20

    /// The events as lines; if there are more than `maxLines` events, only the first and the last ones.
    package var lines: [String] {
        let lines = self.events.map(\.line)
        guard lines.count > Self.maxLines else { return lines }
        let half = Self.maxLines / 2
        return lines.prefix(half) + ["… \(lines.count - 2 * half) events more"] + lines.suffix(half)
    }
}

extension FeedContent {
    /// The content in a few words.
    fileprivate var evidenceText: String {
        switch self {
        case .text(_, let text, _): return "the text \"\(text)\""
        case .gift: return "the gift \"\(self.messageID ?? "")\""
        case .audienceJoined(let user, _): return "that \(user.userID) joined"
        case .audienceLeft(let user): return "that \(user.userID) left"
        case .metadataChanged(let set, let removed, let revision):
            let values = set.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" } + removed.map { "no \($0)" }
            return "metadata \(values.joined(separator: ", "))\(Self.text(of: revision))"
        case .infoChanged(_, let revision): return "the changed info\(Self.text(of: revision))"
        case .likes(let total, _, _): return "\(total) likes in all"
        case .liveEnded(_, let final):
            return "the end, with \(final.totalMessageCount) messages, \(final.totalGiftsSent) gifts and "
                + "\(final.totalLikesReceived) likes"
        case .stage(let record, let events): return Self.text(of: record, events)
        default: return "an item of the class \(self.feedClass.name)"
        }
    }

    private static func text(of revision: Int64?) -> String { revision.map { " (revision \($0))" } ?? "" }

    private static func text(of record: StageRecord, _ events: [StageEvent]) -> String {
        var parts = ["stage \(record.revision)"]
        for event in events {
            if case .battleStarted(let battle) = event { parts.append("battle \(battle.text) begins") }
            if case .battleEnded(let battle, let reason) = event {
                parts.append("battle \(battle.text) ends (\(reason.rawValue))")
            }
        }
        let seated = record.seats.compactMap { seat in
            seat.occupant.map { "\($0.user.userID) on seat \(seat.index)" }
        }
        if !seated.isEmpty { parts.append(seated.joined(separator: " and ")) }
        if let connection = record.connection {
            let lives = connection.members.map(\.live.text).joined(separator: " and ")
            parts.append("connection \(connection.id.text) of \(lives)")
        }
        if let view = record.battle {
            let scores = view.sides.map { "\($0.live) \($0.score)" }.joined(separator: ", ")
            parts.append("battle \(view.id.text) \(view.ended == nil ? "runs" : "is over"): \(scores)")
        }
        return parts.joined(separator: ", ")
    }
}
