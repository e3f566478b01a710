// SPDX-License-Identifier: Apache-2.0
import LoadKit
import PlazaModel
import ProtocolClient

/// A real client that records all that it receives, so that a test can check the order.
final class RecordingClient {
    let name: String
    let client: PlazaClient
    /// All feed items that the client has received.
    private(set) var items: [FeedContent] = []
    private(set) var notices: [NoticeContent] = []
    /// The last audience count that the client has received.
    private(set) var audienceCount: Int?
    /// The code with which the connection ended for good; nil while it has not.
    private(set) var endCode: UInt16?

    init(_ name: String, _ client: PlazaClient) {
        self.name = name
        self.client = client
    }

    /// Waits until `find` returns a value for this client, and returns that value.
    ///
    /// `expectation`: what the client should receive, for the text of the error.
    func wait<Value>(
        _ expectation: String, within seconds: Double = 10, _ find: (RecordingClient) -> Value?
    ) async throws(ScenarioFailure) -> Value {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let value = find(self) { return value }
            guard let update = await self.client.updates.next(before: deadline) else { break }
            self.record(update)
        }
        throw ScenarioFailure(
            "\(self.name) did not see within \(seconds) s: \(expectation); its last items: \(self.items.suffix(3))")
    }

    /// Records the updates that arrive within the next `seconds`.
    func recordUpdates(seconds: Double) async {
        // Waits for what never comes, and ignores the error.
        _ = try? await self.wait("nothing", within: seconds) { _ in nil as Bool? }
    }

    /// Waits until the client has received a notice that `matches`.
    func waitForNotice(
        _ expectation: String, within seconds: Double = 10, _ matches: (NoticeContent) -> Bool
    ) async throws(ScenarioFailure) {
        _ = try await self.wait(expectation, within: seconds) { $0.notices.contains(where: matches) ? true : nil }
    }

    /// Waits until the client has received a stage that `matches`, and returns the first such stage.
    @discardableResult
    func waitForStage(
        _ expectation: String, within seconds: Double = 10, _ matches: (StageRecord, [StageEvent]) -> Bool
    ) async throws(ScenarioFailure) -> StageRecord {
        try await self.wait(expectation, within: seconds) { client in
            client.stages.first { matches($0.record, $0.events) }?.record
        }
    }

    /// True if the client has received a feed item that `matches`, otherwise nil, which makes `wait` go on waiting.
    func trueIfReceived(_ matches: (FeedContent) -> Bool) -> Bool? { self.items.contains(where: matches) ? true : nil }

    /// All stages that the client has received, each with the events that led to it.
    var stages: [(record: StageRecord, events: [StageEvent])] {
        self.items.compactMap { if case .stage(let record, let events) = $0 { (record, events) } else { nil } }
    }

    /// The events of all received stages, in order.
    var events: [StageEvent] { self.stages.flatMap(\.events) }

    /// The users whom feed items have reported as having left, in order.
    var leftUsers: [UserID] {
        self.items.compactMap { if case .audienceLeft(let user) = $0 { user.userID } else { nil } }
    }

    private func record(_ update: ClientUpdate) {
        switch update {
        case .feed(let entries, _): self.items += entries.map(\.content)
        case .event(.notice(let notice)): self.notices.append(notice.content)
        case .event(.counts(let count)): self.audienceCount = count.count
        case .event(.ended(let code)): self.endCode = code
        case .history, .event: break
        }
    }
}
