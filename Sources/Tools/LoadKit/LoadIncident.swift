// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import MachineKit
package import PlazaModel

/// One event in which a viewer of a load saw that an invariant is broken (docs/RULES.md): it says where to look in logs
/// and feeds.
package struct LoadIncident: Hashable, Sendable {
    /// The kinds of incidents; the report has a count of each.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// Items were not received.
        case missing
        /// An item or message was received twice.
        case repeated
        /// An item was received after a later one.
        case reordered
        /// A message was received under another number than the one in its reply, or two viewers received different
        /// messages under one number.
        case misplaced
        /// A feed item says that a viewer left, although none does during a load.
        case leaveTip
    }

    package var kind: Kind
    /// The viewer, such as `viewer 3`.
    package var client: String
    package var live: LiveID
    /// What the viewer saw, such as `gets items 7 to 9 of epoch 1 after item 5`.
    package var text: String
    /// When the viewer saw the event, by this machine's clock.
    package var at: Timestamp
}

/// The first incidents of each kind in a run.
struct LoadIncidents {
    /// The maximum number of stored incidents of a kind; the counts in the report include all incidents.
    static let maxPerKind = 5
    /// At most `maxPerKind` incidents of each kind.
    private(set) var firstOfEachKind: [LoadIncident] = []

    /// Adds an incident that happens now, unless there are `maxPerKind` of its kind already.
    mutating func add(_ kind: LoadIncident.Kind, _ client: String, in live: LiveID, _ text: String) {
        guard self.firstOfEachKind.count(where: { $0.kind == kind }) < Self.maxPerKind else { return }
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        self.firstOfEachKind.append(LoadIncident(kind: kind, client: client, live: live, text: text, at: now))
    }
}
