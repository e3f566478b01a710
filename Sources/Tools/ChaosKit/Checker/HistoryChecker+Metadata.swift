// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of a live's metadata and revisions.
extension HistoryChecker {
    /// Checks that all clients read the same metadata at the end of the round, and that this metadata agrees with the
    /// last writes and with the changes in the feed (R3.42).
    ///
    /// A write without an answer may be applied late, so its value is possible at the end, too.
    static func checkMetadata(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for live in Set(history.metadataReads.map(\.live)).sorted(by: { $0.text < $1.text }) {
            let reads = history.metadataReads.filter { $0.live == live }
            let possibleValues = Self.possibleMetadata(history, of: live)
            for read in reads {
                if read.values != reads[0].values {
                    findings.append(
                        Finding(
                            promise: "R3.42",
                            text: "\(read.client) and \(reads[0].client) read different metadata of \(live) at the end")
                    )
                }
                for (key, values) in possibleValues.sorted(by: { $0.key < $1.key }) {
                    guard !values.contains(read.values[key]) else { continue }
                    let value = read.values[key].map { "\"\($0)\"" } ?? "nothing"
                    findings.append(
                        Finding(
                            promise: "R3.42",
                            text: "\(read.client) read \(value) as \(key) of \(live), which is not the last write"))
                }
            }
            guard let read = reads.first else { continue }
            for feed in history.feedsAndLogs where feed.live == live && feed.isComplete {
                for (key, value) in feed.metadata.sorted(by: { $0.key < $1.key }) where read.values[key] != value {
                    findings.append(
                        Finding(
                            promise: "R3.42",
                            text: "the last \(key) that \(feed.client) got of \(live) is not what \(read.client) read"))
                }
            }
        }
        return findings
    }

    /// The values that each written key may have at the end; they include nil (no value) if no write of the key was
    /// acknowledged.
    private static func possibleMetadata(_ history: RoundHistory, of live: LiveID) -> [String: Set<String?>] {
        var lastWrites: [String: String] = [:]
        var unanswered: [String: Set<String?>] = [:]
        for call in history.calls where call.live == live {
            guard case .metadata(let key, let value) = call.call else { continue }
            switch call.outcome {
            case .acknowledged: lastWrites[key] = value
            case .unanswered: unanswered[key, default: []].insert(value)
            case .rejected: break
            }
        }
        let keys = Set(lastWrites.keys).union(unanswered.keys)
        return Dictionary(uniqueKeysWithValues: keys.map { ($0, (unanswered[$0] ?? []).union([lastWrites[$0]])) })
    }

    /// Checks that the revisions of a live's info, metadata and admins grow with each change (R3.65).
    static func checkRevisions(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for feed in history.feedsAndLogs {
            var last: (epoch: Int64, revision: Int64)?
            for case .item(let epoch, let number, let content, _) in feed.steps {
                guard let revision = content.revision else { continue }
                if let last, last.epoch == epoch, revision <= last.revision {
                    findings.append(
                        Finding(
                            promise: "R3.65",
                            text: "\(feed.client) in \(feed.live) got item \(number) with the revision \(revision) "
                                + "after \(last.revision)"))
                }
                last = (epoch, revision)
            }
        }
        return findings
    }
}

extension FeedContent {
    /// The revision of the live's info that the item names.
    fileprivate var revision: Int64? {
        switch self {
        case .infoChanged(_, let revision), .metadataChanged(_, _, let revision), .adminSet(_, let revision),
            .adminRevoked(_, let revision):
            revision
        default: nil
        }
    }
}

extension FeedHistory {
    /// The metadata that the changes in the feed add up to.
    fileprivate var metadata: [String: String] {
        var metadata: [String: String] = [:]
        for case .metadataChanged(let set, let removed, _) in self.contents {
            metadata.merge(set) { $1 }
            for key in removed { metadata[key] = nil }
        }
        return metadata
    }
}
