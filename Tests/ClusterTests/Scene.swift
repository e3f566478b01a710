// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LoadKit
import PlazaModel

/// One live of the suite's cluster, with its host and a watcher in it, each a real client.
struct Scene {
    let harness: ClusterHarness
    let hub: ClientHub
    let live: LiveID
    let host: Witness
    let watcher: Witness

    init(_ hub: ClientHub, seatTemplate: Int? = nil) async throws {
        self.harness = try SharedCluster.harness
        self.hub = hub
        self.live = LiveID(ClusterHarness.name("live"))
        self.host = Witness("host", self.harness.client("\(self.live)-host", on: hub))
        self.watcher = Witness("watcher", self.harness.client("\(self.live)-watcher", on: hub))
        try await self.call(self.host, "live.create", SceneParams(seatTemplate: seatTemplate))
        try await self.call(self.host, "live.join")
        try await self.call(self.watcher, "live.join")
    }

    /// Who comes in besides host and watcher.
    func enter(_ name: String) async throws -> Witness {
        let witness = Witness(name, self.harness.client("\(self.live)-\(name)", on: self.hub))
        try await self.call(witness, "live.join")
        return witness
    }

    /// The user that a witness of this live is.
    func user(_ witness: Witness) -> UserID { UserID("\(self.live)-\(witness.name)") }

    @discardableResult
    func call(
        _ who: Witness, _ method: String, _ params: SceneParams = SceneParams()
    ) async throws(EveningFailure) -> CallResult {
        var params = params
        params.live = self.live
        do {
            return try await who.client.call(method, params, live: self.live)
        } catch {
            throw EveningFailure("\(who.name): \(method) was refused: \(error.code.name), \(error.message)")
        }
    }

    /// Calls a method that must be refused.
    ///
    /// - Returns: the code.
    func refusal(
        _ who: Witness, _ method: String, _ params: SceneParams = SceneParams()
    ) async throws(EveningFailure) -> ReplyCode {
        var params = params
        params.live = self.live
        do {
            let result = try await who.client.call(method, params, live: self.live)
            throw EveningFailure("\(who.name): \(method) should be refused and gave \(result)")
        } catch let error as ReplyError {
            return error.code
        } catch {
            throw EveningFailure("\(error)")
        }
    }

    /// The live as anybody may look it up.
    func details() async throws -> LiveInfo {
        guard case .room(let details) = try await self.call(self.watcher, "live.get") else {
            throw EveningFailure("live.get gave something else")
        }
        return details.info
    }

    /// The live's info once it is as wanted: the feed and the gateway's table are two topics, and either may be ahead.
    ///
    /// - Parameter isWanted: what is waited for, at most 5 s.
    /// - Returns: the info as it was last.
    /// - Throws: when a call fails.
    func details(once isWanted: (LiveInfo) -> Bool) async throws -> LiveInfo {
        var info = try await self.details()
        for _ in 0..<50 where !isWanted(info) {
            _ = try? await self.watcher.wait("nothing", within: 0.1) { _ in nil as Bool? }
            info = try await self.details()
        }
        return info
    }

    /// The live as the list shows it, in which it is a few seconds after its begin.
    func listed() async throws -> LiveInfo {
        for _ in 0..<20 {
            var cursor: String?
            repeat {
                guard
                    case .lives(let items, let next) = try await self.call(
                        self.watcher, "live.list", SceneParams(cursor: cursor))
                else { throw EveningFailure("live.list gave something else") }
                if let entry = items.first(where: { $0.info.liveID == self.live }) { return entry.info }
                cursor = next.isEmpty ? nil : next
            } while cursor != nil
            _ = try? await self.watcher.wait("nothing", within: 0.5) { _ in nil as Bool? }
        }
        throw EveningFailure("the live is not in the list")
    }

    /// Lets the host seat a user of the room by invitation.
    func seat(_ guest: Witness, on index: Int) async throws {
        try await self.call(
            self.host, "seat.invite", SceneParams(user: self.user(guest), seatIndex: index, timeout: 60))
        try await guest.notice("an invitation") { if case .invitationReceived = $0 { true } else { false } }
        try await self.call(guest, "seat.acceptInvitation", SceneParams(user: self.user(self.host)))
        try await self.watcher.stage("\(guest.name) on seat \(index)") { record, _ in
            record.seats[index].occupant?.user.userID == self.user(guest)
        }
    }

    /// Connects this live with others, and waits until each watcher sees all of them.
    func connect(_ others: Scene...) async throws {
        let lives = others.map(\.live)
        try await self.call(self.host, "cohost.request", SceneParams(timeout: 30, to: lives))
        for other in others {
            try await other.host.notice("a co-host request") {
                if case .coHostRequestReceived = $0 { true } else { false }
            }
            try await other.call(other.host, "cohost.accept", SceneParams(inviter: self.live))
        }
        for scene in [self] + others {
            try await scene.watcher.stage("everybody's seats") { record, _ in
                let members = record.connection?.members ?? []
                let shown = Set(record.layout.regions.map(\.live))
                return Set(members.map(\.live)) == Set(lives + [self.live]) && shown == Set(members.map(\.live))
            }
        }
    }

    /// Lets the connected lives fight, and waits until each watcher sees it.
    func fight(_ others: Scene..., seconds: Int) async throws -> BattleID {
        let asked = try await self.call(
            self.host, "battle.request", SceneParams(to: others.map(\.live), duration: seconds))
        guard case .battle(let battle, _, _, _) = asked else { throw EveningFailure("the battle gave \(asked)") }
        for scene in [self] + others {
            try await scene.watcher.stage("the battle's begin") { $1.contains(.battleStarted(battle: battle)) }
        }
        return battle
    }
}

/// Parameters of calls in a scene; fields that are nil are left out.
struct SceneParams: Encodable, Sendable {
    var live: LiveID?
    var user: UserID?
    var name: String?
    var text: String?
    var seatIndex: Int?
    var seatTemplate: Int?
    var locked: Bool?
    var isMessageDisable: Bool?
    var timeout: Int?
    var to: [LiveID]?
    var inviter: LiveID?
    var battle: BattleID?
    var cursor: String?
    var duration: Int?
}

extension StageEvent {
    /// The event in short, for comparing orders.
    var short: String {
        switch self {
        case .seatTaken(let index, _): "taken \(index)"
        case .seatLeft(let index, _): "left \(index)"
        case .userMoved(_, let from, let to): "moved \(from) \(to)"
        case .seatLocked(let index): "locked \(index)"
        case .seatUnlocked(let index): "unlocked \(index)"
        case .coHostJoined(let member): "joined \(member.live)"
        case .coHostLeft(let member): "out \(member.live)"
        case .coHostMuted(let live, let isMuted): "muted \(live) \(isMuted)"
        case .battleStarted: "battle"
        case .battleUserJoined(_, let live): "fights \(live)"
        case .battleUserExited(_, let live): "exits \(live)"
        case .battleScored: "scored"
        case .battleEnded(_, let reason): "over \(reason.rawValue)"
        }
    }
}
