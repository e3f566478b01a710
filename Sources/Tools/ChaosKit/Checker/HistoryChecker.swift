// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Finds the promises that were broken in a round, from the histories of its clients.
///
/// A promise is an invariant (`I1` and so on) or a rule (such as `R5.7`) of docs/RULES.md, or `recovery`: each step of
/// a round succeeds in time. The findings depend only on the history, so a test can put any broken promise into a
/// history.
package enum HistoryChecker {
    /// The maximum number of findings of one check; further findings of the same kind are left out.
    static let maxFindingsPerCheck = 5

    /// One check; each finds another kind of broken promise.
    enum Check: CaseIterable {
        case order, log, agreement, budgets, ends, messages, removals, battles, battleReads, totals, metadata, revisions
        case seats, connections, listWalks, requests, leaves, counts, wrongAnswers, missingAnswers, stalls
        case requestForms, deliveryOrder, deliveries, questions
        case liveEvents, memberEvents, metadataEvents, seatEvents, battleEvents

        /// The checks of what the app's backend received; they compare it with what Kafka has.
        static let ofBackend: [Check] = [
            .requestForms, .deliveryOrder, .deliveries, .questions, .liveEvents, .memberEvents, .metadataEvents,
            .seatEvents, .battleEvents,
        ]

        /// The checks that read Kafka's log of the feeds.
        static let ofLog: [Check] =
            ofBackend + [
                .log, .agreement, .budgets, .ends, .messages, .battles, .totals, .metadata, .revisions, .seats,
                .connections,
            ]
    }

    /// All broken promises of a round; empty if every promise held.
    package static func findings(in history: RoundHistory) -> [Finding] {
        Check.allCases.flatMap { Self.findings(of: $0, in: history).prefix(Self.maxFindingsPerCheck) }
    }

    /// The findings of one check.
    static func findings(of check: Check, in history: RoundHistory) -> [Finding] {
        switch check {
        case .order: self.checkOrder(history.feeds)
        case .log: self.checkLogs(history)
        case .agreement: self.checkAgreement(history)
        case .budgets: self.checkBudgets(history)
        case .ends: self.checkEnds(history)
        case .messages: self.checkMessages(history)
        case .removals: self.checkRemovals(history)
        case .battles: self.checkBattles(history)
        case .battleReads: self.checkBattleReads(history)
        case .totals: self.checkTotals(history)
        case .metadata: self.checkMetadata(history)
        case .revisions: self.checkRevisions(history)
        case .seats: self.checkSeats(history.feedsAndLogs)
        case .connections: self.checkConnections(history)
        case .listWalks: self.checkListWalks(history)
        case .requests: self.checkRequests(history)
        case .leaves: self.checkLeaves(history)
        case .counts: self.checkCounts(history)
        // The workload has found wrong answers and stalls already, during the round.
        case .wrongAnswers: history.wrongAnswers
        case .missingAnswers: self.checkMissingAnswers(history)
        case .stalls: history.stalls.map { Finding(promise: "recovery", text: $0) }
        case .requestForms: self.checkRequestForms(history)
        case .deliveryOrder: self.checkDeliveryOrder(history)
        case .deliveries: self.checkDeliveries(history)
        case .questions: self.checkQuestions(history)
        case .liveEvents: self.checkLiveEvents(history)
        case .memberEvents: self.checkMemberEvents(history)
        case .metadataEvents: self.checkMetadataEvents(history)
        case .seatEvents: self.checkSeatEvents(history)
        case .battleEvents: self.checkBattleEvents(history)
        }
    }

    /// Checks that the item numbers of each feed grow by one, or by more only after a gap or a removal (I7).
    private static func checkOrder(_ feeds: [FeedHistory]) -> [Finding] {
        var findings: [Finding] = []
        for feed in feeds {
            var previous: (epoch: Int64, number: Int64)?
            var isAfterGap = false
            for step in feed.steps {
                guard case .item(let epoch, let number, _, _) = step else {
                    // The step is a gap or a removal; a removal is treated like a gap.
                    isAfterGap = true
                    continue
                }
                defer {
                    previous = (epoch, number)
                    isAfterGap = false
                }
                // In a new epoch (a new live with the same id) the numbers start again.
                guard let previous, previous.epoch == epoch else { continue }
                let context = "\(feed.client) in \(feed.live)"
                if number <= previous.number {
                    findings.append(
                        Finding(
                            promise: "I7",
                            text: "\(context) got item \(number) again or late, after \(previous.number)"))
                } else if number > previous.number + 1, !isAfterGap {
                    let missing = "items \(previous.number + 1) to \(number - 1)"
                    findings.append(
                        Finding(promise: "I7", text: "\(context) lacks \(missing), without a gap announced"))
                }
            }
        }
        return findings
    }

    /// Checks that all clients of a live received the same item under the same number (I7).
    private static func checkAgreement(_ history: RoundHistory) -> [Finding] {
        struct ItemPosition: Hashable {
            var live: LiveID
            var epoch: Int64
            var number: Int64
        }
        var firstReceived: [ItemPosition: (client: String, content: FeedContent)] = [:]
        var findings: [Finding] = []
        // What Kafka has comes first, so that a finding names the client that got something else.
        for feed in history.logs + history.feeds {
            for case .item(let epoch, let number, let content, _) in feed.steps {
                let position = ItemPosition(live: feed.live, epoch: epoch, number: number)
                guard let first = firstReceived[position] else {
                    firstReceived[position] = (feed.client, content)
                    continue
                }
                if first.content != content {
                    findings.append(
                        Finding(
                            promise: "I7",
                            text: "item \(number) of \(feed.live) differs between \(first.client) and \(feed.client)"))
                }
            }
        }
        return findings
    }

    /// Checks that Kafka has each feed from number 1 on, each number once, and each item that a client received (I7,
    /// I8).
    private static func checkLogs(_ history: RoundHistory) -> [Finding] {
        var findings = self.checkOrder(history.logs)
        let logs = Dictionary(history.logs.map { ($0.live, $0) }) { first, _ in first }
        for (live, log) in logs.sorted(by: { $0.key.text < $1.key.text }) {
            if case .item(_, let number, _, _)? = log.steps.first, number != 1 {
                findings.append(Finding(promise: "I7", text: "the feed of \(live) begins with item \(number) in Kafka"))
            }
        }
        for feed in history.feeds {
            guard let log = logs[feed.live] else {
                // Without any log, Kafka was not read.
                if !history.logs.isEmpty, feed.steps.contains(where: \.isItem) {
                    findings.append(
                        Finding(
                            promise: "I8",
                            text: "\(feed.client) got items of \(feed.live), of which Kafka has none"))
                }
                continue
            }
            let stored = Set(log.steps.compactMap(\.position))
            for position in feed.steps.compactMap(\.position) where !stored.contains(position) {
                findings.append(
                    Finding(
                        promise: "I8",
                        text: "\(feed.client) in \(feed.live) got item \(position.number), which Kafka does not have"))
            }
        }
        return findings
    }

    /// Checks that each client of an ended live received one end as the last item, and that no other client received
    /// an end (I1).
    private static func checkEnds(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feedsAndLogs {
            let contents = feed.contents
            let ends = contents.filter(\.isEnd).count
            let expected = history.endedLives.contains(feed.live) && !feed.hasLeft ? 1 : 0
            if ends != expected {
                findings.append(
                    Finding(
                        promise: "I1",
                        text: "\(feed.client) was told \(ends) times that \(feed.live) ended, not \(expected)"))
            } else if ends == 1, contents.last?.isEnd != true {
                findings.append(Finding(promise: "I1", text: "\(feed.client) got items of \(feed.live) after its end"))
            }
        }
        return findings
    }

    /// Checks that no client received items after it was kicked or banned (I6).
    private static func checkRemovals(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feeds {
            var isRemoved = false
            for step in feed.steps {
                switch step {
                case .removed: isRemoved = true
                // In a gap the client may have joined again.
                case .gap: isRemoved = false
                case .item(_, let number, _, _):
                    guard isRemoved else { continue }
                    findings.append(
                        Finding(
                            promise: "I6",
                            text: "\(feed.client) was removed from \(feed.live), and got item \(number) afterwards"))
                }
            }
        }
        return findings
    }

    /// Checks that no client received a leave tip about a user who never left (I5).
    private static func checkLeaves(_ history: RoundHistory) -> [Finding] {
        history.feeds.flatMap { feed in
            feed.contents.compactMap { content in
                guard case .audienceLeft(let user) = content, history.neverLeft.contains(user.userID) else {
                    return nil
                }
                return Finding(
                    promise: "I5", text: "\(feed.client) was told that \(user.userID) left \(feed.live), who never did")
            }
        }
    }

    /// Checks that each walk through the list returned exactly once each live that ran during all walks (I3).
    private static func checkListWalks(_ history: RoundHistory) -> [Finding] {
        let lives = history.livesOfAllWalks.sorted()
        return history.listWalks.flatMap { walk in
            lives.compactMap { live in
                let count = walk.pages.joined().count { $0 == live }
                guard count != 1 else { return nil }
                return Finding(promise: "I3", text: "\(walk.name) of the list has \(live) \(count) times")
            }
        }
    }

    /// Checks that each request has exactly one end (I13).
    private static func checkRequests(_ history: RoundHistory) -> [Finding] {
        history.requests.filter { $0.ends.count != 1 }.map { request in
            let ends = request.ends.isEmpty ? "none" : request.ends.joined(separator: ", ")
            return Finding(promise: "I13", text: "\(request.name) has \(request.ends.count) ends: \(ends)")
        }
    }

    /// Checks that each call that was sent after the recovery from the fault has a known outcome.
    ///
    /// Before the recovery, a client may be unable to learn the outcome of a call.
    private static func checkMissingAnswers(_ history: RoundHistory) -> [Finding] {
        guard let due = history.answersDueFrom else { return [] }
        return history.calls.filter { call in
            call.outcome == .unanswered && (call.at.map { $0 >= due } ?? false)
        }.map { call in
            Finding(
                promise: "recovery",
                text: "\(call.client) \(call.action) in \(call.live) after the recovery, and gets "
                    + (call.code.map { "only \($0.name)" } ?? "no answer"))
        }
    }

    /// Checks that the last audience count of each live is the number of its viewers (I5).
    private static func checkCounts(_ history: RoundHistory) -> [Finding] {
        history.counts.filter { $0.lastCount != $0.members }.map { count in
            let lastCount = count.lastCount.map { "\($0)" } ?? "unknown"
            return Finding(
                promise: "I5", text: "\(count.live) has \(count.members) viewers, and its count stayed \(lastCount)")
        }
    }
}
