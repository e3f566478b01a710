// SPDX-License-Identifier: Apache-2.0

/// A promise of a service that must hold while its number of instances changes.
///
/// The numbers in the texts, such as I7, are those of the invariants in docs/RULES.md.
package enum ScalePromise: String, Sendable, CaseIterable, Encodable {
    case answers, loss, repetition, order, oneOrder, presence, spread, stickiness, pause, cost

    /// The maximum processor time per unit of work, relative to the time with one instance.
    static let maxCostRatio = 1.15
    /// The maximum pause of a feed while instances are added, in milliseconds.
    static let maxPauseMilliseconds = 500.0

    /// The promise in words.
    package var text: String {
        switch self {
        case .answers: "every call is answered, and none is rejected"
        case .loss: "nothing acknowledged is lost (I8, I15)"
        case .repetition: "nothing comes twice (I15)"
        case .order: "messages keep their order and their numbers (I7)"
        case .oneOrder: "viewers of a live on all gateways see one order (I7)"
        case .presence: "nobody is said to have left (I5)"
        case .spread: "each instance owns its share of the partitions"
        case .stickiness: "an instance that is added moves no more partitions than Kafka's range assignor must move"
        case .pause:
            "a feed pauses for at most \(Int(Self.maxPauseMilliseconds)) ms while an instance is added"
        case .cost:
            "a unit of work costs at most \(Int((Self.maxCostRatio * 100).rounded())) % of its cost with one instance"
        }
    }
}

/// A fault of a run: a broken promise, and how it was broken.
package struct ScaleFinding: Sendable, Equatable, Encodable {
    package var promise: ScalePromise
    /// How the promise was broken: a sentence without a full stop.
    package var text: String

    package init(_ promise: ScalePromise, _ text: String) {
        self.promise = promise
        self.text = text
    }
}
