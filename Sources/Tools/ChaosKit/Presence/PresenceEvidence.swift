// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The events that show a finding of `PresenceChecker`: one visit, and the faults that could excuse the finding.
enum PresenceEvidence {
    /// The events of a visit and the faults during it, by time; `deadline` is when its leave must have shown.
    static func events(
        of visit: PresenceHistory.Visit, until deadline: Timestamp?, in history: PresenceHistory
    ) -> [Evidence.Event] {
        func event(_ text: String, at time: Timestamp) -> Evidence.Event {
            Evidence.Event(client: visit.user.text, live: history.live, message: text, at: time)
        }
        var events = [
            event("sends its join", at: visit.joinSent), event("has the answer to its join", at: visit.joined),
        ]
        if let began = visit.endBegan, visit.ending == .leave { events.append(event("sends its leave", at: began)) }
        if let ended = visit.ended {
            let text =
                switch visit.ending {
                case .leave: "has the answer to its leave"
                case .cut: "is silent from here on: its connection broke"
                case .silence: "is silent from here on: its connection stays"
                }
            events.append(event(text, at: ended))
        }
        if let deadline, deadline < .distantFuture { events.append(event("must have been gone", at: deadline)) }
        events += history.tips.filter { $0.user == visit.user }.map { Self.event($0, in: history) }
        events += Self.pages(of: visit, in: history)
        for fault in history.faults where fault.recoveredAt >= visit.joinSent {
            guard deadline.map({ fault.begin <= $0 }) ?? true else { continue }
            events.append(Evidence.Event(client: "fault", live: nil, message: "\(fault.fault) begins", at: fault.begin))
            if let end = fault.end {
                events.append(Evidence.Event(client: "fault", live: nil, message: "\(fault.fault) is over", at: end))
            }
        }
        return events.enumerated().sorted {
            ($0.element.time ?? 0, $0.offset) < ($1.element.time ?? 0, $1.offset)
        }.map(\.element)
    }

    /// A tip that the watcher received.
    static func event(_ tip: PresenceHistory.Tip, in history: PresenceHistory) -> Evidence.Event {
        Evidence.Event(
            client: "the watcher", live: history.live,
            message: "gets that \(tip.user) \(tip.isJoin ? "joined" : "left")", at: tip.seen)
    }

    /// The first page of the list after the viewer's join, and each later page at which the viewer appears or
    /// disappears.
    private static func pages(
        of visit: PresenceHistory.Visit, in history: PresenceHistory
    ) -> [Evidence.Event] {
        var last: Bool?
        return history.pages.filter { $0.at > visit.joined }.compactMap { page in
            let isListed = page.users.contains(visit.user)
            defer { last = isListed }
            guard last != isListed else { return nil }
            return Evidence.Event(
                client: "the list", live: history.live,
                message: isListed ? "has \(visit.user)" : "does not have \(visit.user)", at: page.at)
        }
    }
}
