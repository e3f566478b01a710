// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of texts, gifts and likes.
extension HistoryChecker {
    /// Checks the texts and gifts (I7, I8, I15, R5.7).
    ///
    /// - An acknowledged one is in the feed once, under the number that its reply named.
    /// - A rejected one is not in the feed.
    /// - An unanswered one is in the feed at most once.
    /// - No text of a muted user was acknowledged.
    static func checkMessages(_ history: RoundHistory) -> [Finding] {
        var calls: [LiveID: [(id: String, call: CallRecord, isMuted: Bool)]] = [:]
        var findings: [Finding] = []
        for call in history.calls {
            guard case .message(let id, let isMuted) = call.call else { continue }
            calls[call.live, default: []].append((id, call, isMuted))
            if isMuted, case .acknowledged = call.outcome {
                findings.append(
                    Finding(promise: "R5.7", text: "\(call.client), who was muted, sent \"\(id)\" in \(call.live)"))
            }
        }
        for feed in history.feedsAndLogs {
            let numbers = feed.messageNumbers
            for sent in calls[feed.live] ?? [] {
                findings += Self.findings(about: sent.id, sent.call.outcome, numbers[sent.id] ?? [], in: feed)
            }
        }
        return findings
    }

    /// Checks how often, and under which numbers, one client received one message.
    private static func findings(
        about id: String, _ outcome: CallRecord.Outcome, _ numbers: [Int64], in feed: FeedHistory
    ) -> [Finding] {
        var findings: [Finding] = []
        let message = "\"\(id)\" in \(feed.live)"
        if numbers.count > 1 {
            findings.append(
                Finding(promise: "I15", text: "\(feed.client) got \(message) \(numbers.count) times: \(numbers)"))
        }
        switch outcome {
        case .acknowledged(let acknowledgedNumber?):
            if numbers.isEmpty, !feed.hasGap(at: acknowledgedNumber) {
                findings.append(
                    Finding(
                        promise: "I8",
                        text: "\(message) was acknowledged, and \(feed.client) never got it"
                            + feed.neighbors(of: acknowledgedNumber)))
            } else if let number = numbers.first, number != acknowledgedNumber {
                findings.append(
                    Finding(
                        promise: "I7",
                        text: "\(message) was acknowledged as item \(acknowledgedNumber) and came as \(number)"))
            }
        case .rejected where !numbers.isEmpty:
            findings.append(Finding(promise: "I15", text: "\(message) was rejected, and came to \(feed.client)"))
        case .acknowledged, .rejected, .unanswered: break
        }
        return findings
    }

    /// Checks the totals of each live (I15): its number of likes never falls and never exceeds what was sent, and its
    /// final statistics agree with the calls and with the feed.
    static func checkTotals(_ history: RoundHistory) -> [Finding] {
        let lives = Set(history.feeds.map(\.live)).sorted { $0.text < $1.text }
        let likes = Dictionary(
            uniqueKeysWithValues: lives.map { live in
                (
                    live,
                    history.calls.bounds { if case .likes(let count) = $0.call, $0.live == live { count } else { nil } }
                )
            })
        return history.feedsAndLogs.flatMap { Self.checkTotals(of: $0, likes: likes[$0.live] ?? SumBounds()) }
    }

    private static func checkTotals(of feed: FeedHistory, likes: SumBounds) -> [Finding] {
        var findings: [Finding] = []
        // The statistics according to the items so far.
        var shown = LiveStatistics()
        let context = "\(feed.client) in \(feed.live)"
        for content in feed.contents {
            switch content {
            case .text, .custom: shown.totalMessageCount += 1
            case .gift(_, let gift, let count, let receivers):
                let gifts = Int64(count * max(1, receivers.count))
                shown.totalGiftsSent += gifts
                shown.totalGiftCoins += gifts * gift.coins
            case .likes(let total, _, _):
                if total < shown.totalLikesReceived {
                    findings.append(
                        Finding(
                            promise: "I15",
                            text: "\(context): the likes went from \(shown.totalLikesReceived) back to \(total)"))
                } else if total > likes.range.upperBound {
                    findings.append(
                        Finding(promise: "I15", text: "\(context): \(total) likes, and \(likes.text) were sent"))
                }
                shown.totalLikesReceived = total
            case .liveEnded(_, let final): findings += Self.checkFinal(final, shown, likes, feed)
            default: break
            }
        }
        return findings
    }

    /// Checks the final statistics of one live.
    private static func checkFinal(
        _ final: LiveStatistics, _ shown: LiveStatistics, _ likes: SumBounds, _ feed: FeedHistory
    ) -> [Finding] {
        var findings: [Finding] = []
        let context = "\(feed.live) ended, as \(feed.client) was told, with"
        if !likes.range.contains(final.totalLikesReceived) {
            findings.append(
                Finding(
                    promise: "I15", text: "\(context) \(final.totalLikesReceived) likes instead of \(likes.text)"))
        }
        // Only a client that received all items can count them.
        guard feed.isComplete else { return findings }
        for (name, total, expected) in [
            ("messages", final.totalMessageCount, shown.totalMessageCount),
            ("gifts", final.totalGiftsSent, shown.totalGiftsSent),
            ("coins", final.totalGiftCoins, shown.totalGiftCoins),
        ] where total != expected {
            findings.append(
                Finding(promise: "I15", text: "\(context) \(total) \(name), and its feed has \(expected)"))
        }
        return findings
    }
}

extension FeedHistory {
    /// The nearest received numbers below and above a missing number, as a part of a sentence.
    fileprivate func neighbors(of number: Int64) -> String {
        var (before, after): (Int64?, Int64?)
        for case .item(_, let received, _, _) in self.steps {
            if received < number { before = max(before ?? received, received) }
            if received > number { after = min(after ?? received, received) }
        }
        let names = [before, after].compactMap { $0.map(String.init) }
        return names.isEmpty ? "" : " (it got \(names.joined(separator: " and ")), not \(number))"
    }

    /// The feed numbers of each text and gift.
    fileprivate var messageNumbers: [String: [Int64]] {
        var numbers: [String: [Int64]] = [:]
        for case .item(_, let number, let content, _) in self.steps {
            if let id = content.messageID { numbers[id, default: []].append(number) }
        }
        return numbers
    }
}
