// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
package import PlazaModel

/// How far one partition was read, and what of it is not done with, app by app.
///
/// An app whose share of memory is used is *behind*: its further events are passed over, and read again from where that
/// began. So no app waits for another's backend. A committed offset is one number for all apps; what is committed beside
/// it says from where those go on that are not as far.
package struct ReadingProgress: Hashable, Sendable {
    /// What is committed of a partition.
    package struct Commitment: Hashable, Sendable {
        /// All events before it are done with, but for those of the apps in `marks`.
        package var offset: Int64
        /// From where an app's events are to be read again.
        package var marks: [AppID: Int64]

        package init(offset: Int64, marks: [AppID: Int64] = [:]) {
            self.offset = offset
            self.marks = marks
        }
    }

    /// Apps that have a mark of their own at most, which fit into what a broker keeps beside an offset; others hold the
    /// offset back, and a takeover then tells more events again.
    package static let marks = 64

    /// Behind the last record that was read.
    package private(set) var next: Int64 = 0
    private var open: [AppID: Set<Int64>] = [:]
    private var behind: [AppID: Int64] = [:]

    init() {}

    /// Goes on where another stopped.
    init(_ commitment: Commitment) {
        self.next = commitment.offset
        self.behind = commitment.marks
    }

    /// How many apps are behind.
    var behindCount: Int { self.behind.count }

    /// From where an app's events are to be read again, if it is behind.
    func behind(_ app: AppID) -> Int64? { self.behind[app] }

    /// The apps that are behind, with their places.
    var allBehind: [AppID: Int64] { self.behind }

    /// A record was read.
    mutating func read(_ offset: Int64) { self.next = max(self.next, offset + 1) }

    /// An event is held.
    mutating func hold(_ offset: Int64, of app: AppID) { self.open[app, default: []].insert(offset) }

    /// An event is done with.
    mutating func end(_ offset: Int64, of app: AppID) {
        self.open[app]?.remove(offset)
        if self.open[app]?.isEmpty == true { self.open[app] = nil }
    }

    /// An app's events are passed over from here on, or are behind no more.
    mutating func set(_ app: AppID, behind offset: Int64?) { self.behind[app] = offset }

    /// What may be committed now.
    var commitment: Commitment {
        var undone = self.behind
        for (app, offsets) in self.open {
            if let first = offsets.min() { undone[app] = min(first, undone[app] ?? first) }
        }
        let ordered = undone.sorted { ($0.value, $0.key.text) < ($1.value, $1.key.text) }
        var commitment = Commitment(offset: self.next)
        for (app, offset) in ordered.prefix(Self.marks) { commitment.marks[app] = offset }
        if ordered.count > Self.marks { commitment.offset = min(self.next, ordered[Self.marks].value) }
        return commitment
    }
}

extension ReadingProgress.Commitment {
    private static let version = "v1"

    /// The marks as text that a broker keeps beside the offset: `v1 demo=17 shop=4`.
    package var metadata: String {
        guard !self.marks.isEmpty else { return "" }
        let entries = self.marks.sorted { $0.key.text < $1.key.text }.map { "\($0.key.text)=\($0.value)" }
        return ([Self.version] + entries).joined(separator: " ")
    }

    /// What was committed; nil: the text is none of ours.
    package init?(offset: Int64, metadata: String) {
        self.init(offset: offset)
        guard !metadata.isEmpty else { return }
        let entries = metadata.split(separator: " ")
        guard entries.first == Substring(Self.version) else { return nil }
        for entry in entries.dropFirst() {
            let parts = entry.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let app = AppID(checking: String(parts[0])), let mark = Int64(parts[1]), mark >= 0
            else { return nil }
            self.marks[app] = mark
        }
    }
}
