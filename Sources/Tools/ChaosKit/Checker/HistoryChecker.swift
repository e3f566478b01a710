// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Finds the promises that were broken in a round, from the histories of its clients.
///
/// The result depends only on the history, so that a test can put each kind of fault into a history.
package enum HistoryChecker {
    /// The maximum number of findings of one check; further findings of the same kind are left out.
    static let maxFindingsPerCheck = 5

    /// All broken promises of a round; empty if every promise held.
    package static func findings(in history: RoundHistory) -> [Finding] {
        let checks = [
            Self.checkOrder(history), Self.checkAgreement(history), Self.checkEnds(history), Self.checkTexts(history),
            Self.checkBattles(history), Self.checkRequests(history), Self.checkLeaves(history),
            Self.checkCounts(history),
            history.stalls.map { Finding(promise: "recovery", text: $0) },
        ]
        return checks.flatMap { $0.prefix(Self.maxFindingsPerCheck) }
    }

    /// Checks that each feed's numbers go up by one, except where the server announced a gap (I7).
    private static func checkOrder(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feeds {
            var previous: (epoch: Int64, number: Int64)?
            var isAfterGap = false
            for step in feed.steps {
                guard case .item(let epoch, let number, _) = step else {
                    isAfterGap = true
                    continue
                }
                defer {
                    previous = (epoch, number)
                    isAfterGap = false
                }
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
        for feed in history.feeds {
            for case .item(let epoch, let number, let content) in feed.steps {
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

    /// Checks that each client of an ended live received one end, as the last item, and no other client did (I1).
    private static func checkEnds(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feeds {
            let contents = feed.contents
            let ends = contents.filter(\.isEnd).count
            let expected = history.endedLives.contains(feed.live) ? 1 : 0
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

    /// Checks that each acknowledged text is in the feed once, under the number that the reply named, and that any
    /// other text is in the feed at most once (I7, I8, I15).
    private static func checkTexts(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feeds {
            guard let sent = history.texts[feed.live] else { continue }
            var receivedNumbers: [String: [Int64]] = [:]
            for case .item(_, let number, .text(_, let text, _)) in feed.steps {
                receivedNumbers[text, default: []].append(number)
            }
            for (text, acknowledgedNumber) in sent.sorted(by: { $0.key < $1.key }) {
                let numbers = receivedNumbers[text] ?? []
                let message = "\"\(text)\" in \(feed.live)"
                if numbers.count > 1 {
                    findings.append(
                        Finding(
                            promise: "I15", text: "\(feed.client) got \(message) \(numbers.count) times: \(numbers)"))
                }
                guard let acknowledgedNumber else { continue }
                if numbers.isEmpty, !feed.hasGap(at: acknowledgedNumber) {
                    findings.append(
                        Finding(promise: "I8", text: "\(message) was acknowledged, and \(feed.client) never got it"))
                } else if let number = numbers.first, number != acknowledgedNumber {
                    findings.append(
                        Finding(
                            promise: "I7",
                            text: "\(message) was acknowledged as item \(acknowledgedNumber) and came as \(number)"))
                }
            }
        }
        return findings
    }

    /// Checks that no client received a tip that a user left who has never left (I5).
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

    /// Checks that each request has exactly one end (I13).
    private static func checkRequests(_ history: RoundHistory) -> [Finding] {
        history.requests.filter { $0.ends.count != 1 }.map { request in
            let ends = request.ends.isEmpty ? "none" : request.ends.joined(separator: ", ")
            return Finding(promise: "I13", text: "\(request.name) has \(request.ends.count) ends: \(ends)")
        }
    }

    /// Checks that the last count of each live is the number of its members (I5).
    private static func checkCounts(_ history: RoundHistory) -> [Finding] {
        history.counts.filter { $0.lastCount != $0.members }.map { count in
            let lastCount = count.lastCount.map { "\($0)" } ?? "unknown"
            return Finding(
                promise: "I5", text: "\(count.live) has \(count.members) viewers, and its count stayed \(lastCount)")
        }
    }
}
