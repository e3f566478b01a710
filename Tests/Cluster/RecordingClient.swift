// SPDX-License-Identifier: Apache-2.0
import LoadKit
import PlazaModel
import ProtocolClient

/// A real client that records all it receives, in order, so that a test can check the order.
final class RecordingClient {
    let name: String
    let client: PlazaClient
    /// The feed of the live that it is in.
    private(set) var items: [FeedContent] = []
    private(set) var notices: [NoticeContent] = []
    /// The last audience count that it received.
    private(set) var count: Int?
    /// Why its connection ended for good.
    private(set) var endCode: UInt16?

    init(_ name: String, _ client: PlazaClient) {
        self.name = name
        self.client = client
    }

    /// Waits until `find` returns a value from the recorded updates.
    func wait<Value>(
        _ what: String, within seconds: Double = 10, _ find: (RecordingClient) -> Value?
    ) async throws(ScenarioFailure) -> Value {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let value = find(self) { return value }
            guard let update = await self.client.updates.next(before: deadline) else { break }
            self.record(update)
        }
        throw ScenarioFailure("\(self.name) did not see within \(seconds) s: \(what); last: \(self.items.suffix(3))")
    }

    /// Waits for a notice.
    func waitForNotice(
        _ what: String, within seconds: Double = 10, _ matches: (NoticeContent) -> Bool
    ) async throws(ScenarioFailure) {
        _ = try await self.wait(what, within: seconds) { $0.notices.contains(where: matches) ? true : nil }
    }

    /// Waits for a stage that `matches`, and returns the first one.
    @discardableResult
    func waitForStage(
        _ what: String, within seconds: Double = 10, _ matches: (StageRecord, [StageEvent]) -> Bool
    ) async throws(ScenarioFailure) -> StageRecord {
        try await self.wait(what, within: seconds) { client in
            client.stages.first { matches($0.record, $0.events) }?.record
        }
    }

    /// True if its feed has had an item that `matches`, else nil, as `wait` needs it.
    func hasSeen(_ matches: (FeedContent) -> Bool) -> Bool? { self.items.contains(where: matches) ? true : nil }

    /// All stages so far.
    var stages: [(record: StageRecord, events: [StageEvent])] {
        self.items.compactMap { if case .stage(let record, let events) = $0 { (record, events) } else { nil } }
    }

    /// All events of stages so far, in order.
    var events: [StageEvent] { self.stages.flatMap(\.events) }

    /// The users whose leave tips it has received.
    var left: [UserID] {
        self.items.compactMap { if case .audienceLeft(let user) = $0 { user.userID } else { nil } }
    }

    private func record(_ update: ClientUpdate) {
        switch update {
        case .feed(let entries, _): self.items += entries.map(\.content)
        case .event(.notice(let notice)): self.notices.append(notice.content)
        case .event(.counts(let count)): self.count = count.count
        case .event(.ended(let code)): self.endCode = code
        case .history, .event: break
        }
    }
}
