// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import MachineKit
internal import PlazaModel
internal import ProtocolClient

/// The clients of a round: their workload in two connected lives, and in a third one in which a crowd sends more texts
/// than a feed carries.
///
/// In the connected lives users apply for a seat or are invited, the lives battle, viewers send messages, gifts and
/// likes, a host writes metadata, one viewer is muted and unmuted, and visitors come, are kicked or banned, and leave.
/// A user walks through the list of lives, while other lives begin and end. The app's backend posts texts over HTTP.
///
/// The calls of a step are repeated until they get a valid answer. A step that does not succeed within `stepTimeout` is
/// a stall. The calls in `StageWorkload+Calls.swift`, whose effects `HistoryChecker` counts, are sent once.
final class StageWorkload: Sendable {
    /// The parameters of a workload.
    struct Setting: Sendable {
        var addresses: [PlazaAddress]
        /// The gateways' addresses for HTTP, such as `http://127.0.0.1:8081`; empty for a workload without HTTP.
        var httpAddresses: [String] = []
        /// The beginning of the names of lives and users, unique in the cluster.
        var name: String
        /// Makes a token for a user; if `isServer` is true, the token has the role of the app's own server.
        var token: @Sendable (_ user: String, _ isServer: Bool) -> String
        /// How long a step may take.
        var stepTimeout: Duration
        /// How long a client waits for the answer to a call.
        var callTimeout = Duration.seconds(10)

        /// Makes a client that begins to connect; its user has the workload's name, followed by `name`.
        func client(_ name: String, isServer: Bool = false, of hub: ClientHub) -> PlazaClient {
            let user = "\(self.name)-\(name)"
            var options = BareClientCore.Options(token: self.token(user, isServer), session: SessionID(user))
            options.callTimeout = self.callTimeout
            return hub.client(addresses: self.addresses, options: options)
        }

        /// Makes a witness: a client that records what it receives.
        func witness(_ name: String, _ live: LiveID, of hub: ClientHub, isLate: Bool = false) -> Witness {
            Witness(
                name, user: UserID("\(self.name)-\(name)"), in: live, self.client(name, of: hub), isLate: isLate)
        }
    }

    let setting: Setting
    /// The event loop of all clients.
    let hub: ClientHub
    let lives: [LiveID]
    /// The host of each live.
    let hosts: [Witness]
    /// One viewer of each live.
    let viewers: [Witness]
    /// The guest, in the first live.
    let guest: Witness
    /// A viewer of the second live, who is muted and unmuted.
    let talker: Witness
    /// The host of the third live.
    let crowdHost: Witness
    /// The viewers of the third live, who together send more texts than its feed carries.
    let crowd: [Witness]
    /// The app's own server, which sends scores.
    let appServer: PlazaClient
    /// A user in no live, who walks through the list of lives.
    let lister: PlazaClient
    /// The visitors so far.
    let visitors = Locked<[Witness]>([])
    /// Whether all witnesses have joined the lives.
    let isOpen = Locked(false)
    /// The battle to which scores are sent now; nil if there is none.
    let openBattle = Locked<BattleID?>(nil)
    /// The methods of the calls that needed more than one attempt.
    private let repeatedMethods = Locked<Set<String>>([])
    /// The tasks that send a burst of calls each.
    let bursts = Locked<[Task<Void, Never>]>([])
    /// What the clients did and received, for `HistoryChecker`; the feeds are added at the end.
    let history = Locked(RoundHistory())
    /// Approximately when the last battle that began is due to end; nil before the first battle.
    let battleEnd = Locked<ContinuousClock.Instant?>(nil)

    init(_ setting: Setting) throws {
        let hub = try ClientHub(name: "chaos-stage")
        let lives = ["a", "b"].map { LiveID("\(setting.name)-\($0)") }
        func witness(_ name: String, _ live: LiveID) -> Witness { setting.witness(name, live, of: hub) }
        self.setting = setting
        self.hub = hub
        self.lives = lives
        self.hosts = [witness("host-a", lives[0]), witness("host-b", lives[1])]
        self.viewers = [witness("viewer-a", lives[0]), witness("viewer-b", lives[1])]
        self.guest = witness("guest", lives[0])
        self.talker = witness("talker", lives[1])
        let crowdedLive = LiveID("\(setting.name)-crowded")
        self.crowdHost = witness("crowd-host", crowdedLive)
        self.crowd = (1...Self.crowdCount).map { witness("fan-\($0)", crowdedLive) }
        self.appServer = setting.client("shop", isServer: true, of: hub)
        self.lister = setting.client("lister", of: hub)
    }

    /// Makes a witness beyond those that the properties hold.
    func makeWitness(_ name: String, _ live: LiveID, isLate: Bool) -> Witness {
        self.setting.witness(name, live, of: self.hub, isLate: isLate)
    }

    /// The witnesses who are in their lives from the beginning to the end.
    var witnesses: [Witness] { self.hosts + self.viewers + [self.guest, self.talker, self.crowdHost] + self.crowd }

    /// Opens the lives, runs battles, seats and messages until `isOver` returns true, then ends the lives.
    ///
    /// - Parameters:
    ///   - isOver: whether the round's load, which runs at the same time, is over.
    ///   - countsDueFrom: returns when the counts of viewers must be true again after the fault; nil without a fault.
    /// - Returns: all that the clients did and received.
    func run(
        until isOver: @escaping @Sendable () -> Bool, countsDueFrom: @Sendable () -> Timestamp? = { nil }
    ) async -> RoundHistory {
        defer { self.stop() }
        do {
            try await self.open()
            self.isOpen.withLock { $0 = true }
            // All tasks run at the same time. A stall ends only the task in which it happens.
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await self.runBattles(until: isOver) }
                group.addTask { try? await self.runSeats(until: isOver) }
                group.addTask { await self.chat(until: isOver) }
                group.addTask { await self.runCrowd(until: isOver) }
                group.addTask { try? await self.runBackend(until: isOver) }
                group.addTask { try? await self.runGifts(until: isOver) }
                group.addTask { await self.runMetadata(until: isOver) }
                group.addTask { try? await self.runMutes(until: isOver) }
                group.addTask { try? await self.runVisitors(until: isOver) }
                group.addTask { try? await self.runInvitations(until: isOver) }
                group.addTask { await self.runListWalks(until: isOver) }
                group.addTask { try? await self.runPassingLives(until: isOver) }
            }
            for burst in self.bursts.withLock({ $0 }) { await burst.value }
            await self.recordCounts(dueFrom: countsDueFrom())
            await self.recordMetadata()
            try await self.end()
        } catch {
            // The error is a `Stall`. `throwStall` has recorded it in the history.
        }
        return self.history.withLock { history in
            history.feeds = (self.witnesses + self.visitors.withLock { $0 }).map(\.feed)
            history.neverLeft = Set(self.witnesses.map(\.user))
            history.livesOfAllWalks = Set(self.lives)
            return history
        }
    }

    private func stop() {
        for witness in self.witnesses + self.visitors.withLock({ $0 }) { witness.stop() }
        self.appServer.stop()
        self.lister.stop()
        self.hub.stop()
    }

    // MARK: Steps

    /// A step did not succeed within `stepTimeout`.
    struct Stall: Error {}

    /// Sends a call, and repeats it until there is a valid answer.
    ///
    /// - Parameters:
    ///   - client: the caller.
    ///   - name: the caller's name, for the description of a stall.
    ///   - method: the method.
    ///   - params: the parameters of the call.
    ///   - live: the live to join or end; nil for other calls.
    ///   - alreadyDone: reply codes which show that an earlier attempt has succeeded, although its reply was lost.
    /// - Returns: the result; nil for a code of `alreadyDone`.
    /// - Throws: `Stall` after `stepTimeout`.
    @discardableResult
    func call(
        _ client: PlazaClient, _ name: String, _ method: String, _ params: CallParams, live: LiveID? = nil,
        alreadyDone: Set<ReplyCode> = []
    ) async throws(Stall) -> CallResult? {
        let began = ContinuousClock.now
        let deadline = began + self.setting.stepTimeout
        var lastAnswer = "no answer"
        while ContinuousClock.now < deadline {
            do {
                let result = try await client.call(method, params, live: live)
                let wait = ContinuousClock.now - began
                self.history.withLock { $0.longestAnswer = max($0.longestAnswer, wait) }
                return result
            } catch {
                if alreadyDone.contains(error.code) { return nil }
                lastAnswer = "\(error.code.name): \(error.message)"
                self.repeatedMethods.withLock { _ = $0.insert(method) }
                // The pause that the server has named, but at least 0.1 s and at most 2 s.
                try? await Task.sleep(for: .milliseconds(max(100, min(2_000, error.retryAfter ?? 0))))
            }
        }
        return try self.throwStall(
            "\(name)'s \(method) had no valid answer for \(self.setting.stepTimeout); the last was \(lastAnswer)")
    }

    /// Whether a call of this method was sent again, so that an earlier attempt of it may still be applied.
    func hasRepeated(_ method: String) -> Bool { self.repeatedMethods.withLock { $0.contains(method) } }

    /// Waits until a condition holds for a witness; `expectation` describes it if it does not hold in time.
    func wait(_ witness: Witness, _ expectation: String, until isTrue: (Witness) -> Bool) async throws(Stall) {
        guard await witness.wait(within: self.setting.stepTimeout, until: isTrue) else {
            return try self.throwStall("\(witness.name) did not see \(expectation) within \(self.setting.stepTimeout)")
        }
    }

    /// Records a stall in the history and throws it.
    ///
    /// The result type is generic, so that a function with any result type can `return try` a call of this method.
    func throwStall<Value>(_ text: String) throws(Stall) -> Value {
        self.history.withLock { $0.stalls.append(text) }
        throw Stall()
    }

    /// Lets the hosts create their lives, and all witnesses join them.
    private func open() async throws(Stall) {
        for host in self.hosts + [self.crowdHost] {
            try await self.call(
                host.client, host.name, "live.create", CallParams(live: host.live),
                alreadyDone: [.roomExists, .roomExistsAndIsYours])
        }
        for member in self.witnesses {
            try await self.call(
                member.client, member.name, "live.join", CallParams(live: member.live), live: member.live)
        }
    }

    /// Ends the lives, and waits until all witnesses have received the end.
    private func end() async throws(Stall) {
        for host in self.hosts + [self.crowdHost] {
            let params = CallParams(live: host.live)
            try await self.call(
                host.client, host.name, "live.end", params, live: host.live,
                alreadyDone: [.noSuchRoom, .noSuchRoomOnEntry, .notInRoom])
            self.history.withLock { _ = $0.endedLives.insert(host.live) }
        }
        for witness in self.witnesses {
            try await self.wait(witness, "the end of \(witness.live)") { $0.feed.contents.contains(where: \.isEnd) }
        }
        // If the server sent an item after the end, it would arrive within this time.
        try? await Task.sleep(for: .milliseconds(300))
    }

    /// Lets the viewers send texts.
    private func chat(until isOver: () -> Bool) async {
        var round = 0
        while !isOver() {
            round += 1
            for viewer in self.viewers { await self.sendText("\(viewer.name) says \(round)", from: viewer) }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    // MARK: Counts

    /// How long the counts may take to follow the last joins and leaves, even without a fault.
    private static let countDelay = Duration.seconds(5)
    /// The maximum wait for the counts; the counts may be due later, or at an unknown time if the fault still lasts.
    private static let maxCountDelay = Duration.seconds(30)

    /// Reads the lives' counts of viewers at the end, and records them beside the true numbers; neither number includes
    /// the owner.
    private func recordCounts(dueFrom: Timestamp?) async {
        // Each of these witnesses, who are not owners, adds 1 to the number of its live.
        let members = Dictionary((self.viewers + [self.guest, self.talker]).map { ($0.live, 1) }, uniquingKeysWith: +)
        let untilDue = dueFrom.map { Duration($0 - .ofThisMachine) } ?? .zero
        let deadline = ContinuousClock.now + min(max(Self.countDelay, untilDue), Self.maxCountDelay)
        let counts = await withTaskGroup(of: (LiveID, Int?).self) { group in
            for viewer in self.viewers {
                group.addTask {
                    (viewer.live, await Self.readCount(of: viewer, by: deadline, expected: members[viewer.live]))
                }
            }
            return await group.reduce(into: [LiveID: Int]()) { $0[$1.0] = $1.1 }
        }
        // If a visitor has not left, the true number is not known, so no counts are recorded. That the visitor could
        // not leave is a stall, so it is a finding already.
        guard self.visitors.withLock({ $0.allSatisfy(\.feed.hasLeft) }) else { return }
        self.history.withLock { history in
            history.counts = members.map { .init(live: $0.key, members: $0.value, lastCount: counts[$0.key]) }
        }
    }

    /// Reads the count of a viewer's live until it is the expected one, or until the deadline.
    ///
    /// - Returns: the last count that was not stale (uncertain, because Redis has lost its data); nil without one.
    private static func readCount(
        of viewer: Witness, by deadline: ContinuousClock.Instant, expected: Int?
    ) async -> Int? {
        var lastCount: Int?
        repeat {
            let result = try? await viewer.client.call("audience.count", CallParams(live: viewer.live))
            if case .count(let count) = result, !count.stale {
                lastCount = count.count
                if count.count == expected { break }
            }
            try? await Task.sleep(for: .milliseconds(250))
        } while ContinuousClock.now < deadline
        return lastCount
    }
}
