// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Checks that a round has tested each promise: a round without a battle, for example, tests no promise about battles,
/// so it must not count as one that kept them.
enum RoundCoverage {
    /// One finding for each kind of event that the history should have and does not have.
    ///
    /// There are none after a stall (a step that did not succeed in time): it ends a part of the workload early, and is
    /// a finding already.
    static func findings(in history: RoundHistory) -> [Finding] {
        guard history.stalls.isEmpty else { return [] }
        let acknowledged = history.calls.filter { if case .acknowledged = $0.outcome { true } else { false } }
        func hasCall(_ isWanted: (CallRecord.Call) -> Bool) -> Bool { acknowledged.contains { isWanted($0.call) } }
        var required: [(name: String, promise: String, isPresent: Bool)] = [
            ("an acknowledged text", "I8", acknowledged.contains { $0.isText }),
            ("an acknowledged gift", "I15", acknowledged.contains { $0.isGift }),
            ("acknowledged likes", "I15", hasCall { if case .likes = $0 { true } else { false } }),
            ("an acknowledged score", "I14", hasCall { if case .score = $0 { true } else { false } }),
            ("an acknowledged write of metadata", "R3.42", hasCall { if case .metadata = $0 { true } else { false } }),
            ("a text that the budget drops", "I9", history.calls.contains(where: \.isDroppedText)),
            ("a battle", "I14", !history.battles.isEmpty),
            ("a request", "I13", !history.requests.isEmpty),
            ("a walk through the list", "I3", !history.listWalks.isEmpty),
            ("a removal", "I6", history.feeds.contains { $0.steps.contains(.removed) }),
            ("a count of viewers", "I5", !history.counts.isEmpty),
            ("a read of metadata", "R3.42", !history.metadataReads.isEmpty),
        ]
        if let backend = history.backend {
            required += [
                ("an event at the backend", "R14.5", backend.requests.contains(where: \.isEvent)),
                ("a question to the backend", "R14.7", backend.requests.contains(where: \.isQuestion)),
            ]
        }
        return required.filter { !$0.isPresent }.map { event in
            Finding(promise: "coverage", text: "the round had none of this: \(event.name) (\(event.promise))")
        }
    }
}

extension CallRecord {
    fileprivate var isText: Bool { if case .message = self.call { !self.isGift } else { false } }
}

extension BackendRequest {
    fileprivate var isEvent: Bool { if case .event = self.content { true } else { false } }
    fileprivate var isQuestion: Bool { if case .question = self.content { true } else { false } }
}
