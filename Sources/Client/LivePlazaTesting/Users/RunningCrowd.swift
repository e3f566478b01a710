// SPDX-License-Identifier: Apache-2.0
public import LivePlazaKit
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// A crowd in a live of a simulated cluster; it acts whenever the cluster's time passes, until `stop`.
public final class RunningCrowd: Sendable {
    /// What a crowd has sent.
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

    private struct State {
        var random: SeededRandom
        /// The fraction of a message, gift, like and change that the last step left over.
        var rest = [0.0, 0.0, 0.0, 0.0]
        var present: Set<Int> = []
        var totals = Totals()
        var timer: PlazaTimer?
        var isStopped = false
    }

    /// The time between two steps.
    private static let step = 50.0
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

    /// What the crowd has sent so far.
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
        let timer = cluster.clock.schedule(after: Self.step, on: cluster.engineQueue) { self.act() }
        self.state.withLock { $0.timer = timer }
    }

    private func act() {
        for _ in 0..<self.take(0, self.crowd.messagesPerSecond) {
            let text = self.state.withLock { $0.random.pick(Self.texts) }
            if self.attempt({ (user) throws(ErrorInfo) in try user.say(text, in: self.liveID) }) {
                self.state.withLock { $0.totals.messages += 1 }
            }
        }
        for _ in 0..<self.take(1, self.crowd.giftsPerSecond) {
            let gift = self.state.withLock { $0.random.pick(Self.giftIDs) }
            if self.attempt({ (user) throws(ErrorInfo) in try user.sendGift(gift, in: self.liveID) }) {
                self.state.withLock { $0.totals.gifts += 1 }
                self.battle?.score(gift)
            }
        }
        let likes = self.take(2, self.crowd.likesPerSecond)
        if likes > 0, self.attempt({ (user) throws(ErrorInfo) in try user.like(likes, in: self.liveID) }) {
            self.state.withLock { $0.totals.likes += likes }
        }
        for _ in 0..<self.take(3, self.crowd.changesPerSecond) { self.change() }
        self.schedule()
    }

    /// Adds a step's part of a rate to what the last step left over, and takes the whole number of actions from it.
    private func take(_ kind: Int, _ perSecond: Double) -> Int {
        self.state.withLock { state in
            state.rest[kind] += min(max(0, perSecond), 1000) * Self.step / 1000
            let whole = state.rest[kind].rounded(.down)
            state.rest[kind] -= whole
            return Int(whole)
        }
    }

    /// Makes a user that is present do something; counts it if it is refused.
    private func attempt(_ action: (ScriptedUser) throws(ErrorInfo) -> Void) -> Bool {
        let number = self.state.withLock { state -> Int? in
            state.present.isEmpty ? nil : state.random.pick(state.present.sorted())
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

    /// Makes a user leave if it is present, and enter if it is not.
    private func change() {
        let number = self.state.withLock { $0.random.pick(Array(self.users.indices)) }
        guard self.state.withLock({ $0.present.remove(number) }) != nil else { return self.enter(number) }
        do throws(ErrorInfo) {
            try self.users[number].leaveLive(self.liveID)
        } catch {
            self.state.withLock { $0.totals.refused += 1 }
        }
    }

    private func enter(_ number: Int) {
        do throws(ErrorInfo) {
            try self.users[number].joinLive(self.liveID)
            self.state.withLock { _ = $0.present.insert(number) }
        } catch {
            self.state.withLock { $0.totals.refused += 1 }
        }
    }

    // MARK: Gifts

    private static let giftIDs = ["rose", "rocket", "castle"]

    /// The worth of a gift in coins, which is its score in a battle.
    static func worth(_ gift: String) -> Int64 { ["rose": 1, "rocket": 100, "castle": 1000][gift] ?? 1 }

    private static func setGifts(_ backend: ScriptedUser) throws(ErrorInfo) {
        try backend.call("app.putCategory", ["category": ["categoryID": "crowd", "name": "Crowd"]])
        for gift in Self.giftIDs {
            let value: JSONValue = [
                "giftID": .text(gift), "name": .text(gift), "coins": .integer(Self.worth(gift)),
            ]
            try backend.call("app.putGift", ["gift": value, "category": "crowd"])
        }
    }
}

/// The battle that a crowd's live is in.
struct CrowdBattle: Sendable {
    private let id: String
    private let liveID: String
    private let backend: ScriptedUser

    /// Creates the crowd's live if it does not exist, and the other live and the battle if the crowd has one.
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

    /// Adds the worth of a gift to the live's score; refused when the battle is over.
    func score(_ gift: String) {
        let score: JSONValue = ["live": .text(self.liveID), "score": .integer(RunningCrowd.worth(gift))]
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
    /// Fills a live with a crowd, which acts as time passes; creates the live if it does not exist.
    ///
    /// - Returns: The crowd; it acts until the cluster ends or `stop` is called.
    @discardableResult
    public func addCrowd(_ crowd: Crowd = Crowd(), to liveID: String) throws(ErrorInfo) -> RunningCrowd {
        try RunningCrowd(crowd, liveID, self, seed: FNV1a.hash(liveID) ^ self.seed)
    }
}
