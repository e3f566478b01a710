// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Finds short excerpts of a round's history that show its findings.
///
/// Unless the search reaches its limit, no single entry of an excerpt can be left out without losing the finding.
package enum HistoryReducer {
    /// An entry of a history that can be left out, by its index in the list that has it.
    private enum Entry {
        case step(feed: Int, index: Int)
        case call(Int)
        case battleRead(Int)
        case metadataRead(Int)
        case listWalk(Int)
        case logStep(log: Int, index: Int)
        case backendRequest(Int)
        case loggedEvent(Int)
    }

    /// The maximum number of findings for which an excerpt is searched.
    static let maxFindings = 10
    /// The maximum number of checks in the search for one excerpt.
    static let maxTests = 3_000

    /// Finds an excerpt for each of the first `maxFindings` findings.
    package static func evidence(of history: RoundHistory) -> [Evidence] {
        let found = HistoryChecker.Check.allCases.flatMap { check in
            HistoryChecker.findings(of: check, in: history).prefix(HistoryChecker.maxFindingsPerCheck).map {
                (check: check, finding: $0)
            }
        }
        return found.prefix(Self.maxFindings).map { Self.evidence(of: $0.finding, by: $0.check, in: history) }
    }

    /// Leaves out every entry of the history that the check does not need in order to report the finding.
    static func evidence(
        of finding: Finding, by check: HistoryChecker.Check, in history: RoundHistory
    ) -> Evidence {
        let (entries, isShortest) = DeltaDebugging.minimize(
            Self.entries(of: history, for: check), maxTests: Self.maxTests
        ) {
            HistoryChecker.findings(of: check, in: Self.excerpt($0, of: history, for: check)).contains(finding)
        }
        var events = Self.events(of: Self.excerpt(entries, of: history, for: check), for: check)
        if check == .requests { events += Self.ends(of: finding, in: history) }
        return Evidence(finding: finding.description, events: events, isShortest: isShortest)
    }

    /// All entries of the history that a check may need.
    ///
    /// A check of the app's backend needs the requests and events of the backend and the reads of battles. Any other
    /// check needs the calls and all reads. Every check needs the feeds; a check that reads Kafka's logs also needs the
    /// logs.
    private static func entries(of history: RoundHistory, for check: HistoryChecker.Check) -> [Entry] {
        let isOfBackend = HistoryChecker.Check.ofBackend.contains(check)
        let logEntries = HistoryChecker.Check.ofLog.contains(check) ? Self.logEntries(of: history) : []
        return logEntries + (isOfBackend ? Self.backendEntries(of: history) : Self.clientEntries(of: history))
    }

    private static func logEntries(of history: RoundHistory) -> [Entry] {
        history.logs.indices.flatMap { log in
            history.logs[log].steps.indices.map { Entry.logStep(log: log, index: $0) }
        }
    }

    private static func backendEntries(of history: RoundHistory) -> [Entry] {
        (history.backend?.requests ?? []).indices.map(Entry.backendRequest)
            + (history.backend?.log ?? []).indices.map(Entry.loggedEvent)
            + Self.feedEntries(of: history) + history.battleReads.indices.map(Entry.battleRead)
    }

    private static func feedEntries(of history: RoundHistory) -> [Entry] {
        history.feeds.indices.flatMap { feed in
            history.feeds[feed].steps.indices.map { Entry.step(feed: feed, index: $0) }
        }
    }

    private static func clientEntries(of history: RoundHistory) -> [Entry] {
        history.calls.indices.map(Entry.call)
            + Self.feedEntries(of: history) + history.battleReads.indices.map(Entry.battleRead)
            + history.metadataReads.indices.map(Entry.metadataRead)
            + history.listWalks.indices.map(Entry.listWalk)
    }

    /// The history with these entries only.
    ///
    /// A part of the history that is never an `Entry`, such as the list of ended lives, stays in it.
    private static func excerpt(
        _ entries: [Entry], of history: RoundHistory, for check: HistoryChecker.Check
    ) -> RoundHistory {
        var excerpt = history
        if HistoryChecker.Check.ofBackend.contains(check), excerpt.backend != nil { excerpt.backend = BackendHistory() }
        if HistoryChecker.Check.ofLog.contains(check) {
            for index in excerpt.logs.indices { excerpt.logs[index].steps = [] }
        }
        (excerpt.calls, excerpt.battleReads, excerpt.metadataReads, excerpt.listWalks) = ([], [], [], [])
        for index in excerpt.feeds.indices { excerpt.feeds[index].steps = [] }
        for entry in entries {
            switch entry {
            case .step(let feed, let index): excerpt.feeds[feed].steps.append(history.feeds[feed].steps[index])
            case .call(let index): excerpt.calls.append(history.calls[index])
            case .battleRead(let index): excerpt.battleReads.append(history.battleReads[index])
            case .metadataRead(let index): excerpt.metadataReads.append(history.metadataReads[index])
            case .listWalk(let index): excerpt.listWalks.append(history.listWalks[index])
            case .logStep(let log, let index): excerpt.logs[log].steps.append(history.logs[log].steps[index])
            case .backendRequest(let index):
                if let request = history.backend?.requests[index] { excerpt.backend?.requests.append(request) }
            case .loggedEvent(let index):
                if let event = history.backend?.log[index] { excerpt.backend?.log.append(event) }
            }
        }
        return excerpt
    }

    // MARK: Events

    /// The events of an excerpt, by time.
    private static func events(
        of excerpt: RoundHistory, for check: HistoryChecker.Check
    ) -> [Evidence.Event] {
        var events = excerpt.calls.map { (time: $0.at?.milliseconds ?? 0, event: Evidence.Event($0)) }
        let logs = HistoryChecker.Check.ofLog.contains(check) ? excerpt.logs : []
        for feed in logs + excerpt.feeds {
            // A gap and a removal have no time of their own, so they are sorted by the time of the items before them.
            var time: Int64 = 0
            for step in feed.steps {
                let event = Evidence.Event(step, of: feed)
                time = max(time, event.time ?? 0)
                events.append((time, event))
            }
        }
        let reads =
            excerpt.battleReads.map(Evidence.Event.init) + excerpt.metadataReads.map(Evidence.Event.init)
            + excerpt.listWalks.map(Evidence.Event.init)
            + (excerpt.backend?.log ?? []).map(Evidence.Event.init)
            + (excerpt.backend?.requests ?? []).map(Evidence.Event.init)
        events += reads.map { (time: $0.time ?? 0, event: $0) }
        // Events with the same time keep their order, because the offset is compared too.
        return events.enumerated().sorted {
            ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
        }.map(\.element.event)
    }

    /// The ends of the request that a finding is about; the text of the finding begins with the name of the request.
    private static func ends(of finding: Finding, in history: RoundHistory) -> [Evidence.Event] {
        history.requests.filter { finding.text.hasPrefix("\($0.name) has") }.flatMap { request in
            request.ends.enumerated().map { index, end in
                Evidence.Event(
                    client: request.name, live: nil, message: end,
                    at: request.times.indices.contains(index) ? request.times[index] : nil)
            }
        }
    }
}
