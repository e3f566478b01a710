// SPDX-License-Identifier: Apache-2.0
import LoadKit
import PlazaModel
import ProtocolClient

/// A live of the suite's shared cluster, with two real clients that have joined: the host, who owns the live, and a
/// watcher, who is a viewer.
///
/// The audience list and the audience count contain the watcher only, because an owner is not audience.
struct LiveFixture {
    let harness: ClusterHarness
    let hub: ClientHub
    let live: LiveID
    let host: RecordingClient
    let watcher: RecordingClient

    /// Creates the live, and lets both clients join; with nil as `seatTemplate`, the live has the default template.
    init(_ hub: ClientHub, seatTemplate: Int? = nil) async throws {
        self.harness = try SharedCluster.harness
        self.hub = hub
        self.live = LiveID(ClusterHarness.uniqueName("live"))
        self.host = RecordingClient("host", self.harness.client("\(self.live)-host", on: hub))
        self.watcher = RecordingClient("watcher", self.harness.client("\(self.live)-watcher", on: hub))
        try await self.call(self.host, "live.create", CallParams(seatTemplate: seatTemplate))
        try await self.call(self.host, "live.join")
        try await self.call(self.watcher, "live.join")
    }

    /// Makes another client, which joins the live; its user's id ends with `name`.
    func join(_ name: String) async throws -> RecordingClient {
        let client = RecordingClient(name, self.harness.client("\(self.live)-\(name)", on: self.hub))
        try await self.call(client, "live.join")
        return client
    }

    /// The user id of a client of this live.
    func id(of client: RecordingClient) -> UserID { UserID("\(self.live)-\(client.name)") }

    /// Sends a call about this live.
    private func send(
        _ caller: RecordingClient, _ method: String, _ params: CallParams
    ) async throws(ReplyError) -> CallResult {
        var params = params
        params.live = self.live
        return try await caller.client.call(method, params, live: self.live)
    }

    /// Sends a call that must succeed.
    @discardableResult
    func call(
        _ caller: RecordingClient, _ method: String, _ params: CallParams = CallParams()
    ) async throws(ScenarioFailure) -> CallResult {
        do {
            return try await self.send(caller, method, params)
        } catch {
            throw ScenarioFailure("\(caller.name): \(method) was rejected: \(error.code.name), \(error.message)")
        }
    }

    /// Calls a method that must be rejected.
    ///
    /// - Returns: the code of the rejection.
    func rejectionCode(
        _ caller: RecordingClient, _ method: String, _ params: CallParams = CallParams()
    ) async throws(ScenarioFailure) -> ReplyCode {
        do {
            let result = try await self.send(caller, method, params)
            throw ScenarioFailure("\(caller.name): \(method) should be rejected and gave \(result)")
        } catch let error as ReplyError {
            return error.code
        } catch {
            throw ScenarioFailure("\(error)")
        }
    }

    /// Reads the live's info with a call of the watcher.
    func readInfo() async throws -> LiveInfo {
        guard case .room(let details) = try await self.call(self.watcher, "live.get") else {
            throw ScenarioFailure("live.get gave no info of a live")
        }
        return details.info
    }

    /// Reads the live's info repeatedly until it satisfies a condition, for at most 5 s.
    ///
    /// A change that the feed has shown may be in the gateway's read model only later, because the feed and the infos
    /// of lives are separate topics.
    ///
    /// - Parameter isExpected: the condition.
    /// - Returns: the info that was read last, even if it does not satisfy the condition.
    /// - Throws: when a call fails.
    func readInfo(once isExpected: (LiveInfo) -> Bool) async throws -> LiveInfo {
        var info = try await self.readInfo()
        // At most 50 times 0.1 s, which is 5 s.
        for _ in 0..<50 where !isExpected(info) {
            await self.watcher.recordUpdates(seconds: 0.1)
            info = try await self.readInfo()
        }
        return info
    }

    /// Reads the live's info in the list of lives.
    ///
    /// Waits for the live for at most 10 s (20 times 0.5 s), because the list shows a live a few seconds after its
    /// creation.
    func readInfoInList() async throws -> LiveInfo {
        for _ in 0..<20 {
            var cursor: String?
            repeat {
                guard
                    case .lives(let entries, let nextCursor) = try await self.call(
                        self.watcher, "live.list", CallParams(cursor: cursor))
                else { throw ScenarioFailure("live.list gave no list of lives") }
                if let entry = entries.first(where: { $0.info.liveID == self.live }) { return entry.info }
                cursor = nextCursor.isEmpty ? nil : nextCursor
            } while cursor != nil
            await self.watcher.recordUpdates(seconds: 0.5)
        }
        throw ScenarioFailure("the live is not in the list after 10 s")
    }

    /// Puts a member of the live on a seat: the host invites, and the member accepts.
    func seat(_ guest: RecordingClient, on index: Int) async throws {
        try await self.call(
            self.host, "seat.invite", CallParams(user: self.id(of: guest), seatIndex: index, timeout: 60))
        try await guest.waitForNotice("an invitation") { if case .invitationReceived = $0 { true } else { false } }
        try await self.call(guest, "seat.acceptInvitation", CallParams(user: self.id(of: self.host)))
        try await self.watcher.waitForStage("\(guest.name) on seat \(index)") { record, _ in
            record.seats[index].occupant?.user.userID == self.id(of: guest)
        }
    }

    /// Connects this live with others (co-hosting), and waits until the watcher of each live sees all lives on stage.
    func connect(_ others: LiveFixture...) async throws {
        let lives = others.map(\.live)
        try await self.call(self.host, "cohost.request", CallParams(to: lives, timeout: 30))
        for partner in others {
            try await partner.host.waitForNotice("a co-host request") {
                if case .coHostRequestReceived = $0 { true } else { false }
            }
            try await partner.call(partner.host, "cohost.accept", CallParams(inviter: self.live))
        }
        for fixture in [self] + others {
            try await fixture.watcher.waitForStage("all lives in connection and layout") { record, _ in
                let connectedLives = Set((record.connection?.members ?? []).map(\.live))
                let livesInLayout = Set(record.layout.regions.map(\.live))
                return connectedLives == Set(lives + [self.live]) && livesInLayout == connectedLives
            }
        }
    }

    /// Starts a battle of this live against others, which are connected with it, and waits until the watcher of each
    /// live sees the battle.
    func startBattle(_ others: LiveFixture..., seconds: Int) async throws -> BattleID {
        let result = try await self.call(
            self.host, "battle.request", CallParams(to: others.map(\.live), duration: seconds))
        guard case .battle(let battle, _, _, _) = result else { throw ScenarioFailure("battle.request gave \(result)") }
        for fixture in [self] + others {
            try await fixture.watcher.waitForStage("the start of the battle") { _, events in
                events.contains(.battleStarted(battle: battle))
            }
        }
        return battle
    }
}

extension StageEvent {
    /// A short text of the event for comparisons, such as `seat left 3` for a user who left seat 3.
    var shortText: String {
        switch self {
        case .seatTaken(let index, _): "seat taken \(index)"
        case .seatLeft(let index, _): "seat left \(index)"
        case .userMoved(_, let from, let to): "seat moved \(from) \(to)"
        case .seatLocked(let index): "seat locked \(index)"
        case .seatUnlocked(let index): "seat unlocked \(index)"
        case .coHostJoined(let member): "connected \(member.live)"
        case .coHostLeft(let member): "disconnected \(member.live)"
        case .coHostMuted(let live, let isMuted): "connected live muted \(live) \(isMuted)"
        case .battleStarted: "battle started"
        case .battleUserJoined(_, let live): "battle joined \(live)"
        case .battleUserExited(_, let live): "battle left \(live)"
        case .battleScored: "battle scored"
        case .battleEnded(_, let reason): "battle ended \(reason.rawValue)"
        }
    }
}
