// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

/// Two connected lives with all that needs coordination: guests on seats, co-hosts, battles, messages.
///
/// Each step is repeated until it gets a valid answer. A step without one within the allowed time is a stall.
final class StageWorkload: Sendable {
    /// Where and as whom the clients log in.
    struct Setting: Sendable {
        var addresses: [PlazaAddress]
        /// A part of all names, unique in the cluster.
        var name: String
        var token: @Sendable (_ user: String, _ isServer: Bool) -> String
        /// How long a step may take.
        var allowed: Duration
    }

    let setting: Setting
    let hub: ClientHub
    let lives: [LiveID]
    let hosts: [Witness]
    let viewers: [Witness]
    let guest: Witness
    /// The app's own server, which sends scores.
    let shop: PlazaClient
    let history = Locked(RoundHistory())
    /// When the last battle that began is due to end, about; nil before the first one.
    let battleEnd = Locked<ContinuousClock.Instant?>(nil)

    init(_ setting: Setting) throws {
        let hub = try ClientHub(name: "chaos-stage")
        func client(_ name: String, isServer: Bool = false) -> PlazaClient {
            let user = "\(setting.name)-\(name)"
            var options = ClientCore.Options(token: setting.token(user, isServer), session: SessionID(user))
            options.callTimeout = .seconds(10)
            return hub.client(addresses: setting.addresses, options: options)
        }
        let lives = ["a", "b"].map { LiveID("\(setting.name)-\($0)") }
        func witness(_ name: String, _ live: LiveID) -> Witness {
            Witness(name, user: UserID("\(setting.name)-\(name)"), in: live, client(name))
        }
        self.setting = setting
        self.hub = hub
        self.lives = lives
        self.hosts = [witness("host-a", lives[0]), witness("host-b", lives[1])]
        self.viewers = [witness("viewer-a", lives[0]), witness("viewer-b", lives[1])]
        self.guest = witness("guest", lives[0])
        self.shop = client("shop", isServer: true)
    }

    var witnesses: [Witness] { self.hosts + self.viewers + [self.guest] }

    /// Runs the steps until `isOver`, then ends the lives.
    ///
    /// - Returns: all that the clients did and saw.
    func run(until isOver: @escaping @Sendable () -> Bool) async -> RoundHistory {
        defer { self.stop() }
        do {
            try await self.open()
            // Battles, seats and messages go on beside each other; the first stall of one ends it alone.
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await self.battle(until: isOver) }
                group.addTask { try? await self.seat(until: isOver) }
                group.addTask { await self.chat(until: isOver) }
            }
            await self.compareCounts()
            try await self.end()
        } catch {
            // A stall, which is in the history already.
        }
        return self.history.withLock { history in
            history.feeds = self.witnesses.map(\.feed)
            history.faithful = Set(self.witnesses.map(\.user))
            return history
        }
    }

    private func stop() {
        for witness in self.witnesses { witness.stop() }
        self.shop.stop()
        self.hub.stop()
    }

    // MARK: Steps

    /// A step got no valid answer in time.
    struct Stall: Error {}

    /// Calls until there is a valid answer.
    ///
    /// - Parameters:
    ///   - client: the caller.
    ///   - name: the caller's name, for a stall.
    ///   - method: the method.
    ///   - params: its parameters.
    ///   - live: the live to join or leave; nil for other calls.
    ///   - done: codes that say that an earlier, unanswered try has done it.
    /// - Returns: the result; nil for a code of `done`.
    /// - Throws: `Stall` at the end of the allowed time.
    @discardableResult
    func call(
        _ client: PlazaClient, _ name: String, _ method: String, _ params: CallParams, live: LiveID? = nil,
        done: Set<ReplyCode> = []
    ) async throws(Stall) -> CallResult? {
        let deadline = ContinuousClock.now + self.setting.allowed
        var last = "no answer"
        while ContinuousClock.now < deadline {
            do {
                return try await client.call(method, params, live: live)
            } catch {
                if done.contains(error.code) { return nil }
                last = "\(error.code.name): \(error.message)"
                try? await Task.sleep(for: .milliseconds(max(100, min(2_000, error.retryAfter ?? 0))))
            }
        }
        return try self.stalled(
            "\(name)'s \(method) had no valid answer for \(self.setting.allowed); the last was \(last)")
    }

    func wait(_ witness: Witness, _ what: String, until isTrue: (Witness) -> Bool) async throws(Stall) {
        guard await witness.wait(within: self.setting.allowed, until: isTrue) else {
            return try self.stalled("\(witness.name) did not see \(what) within \(self.setting.allowed)")
        }
    }

    func stalled<Value>(_ text: String) throws(Stall) -> Value {
        self.history.withLock { $0.stalls.append(text) }
        throw Stall()
    }

    private func open() async throws(Stall) {
        for (host, viewer) in zip(self.hosts, self.viewers) {
            let params = CallParams(live: host.live)
            try await self.call(
                host.client, host.name, "live.create", params, done: [.roomExists, .roomExistsAndIsYours])
            for member in [host, viewer] {
                try await self.call(member.client, member.name, "live.join", params, live: host.live)
            }
        }
        let live = self.guest.live
        try await self.call(self.guest.client, self.guest.name, "live.join", CallParams(live: live), live: live)
    }

    private func end() async throws(Stall) {
        for host in self.hosts {
            let params = CallParams(live: host.live)
            try await self.call(
                host.client, host.name, "live.end", params, live: host.live,
                done: [.noSuchRoom, .noSuchRoomOnEntry, .notInRoom])
            self.history.withLock { _ = $0.endedLives.insert(host.live) }
        }
        for witness in self.witnesses {
            try await self.wait(witness, "the end of \(witness.live)") { $0.feed.contents.contains(where: \.isEnd) }
        }
        // Anything after the end would come at once.
        try? await Task.sleep(for: .milliseconds(300))
    }

    private func chat(until isOver: () -> Bool) async {
        var round = 0
        while !isOver() {
            round += 1
            for viewer in self.viewers {
                let text = "\(viewer.name) says \(round)"
                let reply: CallResult?
                do {
                    reply = try await viewer.client.call("barrage.sendText", CallParams(live: viewer.live, text: text))
                } catch {
                    reply = nil
                }
                var number: Int64?
                if case .sent(let position) = reply { number = position.number }
                self.history.withLock { $0.texts[viewer.live, default: [:]][text] = .some(number) }
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    // MARK: Counts

    /// Reads the counts until they are as wanted, at most for `limit`.
    private func readCounts(
        within limit: Duration, until isWanted: (LiveID, Int) -> Bool
    ) async -> [LiveID: Int] {
        var counts: [LiveID: Int] = [:]
        for viewer in self.viewers {
            let deadline = ContinuousClock.now + limit
            repeat {
                let result = try? await viewer.client.call("audience.count", CallParams(live: viewer.live))
                if case .count(let count) = result, !count.stale {
                    counts[viewer.live] = count.count
                    if isWanted(viewer.live, count.count) { break }
                }
                try? await Task.sleep(for: .milliseconds(250))
            } while ContinuousClock.now < deadline
        }
        return counts
    }

    /// Compares the counts with the truth: the members of each live, without its owner.
    private func compareCounts() async {
        let members = Dictionary((self.viewers + [self.guest]).map { ($0.live, 1) }, uniquingKeysWith: +)
        let read = await self.readCounts(within: .seconds(15)) { members[$0] == $1 }
        self.history.withLock { history in
            history.counts = members.map { .init(live: $0.key, members: $0.value, read: read[$0.key]) }
        }
    }
}
