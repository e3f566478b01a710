// SPDX-License-Identifier: Apache-2.0
public import LivePlazaKit
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// A crowd in a live of a simulated cluster; it acts while the cluster's time passes, until `stop`.
public final class RunningCrowd: Sendable {
    /// How much a crowd has sent.
    public struct Totals: Sendable, Hashable {
        /// Texts that the server has accepted.
        public var messages = 0
        /// Gifts that the server has accepted.
        public var gifts = 0
        /// Likes.
        public var likes = 0
        /// Calls that the server has refused, for example because the live has ended.
        public var refused = 0
    }

    /// The kinds of actions that have a rate of their own.
    private enum ActionKind {
        case message, gift, like, change
    }

    private struct State {
        var random: SeededRandom
        /// The fraction of an action of each kind that is due but not done yet.
        var fractions: [ActionKind: Double] = [:]
        /// The indices of the users who are in the live.
        var presentUsers: Set<Int> = []
        var totals = Totals()
        var timer: PlazaTimer?
        var isStopped = false
    }

    /// The time between two calls of `act`.
    private static let stepMilliseconds = 50.0
    private static let texts = [
        "hello!", "😂😂😂", "first time here", "666", "what song is this?", "加油！", "so good", "greetings from Rome 🇮🇹",
        "can you wave?", "太棒了", "I missed the start", "🔥🔥🔥", "one more, please", "who is winning?",
    ]

    private let crowd: Crowd
    private let liveID: String
    private let users: [ScriptedUser]
    private let battle: CrowdBattle?
    private weak let cluster: SimulatedCluster?
    private let state: Locked<State>

    init(_ crowd: Crowd, _ liveID: String, _ cluster: SimulatedCluster, seed: UInt64) throws(ErrorInfo) {
        self.crowd = crowd
        self.liveID = liveID
        self.cluster = cluster
        self.state = Locked(State(random: SeededRandom(seed: seed)))
        let backend = try cluster.backend()
        try Self.setGifts(backend)
        self.battle = try CrowdBattle.prepare(crowd, liveID, cluster, backend)
        var users: [ScriptedUser] = []
        for number in 0..<max(1, crowd.viewers) {
            users.append(try cluster.user("\(liveID)-fan\(number)", userName: "Fan \(number)"))
        }
        self.users = users
        for number in users.indices { self.enter(number) }
        self.schedule()
    }

    /// How much the crowd has sent so far.
    public var totals: Totals { self.state.withLock { $0.totals } }

    /// Ends the crowd's actions; its users stay in the live.
    public func stop() {
        self.state.withLock { state in
            state.isStopped = true
            state.timer?.cancel()
            state.timer = nil
        }
    }

    // MARK: Steps

    private func schedule() {
        guard let cluster, !self.state.withLock({ $0.isStopped }) else { return }
        let timer = cluster.clock.schedule(after: Self.stepMilliseconds, on: cluster.engineQueue) { self.act() }
        self.state.withLock { $0.timer = timer }
    }

    private func act() {
        for _ in 0..<self.takeDueCount(of: .message, self.crowd.messagesPerSecond) {
            let text = self.state.withLock { $0.random.pick(Self.texts) }
            if self.attempt({ (user) throws(ErrorInfo) in try user.say(text, in: self.liveID) }) {
                self.state.withLock { $0.totals.messages += 1 }
            }
        }
        for _ in 0..<self.takeDueCount(of: .gift, self.crowd.giftsPerSecond) {
            let gift = self.state.withLock { $0.random.pick(Self.giftIDs) }
            if self.attempt({ (user) throws(ErrorInfo) in try user.sendGift(gift, in: self.liveID) }) {
                self.state.withLock { $0.totals.gifts += 1 }
                self.battle?.addScore(of: gift)
            }
        }
        let likes = self.takeDueCount(of: .like, self.crowd.likesPerSecond)
        if likes > 0, self.attempt({ (user) throws(ErrorInfo) in try user.like(likes, in: self.liveID) }) {
            self.state.withLock { $0.totals.likes += likes }
        }
        for _ in 0..<self.takeDueCount(of: .change, self.crowd.changesPerSecond) { self.toggleUser() }
        self.schedule()
    }

    /// The number of actions of a kind that are due in this step.
    ///
    /// A step is often too short for a whole action. Therefore the fraction is stored for the next step. At most 1,000
    /// actions of a kind are due in a second.
    private func takeDueCount(of kind: ActionKind, _ perSecond: Double) -> Int {
        self.state.withLock { state in
            let due = state.fractions[kind, default: 0] + min(max(0, perSecond), 1000) * Self.stepMilliseconds / 1000
            let count = due.rounded(.down)
            state.fractions[kind] = due - count
            return Int(count)
        }
    }

    /// Makes a random user who is in the live perform an action.
    ///
    /// - Returns: Whether the server accepted the action; a refusal is counted.
    private func attempt(_ action: (ScriptedUser) throws(ErrorInfo) -> Void) -> Bool {
        let number = self.state.withLock { state -> Int? in
            state.presentUsers.isEmpty ? nil : state.random.pick(state.presentUsers.sorted())
        }
        guard let number else { return false }
        do throws(ErrorInfo) {
            try action(self.users[number])
            return true
        } catch {
            self.state.withLock { $0.totals.refused += 1 }
            return false
        }
    }

    /// Makes a random user leave the live, or enter it if the user is not in it.
    private func toggleUser() {
        let number = self.state.withLock { $0.random.pick(Array(self.users.indices)) }
        guard self.state.withLock({ $0.presentUsers.remove(number) }) != nil else { return self.enter(number) }
        do throws(ErrorInfo) {
            try self.users[number].leaveLive(self.liveID)
        } catch {
            self.state.withLock { $0.totals.refused += 1 }
        }
    }

    private func enter(_ number: Int) {
        do throws(ErrorInfo) {
            try self.users[number].joinLive(self.liveID)
            self.state.withLock { _ = $0.presentUsers.insert(number) }
        } catch {
            self.state.withLock { $0.totals.refused += 1 }
        }
    }

    // MARK: Gifts

    private static let giftIDs = ["rose", "rocket", "castle"]

    /// The price of a gift in coins, which is also its score in a battle.
    static func coins(of gift: String) -> Int64 { ["rose": 1, "rocket": 100, "castle": 1000][gift] ?? 1 }

    private static func setGifts(_ backend: ScriptedUser) throws(ErrorInfo) {
        try backend.call("app.putCategory", ["category": ["categoryID": "crowd", "name": "Crowd"]])
        for gift in Self.giftIDs {
            let giftJSON: JSONValue = [
                "giftID": .text(gift), "name": .text(gift), "coins": .integer(Self.coins(of: gift)),
            ]
            try backend.call("app.putGift", ["gift": giftJSON, "category": "crowd"])
        }
    }
}

/// The battle that a crowd's live is in.
struct CrowdBattle: Sendable {
    private let id: String
    private let liveID: String
    private let backend: ScriptedUser

    /// Creates the crowd's live if it does not exist; then also begins the crowd's battle, if it has one.
    ///
    /// - Returns: The battle; nil if the live existed before, or the crowd has no battle.
    static func prepare(
        _ crowd: Crowd, _ liveID: String, _ cluster: SimulatedCluster, _ backend: ScriptedUser
    ) throws(ErrorInfo) -> CrowdBattle? {
        do throws(ErrorInfo) {
            try backend.call("live.get", ["live": .text(liveID)])
            return nil
        } catch {
            let host = try cluster.user("\(liveID)-host", userName: "Host")
            try host.createLive(liveID, name: liveID)
            guard crowd.hasBattle else { return nil }
            let rivalID = "\(liveID)-rival"
            let rival = try cluster.user("\(rivalID)-host", userName: "Rival")
            try rival.createLive(rivalID, name: rivalID)
            try host.requestCoHost([rivalID], from: liveID)
            try rival.answerCoHost(of: liveID, accept: true, in: rivalID)
            let id = try host.startBattle(with: [rivalID], seconds: 300, in: liveID)
            return CrowdBattle(id: id, liveID: liveID, backend: backend)
        }
    }

    /// Adds the price of a gift to the live's score; has no effect when the battle is over.
    func addScore(of gift: String) {
        let score: JSONValue = ["live": .text(self.liveID), "score": .integer(RunningCrowd.coins(of: gift))]
        _ = try? self.backend.call("battle.score", ["battle": .text(self.id), "scores": [score]])
    }
}

extension SeededRandom {
    /// A random element of a list that is not empty.
    fileprivate mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }
}

extension SimulatedCluster {
    /// Adds a crowd to a live; creates the live if it does not exist.
    ///
    /// - Returns: The crowd; it acts while time passes, until `stop` or the end of the cluster.
    @discardableResult
    public func addCrowd(_ crowd: Crowd = Crowd(), to liveID: String) throws(ErrorInfo) -> RunningCrowd {
        try RunningCrowd(crowd, liveID, self, seed: FNV1a.hash(liveID) ^ self.seed)
    }
}
