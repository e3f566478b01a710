// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Decides from the clients' histories which promises a round has broken.
///
/// It is a pure function of the history, so that a test can plant a fault of each kind and see it found.
package enum HistoryChecker {
    /// The most findings of one check; more of the same help nobody.
    static let limit = 5

    /// All broken promises of a round; none: it holds.
    package static func findings(in history: RoundHistory) -> [Finding] {
        let checks = [
            Self.order(history), Self.agreement(history), Self.ends(history), Self.texts(history),
            Self.battles(history), Self.requests(history), Self.leaves(history), Self.counts(history),
            history.stalls.map { Finding(promise: "recovery", text: $0) },
        ]
        return checks.flatMap { $0.prefix(Self.limit) }
    }

    /// Each feed's numbers go up by one, except where the server announced a gap (I7).
    private static func order(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feeds {
            var last: (epoch: Int64, number: Int64)?
            var isAfterGap = false
            for step in feed.steps {
                guard case .item(let epoch, let number, _) = step else {
                    isAfterGap = true
                    continue
                }
                defer {
                    last = (epoch, number)
                    isAfterGap = false
                }
                guard let last, last.epoch == epoch else { continue }
                let place = "\(feed.client) in \(feed.live)"
                if number <= last.number {
                    findings.append(
                        Finding(promise: "I7", text: "\(place) got item \(number) again or late, after \(last.number)"))
                } else if number > last.number + 1, !isAfterGap {
                    findings.append(
                        Finding(
                            promise: "I7",
                            text: "\(place) lacks items \(last.number + 1) to \(number - 1), without a gap announced"))
                }
            }
        }
        return findings
    }

    /// All clients of a live got the same item under the same number (I7).
    private static func agreement(_ history: RoundHistory) -> [Finding] {
        struct Place: Hashable {
            var live: LiveID
            var epoch: Int64
            var number: Int64
        }
        var first: [Place: (client: String, content: FeedContent)] = [:]
        var findings: [Finding] = []
        for feed in history.feeds {
            for case .item(let epoch, let number, let content) in feed.steps {
                let place = Place(live: feed.live, epoch: epoch, number: number)
                guard let other = first[place] else {
                    first[place] = (feed.client, content)
                    continue
                }
                if other.content != content {
                    findings.append(
                        Finding(
                            promise: "I7",
                            text: "item \(number) of \(feed.live) differs between \(other.client) and \(feed.client)"))
                }
            }
        }
        return findings
    }

    /// Each client of an ended live got one end, as the last item (I1).
    private static func ends(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feeds {
            let contents = feed.contents
            let ends = contents.filter(\.isEnd).count
            let wanted = history.endedLives.contains(feed.live) ? 1 : 0
            if ends != wanted {
                findings.append(
                    Finding(
                        promise: "I1",
                        text: "\(feed.client) was told \(ends) times that \(feed.live) ended, not \(wanted)"))
            } else if ends == 1, contents.last?.isEnd != true {
                findings.append(Finding(promise: "I1", text: "\(feed.client) got items of \(feed.live) after its end"))
            }
        }
        return findings
    }

    /// Each acknowledged text is in the feed once, at the place that the reply named; any other at most once (I7, I8, I15).
    private static func texts(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feeds {
            guard let sent = history.texts[feed.live] else { continue }
            let hasGap = feed.steps.contains(.gap)
            var seen: [String: [Int64]] = [:]
            for case .item(_, let number, .text(_, let text, _)) in feed.steps {
                seen[text, default: []].append(number)
            }
            for (text, reply) in sent.sorted(by: { $0.key < $1.key }) {
                let numbers = seen[text] ?? []
                let place = "\"\(text)\" in \(feed.live)"
                if numbers.count > 1 {
                    findings.append(
                        Finding(promise: "I15", text: "\(feed.client) got \(place) \(numbers.count) times: \(numbers)"))
                }
                guard let reply else { continue }
                if numbers.isEmpty, !hasGap {
                    findings.append(
                        Finding(promise: "I8", text: "\(place) was acknowledged, and \(feed.client) never got it"))
                } else if let number = numbers.first, number != reply {
                    findings.append(
                        Finding(
                            promise: "I7", text: "\(place) was acknowledged as item \(reply) and came as \(number)"))
                }
            }
        }
        return findings
    }

    /// Checks that no client was notified that a user left who never did (I5).
    private static func leaves(_ history: RoundHistory) -> [Finding] {
        history.feeds.flatMap { feed in
            feed.contents.compactMap { content in
                guard case .audienceLeft(let user) = content, history.faithful.contains(user.userID) else { return nil }
                return Finding(
                    promise: "I5", text: "\(feed.client) was told that \(user.userID) left \(feed.live), who never did")
            }
        }
    }

    /// Each request has exactly one end (I13).
    private static func requests(_ history: RoundHistory) -> [Finding] {
        history.requests.filter { $0.ends.count != 1 }.map { request in
            let ends = request.ends.isEmpty ? "none" : request.ends.joined(separator: ", ")
            return Finding(promise: "I13", text: "\(request.name) has \(request.ends.count) ends: \(ends)")
        }
    }

    /// The counts are true in the end (I5).
    private static func counts(_ history: RoundHistory) -> [Finding] {
        history.counts.filter { $0.read != $0.members }.map { count in
            let read = count.read.map { "\($0)" } ?? "unknown"
            return Finding(
                promise: "I5", text: "\(count.live) has \(count.members) viewers, and its count stayed \(read)")
        }
    }
}
