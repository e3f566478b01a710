// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import MachineKit
internal import PlazaModel
internal import ProtocolClient

/// Runs the live that lasts as long as a run: a watcher stays in it, while other viewers enter and then leave or fall
/// silent (I4).
///
/// A silent viewer counts as gone only after 90 s, but a round of faults takes about 30 s. So this live spans all
/// rounds, and is checked once, at the end of the run.
final class PresenceWorkload: Sendable {
    /// The parameters.
    struct Setting: Sendable {
        var addresses: [PlazaAddress]
        /// The name of the live, and the beginning of the names of its users; unique in the cluster.
        var name: String
        /// Makes a token for a user.
        var token: @Sendable (_ user: String) -> String
    }

    /// The time between two pairs of viewers: one of each pair falls silent, the other leaves.
    private static let interval = Duration.seconds(15)
    /// How long a viewer who leaves is in the live.
    private static let stay = Duration.seconds(2)
    /// The time between two reads of the list.
    private static let readInterval = Duration.seconds(3)
    /// How long the proxy of a silent viewer is kept.
    ///
    /// It is longer than 40 s, after which a gateway ends a connection without a byte.
    private static let silenceDuration = Duration.seconds(60)
    /// How long a call is repeated without an answer.
    private static let stepTimeout = Duration.seconds(40)

    private let setting: Setting
    private let live: LiveID
    private let hub: ClientHub
    private let host: PlazaClient
    private let watcher: PlazaClient
    private let history: Locked<PresenceHistory>
    /// Whether the watcher is in the live, so that it receives the tips about everybody who enters.
    private let isWatching = Locked(false)

    init(_ setting: Setting) throws {
        let hub = try ClientHub(name: "chaos-presence")
        self.setting = setting
        self.live = LiveID(setting.name)
        self.hub = hub
        self.host = Self.client("host", setting, setting.addresses, on: hub)
        self.watcher = Self.client("watcher", setting, setting.addresses, on: hub)
        let stayers = Set(["host", "watcher"].map { UserID("\(setting.name)-\($0)") })
        self.history = Locked(PresenceHistory(live: LiveID(setting.name), stayers: stayers, end: .distantPast))
    }

    private static func client(
        _ name: String, _ setting: Setting, _ addresses: [PlazaAddress], on hub: ClientHub, reconnects: Bool = true
    ) -> PlazaClient {
        let user = "\(setting.name)-\(name)"
        var options = BareClientCore.Options(token: setting.token(user), session: SessionID(user))
        options.callTimeout = .seconds(10)
        options.reconnectsAutomatically = reconnects
        return hub.client(addresses: addresses, options: options)
    }

    /// Opens the live, lets viewers come, leave and fall silent until `isOver` returns true, and ends the live.
    ///
    /// - Returns: the history, in which the caller must still set the faults.
    func run(until isOver: @escaping @Sendable () -> Bool) async -> PresenceHistory {
        self.history.withLock { $0.begin = .ofThisMachine }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.watch(until: isOver) }
            group.addTask { await self.readPages(until: isOver) }
            group.addTask { await self.runVisits(until: isOver) }
        }
        let end = Timestamp.ofThisMachine
        _ = try? await self.host.call("live.end", CallParams(live: self.live), live: self.live)
        for client in [self.host, self.watcher] { client.stop() }
        self.hub.stop()
        return self.history.withLock { history in
            history.end = end
            return history
        }
    }

    /// Sends a call again and again until it is answered.
    ///
    /// An error counts as an answer only if its code is in `alreadyDone`, because such a code means that an earlier
    /// attempt was applied.
    ///
    /// - Returns: when the answered attempt was sent, and when it was answered; nil without an answer within
    ///   `stepTimeout`.
    private func call(
        _ client: PlazaClient, _ method: String, _ params: CallParams, live: LiveID? = nil,
        alreadyDone: Set<ReplyCode> = [], until isOver: () -> Bool
    ) async -> (sent: Timestamp, answered: Timestamp)? {
        let deadline = ContinuousClock.now + Self.stepTimeout
        while ContinuousClock.now < deadline, !isOver() {
            let sent = Timestamp.ofThisMachine
            do {
                _ = try await client.call(method, params, live: live)
                return (sent, .ofThisMachine)
            } catch {
                if alreadyDone.contains(error.code) { return (sent, .ofThisMachine) }
                // The pause that the server has named, but at least 0.1 s: a client that has ended fails at once.
                try? await Task.sleep(for: .milliseconds(max(100, min(2_000, error.retryAfter ?? 0))))
            }
        }
        return nil
    }

    /// Sleeps for a while, in steps, so that the end of the run is noticed.
    private func sleep(for duration: Duration, until isOver: () -> Bool) async {
        let deadline = ContinuousClock.now + duration
        while ContinuousClock.now < deadline, !isOver() { try? await Task.sleep(for: .milliseconds(200)) }
    }

    // MARK: The watcher

    /// Opens the live, and records what the watcher receives.
    private func watch(until isOver: () -> Bool) async {
        await self.enter(until: isOver)
        self.isWatching.withLock { $0 = true }
        while !isOver() {
            guard let update = await self.watcher.updates.next(before: .now + .milliseconds(200)) else { continue }
            let now = Timestamp.ofThisMachine
            switch update {
            case .feed(let entries, _): self.record(entries, at: now)
            case .event(.resumed(_, replayed: false)): self.history.withLock { $0.gaps.append(now) }
            case .event(.resumeFailed):
                await self.enter(until: isOver)
                self.history.withLock { $0.gaps.append(.ofThisMachine) }
            case .history, .event: break
            }
        }
    }

    /// Creates the live if it does not exist, and lets the watcher join it.
    private func enter(until isOver: () -> Bool) async {
        while !isOver() {
            _ = await self.call(
                self.host, "live.create", CallParams(live: self.live),
                alreadyDone: [.roomExists, .roomExistsAndIsYours, .inAnotherRoom], until: isOver)
            let params = CallParams(live: self.live)
            if await self.call(self.watcher, "live.join", params, live: self.live, until: isOver) != nil { return }
        }
    }

    private func record(_ entries: [FeedEntry], at now: Timestamp) {
        let tips = entries.compactMap { entry -> PresenceHistory.Tip? in
            switch entry.content {
            case .audienceJoined(let user, _):
                PresenceHistory.Tip(user: user.userID, isJoin: true, at: entry.at, seen: now)
            case .audienceLeft(let user):
                PresenceHistory.Tip(user: user.userID, isJoin: false, at: entry.at, seen: now)
            default: nil
            }
        }
        self.history.withLock { $0.tips += tips }
    }

    /// Reads the list again and again; the few users are on one page.
    private func readPages(until isOver: () -> Bool) async {
        while !isOver() {
            await self.sleep(for: Self.readInterval, until: isOver)
            let result = try? await self.watcher.call("audience.list", CallParams(live: self.live))
            guard case .audience(let page)? = result, let at = page.at, page.cursor.isEmpty else { continue }
            let users = Set(page.members.map(\.user.userID))
            self.history.withLock { $0.pages.append(.init(at: at, users: users)) }
        }
    }

    // MARK: Viewers

    /// Lets pairs of viewers enter: one falls silent (in turn with a broken and with an open connection), one leaves.
    private func runVisits(until isOver: @escaping @Sendable () -> Bool) async {
        while !isOver(), !self.isWatching.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(50)) }
        await withTaskGroup(of: Void.self) { group in
            var number = 0
            while !isOver() {
                number += 1
                let silence = number.isMultiple(of: 2) ? PresenceHistory.Ending.silence : .cut
                for (name, ending) in [("silent-\(number)", silence), ("leaver-\(number)", .leave)] {
                    let gateway = number
                    group.addTask { await self.visit(name, ending, gateway: gateway, until: isOver) }
                }
                await self.sleep(for: Self.interval, until: isOver)
            }
        }
    }

    /// Runs one visit.
    ///
    /// A viewer who will fall silent has a proxy of its own before its gateway, so that its connection can be
    /// interrupted alone.
    private func visit(
        _ name: String, _ ending: PresenceHistory.Ending, gateway: Int, until isOver: () -> Bool
    ) async {
        var proxy: FaultProxies?
        var addresses = self.setting.addresses
        if ending != .leave {
            guard let own = try? FaultProxies(servers: [addresses[gateway % addresses.count].port]) else { return }
            addresses = [PlazaAddress(host: "127.0.0.1", port: own.ports[0])]
            proxy = own
        }
        defer { proxy?.stop() }
        // Only a viewer who leaves connects again, since a new connection of a silent one would be a sign of life.
        let client = Self.client(name, self.setting, addresses, on: self.hub, reconnects: proxy == nil)
        defer { client.stop() }
        let params = CallParams(live: self.live)
        guard let join = await self.call(client, "live.join", params, live: self.live, until: isOver) else { return }
        let user = UserID("\(self.setting.name)-\(name)")
        let index = self.history.withLock { history in
            history.visits.append(
                .init(user: user, ending: ending, joinSent: join.sent, joined: join.answered))
            return history.visits.count - 1
        }
        if let proxy {
            let began = Timestamp.ofThisMachine
            // The viewer has one proxy, whose index is 0.
            proxy.interrupt(0, ending == .cut ? .cut : .silence([.toServer]))
            // The viewer has sent nothing since its join, because its first ping is due after 20 s. So its silence
            // begins here.
            self.history.withLock { ($0.visits[index].endBegan, $0.visits[index].ended) = (began, began) }
            await self.sleep(for: Self.silenceDuration, until: isOver)
        } else {
            await self.sleep(for: Self.stay, until: isOver)
            await self.leave(client, visit: index, until: isOver)
        }
    }

    /// Lets a viewer leave.
    private func leave(_ client: PlazaClient, visit index: Int, until isOver: () -> Bool) async {
        self.history.withLock { $0.visits[index].endBegan = .ofThisMachine }
        // An earlier attempt may have been applied although its answer was lost.
        let leave = await self.call(
            client, "live.leave", CallParams(live: self.live), live: self.live,
            alreadyDone: [.notInRoom, .notMember, .noSuchRoomOnEntry], until: isOver)
        self.history.withLock { $0.visits[index].ended = leave?.answered }
    }
}
