// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of the contents of the events at the app's backend, which must agree with the feeds.
///
/// WEBHOOKS.md, section 3, lists the kinds of events.
extension HistoryChecker {
    /// The contents of each live's events at the backend, each once, in the order of their ids.
    private static func events(_ history: RoundHistory) -> [LiveID: [WebhookContent]] {
        var seen: Set<EventPlace> = []
        var places: [LiveID: [(place: EventPlace, content: WebhookContent)]] = [:]
        for request in history.backend?.requests ?? [] {
            guard case .event(let place, let event) = request.content, seen.insert(place).inserted else { continue }
            places[event.live, default: []].append((place, event.content))
        }
        return places.mapValues { $0.sorted { $0.place < $1.place }.map(\.content) }
    }

    /// Checks that the first event of a live is its only creation, and the last one its only end, with the same figures
    /// as in the feed (R14.15, R14.16).
    static func checkLiveEvents(_ history: RoundHistory) -> [Finding] {
        guard history.backend != nil else { return [] }
        let events = Self.events(history)
        return Self.completeFeeds(history).flatMap { feed -> [Finding] in
            let live = feed.live
            let contents = events[live] ?? []
            var findings: [Finding] = []
            let creations = contents.count { if case .roomCreated = $0 { true } else { false } }
            if creations != 1 {
                findings.append(Finding(promise: "R14.15", text: "the backend got \(creations) creations of \(live)"))
            } else if contents.first?.name != .roomCreated {
                findings.append(
                    Finding(promise: "R14.3", text: "the first event of \(live) at the backend is not its creation"))
            }
            let ends = contents.compactMap { content -> LiveStatistics? in
                if case .roomEnded(_, _, let statistics) = content { statistics } else { nil }
            }
            let final = feed.contents.compactMap { content -> LiveStatistics? in
                if case .liveEnded(_, let statistics) = content { statistics } else { nil }
            }
            if ends.count != final.count {
                findings.append(
                    Finding(
                        promise: "R14.16",
                        text: "the backend got \(ends.count) ends of \(live), whose feed has \(final.count)"))
            } else if ends != final {
                let text = "the end of \(live) has other figures at the backend than in its feed"
                findings.append(Finding(promise: "R14.16", text: text))
            } else if let last = contents.last, !ends.isEmpty, last.name != .roomEnded {
                findings.append(
                    Finding(
                        promise: "R14.3", text: "the backend got \(last.name.rawValue) of \(live) after its end"))
            }
            return findings
        }
    }

    /// Checks that the backend got each join and leave that a feed shows, in the order of the feed, and no leave of a
    /// user who never left (R14.13, I5).
    ///
    /// The backend may get more joins and leaves than the feed shows, because the feed's budget drops tips.
    static func checkMemberEvents(_ history: RoundHistory) -> [Finding] {
        guard history.backend != nil else { return [] }
        var findings: [Finding] = []
        let events = Self.events(history)
        for (live, contents) in events.sorted(by: { $0.key < $1.key }) where history.endedLives.contains(live) {
            for case .memberState(false, let cause, let users) in contents {
                for user in users where history.neverLeft.contains(user.userID) {
                    let text =
                        "the backend was told that \(user.userID) left \(live) (\(cause.rawValue)), who never did"
                    findings.append(Finding(promise: "I5", text: text))
                }
            }
        }
        for feed in Self.completeFeeds(history) {
            var reported: [UserID: [Bool]] = [:]
            for case .memberState(let isOnline, _, let users) in events[feed.live] ?? [] {
                for user in users { reported[user.userID, default: []].append(isOnline) }
            }
            var shown: [UserID: [Bool]] = [:]
            for content in feed.contents {
                if case .audienceJoined(let user, _) = content { shown[user.userID, default: []].append(true) }
                if case .audienceLeft(let user) = content { shown[user.userID, default: []].append(false) }
            }
            for (user, tips) in shown.sorted(by: { $0.key < $1.key }) {
                guard let index = (reported[user] ?? []).firstMissing(of: tips) else { continue }
                let change = tips[index] ? "joined" : "left"
                findings.append(
                    Finding(
                        promise: "R14.13",
                        text: "the feed of \(feed.live) shows that \(user) \(change) (tip \(index + 1) about it), "
                            + "and the backend was not told"))
            }
        }
        return findings
    }

    /// Checks that the backend got each change of the metadata once, in the order of the feed (R14.18).
    static func checkMetadataEvents(_ history: RoundHistory) -> [Finding] {
        guard history.backend != nil else { return [] }
        let events = Self.events(history)
        return Self.completeFeeds(history).compactMap { feed in
            let shown = feed.contents.compactMap { content -> [String: String]? in
                if case .metadataChanged(let set, _, _) = content, !set.isEmpty { set } else { nil }
            }
            let reported = (events[feed.live] ?? []).compactMap { content -> [String: String]? in
                if case .metadataSet(let values, _) = content { values } else { nil }
            }
            let count = max(shown.count, reported.count)
            guard let index = (0..<count).first(where: { shown.at($0) != reported.at($0) }) else { return nil }
            func text(_ values: [String: String]?) -> String {
                guard let values else { return "nothing" }
                return values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
            }
            return Finding(
                promise: "R14.18",
                text:
                    "change \(index + 1) of the metadata of \(feed.live) is \(text(shown.at(index))) in its feed, and "
                    + "\(text(reported.at(index))) at the backend")
        }
    }

    /// Checks that the backend got each occupation of the seats that a feed shows, in the order of the feed (R14.20).
    ///
    /// The backend may get more occupations than the feed shows, because stages are conflated: of several that follow
    /// each other quickly, the feed may have only the last one.
    static func checkSeatEvents(_ history: RoundHistory) -> [Finding] {
        guard history.backend != nil else { return [] }
        let events = Self.events(history)
        return Self.completeFeeds(history).compactMap { feed in
            let shown = feed.contents.compactMap { content -> [UserID?]? in
                if case .stage(let record, _) = content { record.seats.map { $0.occupant?.user.userID } } else { nil }
            }
            let reported = (events[feed.live] ?? []).compactMap { content -> [UserID?]? in
                if case .seatsChanged(let seats) = content { seats.map { $0.occupant?.user.userID } } else { nil }
            }
            // A stage whose seats did not change causes no event, and neither does a live without seats.
            let occupations = shown.withoutRepeats.filter { !$0.isEmpty }
            guard let index = reported.withoutRepeats.firstMissing(of: occupations) else { return nil }
            let users = occupations[index].compactMap { $0?.text }.joined(separator: ", ")
            return Finding(
                promise: "R14.20",
                text: "the feed of \(feed.live) shows \(users.isEmpty ? "nobody" : users) on the seats "
                    + "(change \(index + 1)), and the backend was not told")
        }
    }

    /// Checks that the backend got request, begin and end of each battle once, in this order, with the scores that were
    /// read afterwards (R14.21).
    static func checkBattleEvents(_ history: RoundHistory) -> [Finding] {
        guard history.backend != nil else { return [] }
        let events = Self.events(history).values.joined()
        return history.battles.keys.sorted { $0.text < $1.text }.flatMap { battle -> [Finding] in
            var kinds: [WebhookName] = []
            var scores: [LiveID: Int64]?
            for content in events {
                switch content {
                case .battleCreated(battle, _, _, _, _, _, _), .battleStarted(battle, _, _, _, _, _):
                    kinds.append(content.name)
                case .battleEnded(battle, let from, let to, _, _, _, _):
                    kinds.append(content.name)
                    scores = Dictionary(([from] + to).map { ($0.live, $0.score) }) { first, _ in first }
                default: break
                }
            }
            guard kinds == [.battleCreated, .battleStarted, .battleEnded] else {
                let names = kinds.isEmpty ? "nothing" : kinds.map(\.rawValue).joined(separator: ", ")
                return [Finding(promise: "R14.21", text: "of battle \(battle.text) the backend got \(names)")]
            }
            let read = history.battleReads.last { $0.battle == battle && $0.hasEnded }
            guard let read, read.scores != scores else { return [] }
            let text = "the end of battle \(battle.text) has other scores at the backend than read"
            return [Finding(promise: "R14.21", text: text)]
        }
    }
}

extension Array where Element: Equatable {
    /// Looks for the entries of `other` in this array, in their order; other entries may stand between them.
    ///
    /// - Returns: the index in `other` of the first entry that is not found; nil if all are found.
    fileprivate func firstMissing(of other: [Element]) -> Int? {
        var rest = self[...]
        for (position, entry) in other.enumerated() {
            guard let index = rest.firstIndex(of: entry) else { return position }
            rest = rest[(index + 1)...]
        }
        return nil
    }

    /// The array without each entry that equals the one before it.
    fileprivate var withoutRepeats: [Element] {
        self.indices.filter { $0 == self.startIndex || self[$0] != self[$0 - 1] }.map { self[$0] }
    }

    /// The entry at an index; nil after the last one.
    fileprivate func at(_ index: Int) -> Element? { self.indices.contains(index) ? self[index] : nil }
}
