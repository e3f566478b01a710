// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LoadKit
import PlazaModel

/// A real client that remembers all it saw, in order, so that a test can ask what came before what.
final class Witness {
    let name: String
    let client: PlazaClient
    /// The feed of the live that it is in.
    private(set) var items: [FeedContent] = []
    private(set) var notices: [NoticeContent] = []
    /// The last count that it was told.
    private(set) var count: Int?
    /// Why its connection ended for good.
    private(set) var endCode: UInt16?

    init(_ name: String, _ client: PlazaClient) {
        self.name = name
        self.client = client
    }

    /// Waits until what it remembers holds what `find` looks for.
    func wait<Value>(
        _ what: String, within seconds: Double = 10, _ find: (Witness) -> Value?
    ) async throws(EveningFailure) -> Value {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            if let value = find(self) { return value }
            guard let update = await self.client.updates.next(before: deadline) else { break }
            self.remember(update)
        }
        throw EveningFailure("\(self.name) did not see within \(seconds) s: \(what); last: \(self.items.suffix(3))")
    }

    /// Waits for a notice.
    func notice(
        _ what: String, within seconds: Double = 10, _ matches: (NoticeContent) -> Bool
    ) async throws(EveningFailure) {
        _ = try await self.wait(what, within: seconds) { $0.notices.contains(where: matches) ? true : nil }
    }

    /// Waits for a stage that `matches` picks; the first such.
    @discardableResult
    func stage(
        _ what: String, within seconds: Double = 10, _ matches: (StageRecord, [StageEvent]) -> Bool
    ) async throws(EveningFailure) -> StageRecord {
        try await self.wait(what, within: seconds) { witness in
            witness.stages.first { matches($0.record, $0.events) }?.record
        }
    }

    /// All stages so far.
    var stages: [(record: StageRecord, events: [StageEvent])] {
        self.items.compactMap { if case .stage(let record, let events) = $0 { (record, events) } else { nil } }
    }

    /// All events of stages so far, in order.
    var events: [StageEvent] { self.stages.flatMap(\.events) }

    /// Who was said to have left.
    var left: [UserID] {
        self.items.compactMap { if case .audienceLeft(let user) = $0 { user.userID } else { nil } }
    }

    private func remember(_ update: ClientUpdate) {
        switch update {
        case .feed(let entries, _): self.items += entries.map(\.content)
        case .event(.notice(let notice)): self.notices.append(notice.content)
        case .event(.counts(let count)): self.count = count.count
        case .event(.ended(let code)): self.endCode = code
        case .history, .event: break
        }
    }
}
