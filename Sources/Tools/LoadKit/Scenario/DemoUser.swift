// SPDX-License-Identifier: Apache-2.0
package import PlazaModel
package import ProtocolClient

/// The error that a step of a scenario had an unexpected result.
package struct ScenarioFailure: Error, CustomStringConvertible, Sendable {
    package var description: String
    package init(_ description: String) { self.description = description }
}

/// A real client that takes part in a scenario.
///
/// It stores the updates that it receives until a step of the scenario waits for them.
package final class DemoUser {
    package let name: String
    package let client: PlazaClient
    /// The updates that no step has waited for yet.
    private var pendingUpdates = PendingUpdates()
    /// The numbers of all feed items so far, to check that none is missing or repeated.
    package private(set) var numbers: [Int64] = []
    /// The texts of all barrage so far, in the order in which they were received.
    package private(set) var texts: [String] = []
    /// How many feed items so far say that the live has ended.
    package private(set) var liveEndedCount = 0

    package init(_ name: String, _ client: PlazaClient) {
        self.name = name
        self.client = client
    }

    /// Calls a method and returns its result.
    ///
    /// - Throws: `ScenarioFailure`, with the name of the call and the error, when the call fails.
    @discardableResult
    package func call(
        _ method: String, _ params: some Encodable & Sendable, live: LiveID? = nil
    ) async throws(ScenarioFailure) -> CallResult {
        do {
            return try await self.client.call(method, params, live: live)
        } catch {
            throw ScenarioFailure("\(self.name): \(method) was rejected: \(error.code.name), \(error.message)")
        }
    }

    /// Calls a method that must fail with `code`.
    ///
    /// - Throws: `ScenarioFailure` when the call succeeds, or fails with another code.
    package func expectRejection(
        _ code: ReplyCode, _ method: String, _ params: some Encodable & Sendable
    ) async throws(ScenarioFailure) {
        let result: CallResult
        do {
            result = try await self.client.call(method, params)
        } catch {
            guard error.code == code else {
                throw ScenarioFailure(
                    "\(self.name): \(method) was rejected with \(error.code.name) instead of \(code.name): "
                        + error.message)
            }
            return
        }
        throw ScenarioFailure("\(self.name): \(method) should be rejected with \(code.name) and gave \(result)")
    }

    /// Waits for the first update, stored or new, for which `match` returns a value; other updates stay stored.
    ///
    /// - Returns: the value.
    /// - Throws: `ScenarioFailure`, which names `expectation`, when no such update arrives within `seconds`.
    package func waitForUpdate<Value>(
        _ expectation: String, within seconds: Double = 10, _ match: (ClientUpdate) -> Value?
    ) async throws(ScenarioFailure) -> Value {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var index = 0
        repeat {
            if let value = self.pendingUpdates.take(from: &index, match) { return value }
        } while await self.receive(before: deadline, adjusting: &index)
        throw ScenarioFailure("\(self.name) did not hear within \(seconds) s: \(expectation)")
    }

    /// Waits for the first feed item for which `match` returns a value.
    ///
    /// - Throws: as `waitForUpdate` does.
    package func waitForFeedItem<Value>(
        _ expectation: String, within seconds: Double = 10, _ match: (FeedContent) -> Value?
    ) async throws(ScenarioFailure) -> Value {
        try await self.waitForUpdate(expectation, within: seconds) { update in
            guard case .feed(let entries, _) = update else { return nil }
            for entry in entries {
                if let value = match(entry.content) { return value }
            }
            return nil
        }
    }

    /// Waits for the first notice for which `match` returns a value.
    ///
    /// - Throws: as `waitForUpdate` does.
    package func waitForNotice<Value>(
        _ expectation: String, within seconds: Double = 10, _ match: (NoticeContent) -> Value?
    ) async throws(ScenarioFailure) -> Value {
        try await self.waitForUpdate(expectation, within: seconds) { update in
            guard case .event(.notice(let notice)) = update else { return nil }
            return match(notice.content)
        }
    }

    /// Receives updates for `seconds` and stores them for later steps.
    package func collectUpdates(seconds: Double) async {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var unusedIndex = 0
        while await self.receive(before: deadline, adjusting: &unusedIndex) {}
    }

    /// Whether no feed item is missing or repeated so far.
    package var isFeedComplete: Bool { zip(self.numbers, self.numbers.dropFirst()).allSatisfy { $1 == $0 + 1 } }

    /// Receives the next update and stores it.
    ///
    /// - Parameters:
    ///   - deadline: when to give up.
    ///   - index: an index into the pending updates, which is reduced when the oldest of them are dropped.
    /// - Returns: false at the deadline, or when the client has ended.
    private func receive(before deadline: ContinuousClock.Instant, adjusting index: inout Int) async -> Bool {
        guard let update = await self.client.updates.next(before: deadline) else { return false }
        if case .feed(let entries, _) = update { self.recordFeedItems(entries) }
        index = max(0, index - self.pendingUpdates.add(update))
        return true
    }

    private func recordFeedItems(_ entries: [FeedEntry]) {
        for entry in entries {
            self.numbers.append(entry.n)
            if case .text(_, let text, _) = entry.content { self.texts.append(text) }
            if case .liveEnded = entry.content { self.liveEndedCount += 1 }
        }
    }
}
