// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of the seats and connections in the stages that the clients received.
extension HistoryChecker {
    /// Checks that no stage has a seat twice, or a user on two seats (I11).
    static func checkSeats(_ feeds: [FeedHistory]) -> [Finding] {
        feeds.flatMap { feed in
            feed.stages.flatMap { number, record -> [Finding] in
                let context = "\(feed.client) in \(feed.live), item \(number)"
                let repeatedSeats = Self.repeated(record.seats.map(\.index)).map { "seat \($0) is there twice" }
                let users = record.seats.compactMap { $0.occupant?.user.userID }
                let repeatedUsers = Self.repeated(users).map { "\($0) is on two seats" }
                return (repeatedSeats + repeatedUsers).map { Finding(promise: "I11", text: "\(context): \($0)") }
            }
        }
    }

    /// Checks that each connection that a live shows has 2 to 9 lives, this live among them, and that the other lives
    /// show the same connection (I12).
    ///
    /// A live shows a connection if any of its clients received it, because a gap may hide a stage from one of them.
    static func checkConnections(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        var shownByLive: [LiveID: Set<Connection>] = [:]
        for feed in history.feedsAndLogs {
            for (number, record) in feed.stages {
                guard let view = record.connection else { continue }
                let lives = view.members.map(\.live)
                let context = "\(feed.client) in \(feed.live), item \(number)"
                if !(2...Limits.coHostLives).contains(lives.count) {
                    findings.append(Finding(promise: "I12", text: "\(context): \(lives.count) lives are connected"))
                }
                for live in Self.repeated(lives) {
                    findings.append(Finding(promise: "I12", text: "\(context): \(live) is connected twice"))
                }
                if !lives.contains(feed.live) {
                    findings.append(Finding(promise: "I12", text: "\(context): it is not in its own connection"))
                }
                shownByLive[feed.live, default: []].insert(Connection(id: view.id, lives: Set(lives)))
            }
        }
        // It is not known what a live without clients shows, so such a live is not checked.
        let watchedLives = Set(history.feeds.map(\.live))
        for (live, connections) in shownByLive.sorted(by: { $0.key.text < $1.key.text }) {
            for connection in connections {
                let others = connection.lives.subtracting([live]).intersection(watchedLives)
                for other in others where shownByLive[other]?.contains(connection) != true {
                    findings.append(
                        Finding(
                            promise: "I12",
                            text: "\(live) was connected with \(other) in \(connection.id.text), "
                                + "and \(other) never showed that"))
                }
            }
        }
        return findings
    }

    /// A connection as a live shows it.
    private struct Connection: Hashable {
        var id: ConnectionID
        var lives: Set<LiveID>
    }

    /// The values that occur more than once, each of them once.
    private static func repeated<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        var repeated: Set<Value> = []
        return values.filter { !seen.insert($0).inserted && repeated.insert($0).inserted }
    }
}

extension FeedHistory {
    /// The stages that the client received, with the numbers of their items.
    fileprivate var stages: [(number: Int64, record: StageRecord)] {
        self.steps.compactMap {
            if case .item(_, let number, .stage(let record, _), _) = $0 { (number, record) } else { nil }
        }
    }
}
