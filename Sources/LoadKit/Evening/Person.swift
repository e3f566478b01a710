// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit
package import PlazaModel
internal import PlazaWire

/// Why an evening is not as it should be.
package struct EveningFailure: Error, CustomStringConvertible, Sendable {
    package var description: String
    package init(_ description: String) { self.description = description }
}

/// Someone who takes part in an evening: a real client, and what it has heard and not yet been asked about.
package final class Person {
    package let name: String
    package let client: PlazaClient
    /// What came and was not asked for yet; bounded, the oldest go first.
    private var heard: [ClientUpdate] = []
    /// The numbers of all feed items so far, to check that there is no hole and no repeat.
    package private(set) var numbers: [Int64] = []
    /// The texts of all barrage so far, in the order in which they came.
    package private(set) var texts: [String] = []
    /// How often the live was said to have ended.
    package private(set) var endings = 0

    package init(_ name: String, _ client: PlazaClient) {
        self.name = name
        self.client = client
    }

    /// Calls a method and gives its result.
    ///
    /// - Throws: `EveningFailure` that names the call and the refusal.
    @discardableResult
    package func call(
        _ method: String, _ params: some Encodable & Sendable, live: LiveID? = nil
    ) async throws(EveningFailure) -> CallResult {
        do {
            return try await self.client.call(method, params, live: live)
        } catch {
            throw EveningFailure("\(self.name): \(method) was refused: \(error.code.name), \(error.message)")
        }
    }

    /// Calls a method that must be refused with `code`.
    package func expectRefusal(
        _ code: ReplyCode, _ method: String, _ params: some Encodable & Sendable
    ) async throws(EveningFailure) {
        let result: CallResult
        do {
            result = try await self.client.call(method, params)
        } catch {
            guard error.code == code else {
                throw EveningFailure(
                    "\(self.name): \(method) was refused with \(error.code.name) instead of \(code.name): \(error.message)"
                )
            }
            return
        }
        throw EveningFailure("\(self.name): \(method) should be refused with \(code.name) and gave \(result)")
    }

    /// Waits until something is heard that `match` makes a value of; what else is heard stays for later.
    ///
    /// - Throws: `EveningFailure` after `seconds`.
    package func hear<Value>(
        _ what: String, within seconds: Double = 10, _ match: (ClientUpdate) -> Value?
    ) async throws(EveningFailure) -> Value {
        for (index, update) in self.heard.enumerated() {
            guard let value = match(update) else { continue }
            self.heard.remove(at: index)
            return value
        }
        let deadline = ContinuousClock.now + .seconds(seconds)
        while let update = await self.next(before: deadline) {
            if let value = match(update) { return value }
            self.keep(update)
        }
        throw EveningFailure("\(self.name) did not hear within \(seconds) s: \(what)")
    }

    /// Waits for a feed item.
    package func see<Value>(
        _ what: String, within seconds: Double = 10, _ match: (FeedContent) -> Value?
    ) async throws(EveningFailure) -> Value {
        try await self.hear(what, within: seconds) { update in
            guard case .feed(let entries, _) = update else { return nil }
            for entry in entries {
                if let value = match(entry.content) { return value }
            }
            return nil
        }
    }

    /// Waits for a notice.
    package func notice<Value>(
        _ what: String, within seconds: Double = 10, _ match: (NoticeContent) -> Value?
    ) async throws(EveningFailure) -> Value {
        try await self.hear(what, within: seconds) { update in
            guard case .event(.notice(let notice)) = update else { return nil }
            return match(notice.content)
        }
    }

    /// Takes in whatever has come, and whatever comes within `seconds`.
    package func listen(seconds: Double) async {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while let update = await self.next(before: deadline) { self.keep(update) }
    }

    /// Whether the feed had neither hole nor repeat.
    package var isFeedWhole: Bool { zip(self.numbers, self.numbers.dropFirst()).allSatisfy { $1 == $0 + 1 } }

    /// Begins a new account of the feed: for another live.
    package func forgetFeed() {
        self.numbers = []
        self.texts = []
        self.heard = []
    }

    private func keep(_ update: ClientUpdate) {
        self.heard.append(update)
        if self.heard.count > 5000 { self.heard.removeFirst() }
    }

    /// The next update; nil at the deadline or when the client has ended.
    private func next(before deadline: ContinuousClock.Instant) async -> ClientUpdate? {
        let update = await self.client.updates.next(before: deadline)
        if case .feed(let entries, _) = update { self.note(entries) }
        return update
    }

    private func note(_ entries: [FeedEntry]) {
        for entry in entries {
            self.numbers.append(entry.n)
            if case .text(_, let text, _) = entry.content { self.texts.append(text) }
            if case .liveEnded = entry.content { self.endings += 1 }
        }
    }
}
