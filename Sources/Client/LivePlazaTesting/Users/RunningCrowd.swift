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
        /// Likes that the server has accepted.
        public var likes = 0
        /// Calls that the server has not answered, or has rejected, for example because the live has ended.
        public var refused = 0
    }

    private struct State {
        var random: SeededRandom
        var messages = DueActions()
        var gifts = DueActions()
        var likes = DueActions()
        /// Joins and leaves of users.
        var joinsAndLeaves = DueActions()
        /// The indices of the users who are in the live.
        var presentUsers: Set<Int> = []
        /// The indices of the users whose last join or leave has not been answered, because a service is stopped.
        ///
        /// The service handles the call when it runs again. Only then is it known whether these users are in the live.
        var undecidedUsers: Set<Int> = []
        var totals = Totals()
        var timer: PlazaTimer?
        var isStopped = false
    }

    /// The time between two calls of `performStep`.
    private static let step = Milliseconds(50)
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
        try CrowdGifts.addToCatalogue(by: backend)
        self.battle = try CrowdBattle.prepare(crowd, liveID, cluster, backend)
        var users: [ScriptedUser] = []
        // A crowd has at least one user.
        for number in 0..<max(1, crowd.viewers) {
            users.append(try cluster.user("\(liveID)-fan\(number)", userName: "Fan \(number)"))
        }
        self.users = users
        for number in users.indices { self.enter(number) }
        self.scheduleNextStep()
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

    private func scheduleNextStep() {
        guard let cluster, !self.state.withLock({ $0.isStopped }) else { return }
        let timer = cluster.clock.schedule(after: Self.step, on: cluster.engineQueue) { self.performStep() }
        self.state.withLock { $0.timer = timer }
    }

    private func performStep() {
        self.resolveUndecidedUsers()
        for _ in 0..<self.takeDue(\.messages, perSecond: self.crowd.messagesPerSecond) { self.sendMessage() }
        for _ in 0..<self.takeDue(\.gifts, perSecond: self.crowd.giftsPerSecond) { self.sendGift() }
        self.sendLikes(self.takeDue(\.likes, perSecond: self.crowd.likesPerSecond))
        for _ in 0..<self.takeDue(\.joinsAndLeaves, perSecond: self.crowd.changesPerSecond) { self.toggleUser() }
        self.scheduleNextStep()
    }

    /// Looks up whether the undecided users whose calls have been answered are in the live.
    private func resolveUndecidedUsers() {
        for number in self.state.withLock({ $0.undecidedUsers.sorted() }) {
            guard let isPresent = self.users[number].isInLive(self.liveID) else { continue }
            self.state.withLock { state in
                state.undecidedUsers.remove(number)
                if isPresent { state.presentUsers.insert(number) }
            }
        }
    }

    private func sendMessage() {
        let text = self.state.withLock { $0.random.pick(Self.texts) }
        if self.attempt({ (user) throws(ErrorInfo) in try user.say(text, in: self.liveID) }) {
            self.state.withLock { $0.totals.messages += 1 }
        }
    }

    private func sendGift() {
        let gift = self.state.withLock { $0.random.pick(CrowdGifts.ids) }
        if self.attempt({ (user) throws(ErrorInfo) in try user.sendGift(gift, in: self.liveID) }) {
            self.state.withLock { $0.totals.gifts += 1 }
            self.battle?.addScore(of: gift)
        }
    }

    /// Sends the likes of one step in one call.
    private func sendLikes(_ count: Int) {
        guard count > 0 else { return }
        if self.attempt({ (user) throws(ErrorInfo) in try user.like(count, in: self.liveID) }) {
            self.state.withLock { $0.totals.likes += count }
        }
    }

    /// Removes and returns the number of actions of a kind that are due in this step.
    private func takeDue(_ kind: any WritableKeyPath<State, DueActions> & Sendable, perSecond rate: Double) -> Int {
        self.state.withLock { $0[keyPath: kind].take(perSecond: rate, inStepOf: Self.step) }
    }

    /// Makes a random user who is in the live perform an action, and counts a rejection.
    ///
    /// - Returns: Whether the server accepted the action; false also if no user is in the live.
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
        // An undecided user may be in the live or not, so it is not known whether to leave or to join.
        if self.state.withLock({ $0.undecidedUsers.contains(number) }) { return }
        guard self.state.withLock({ $0.presentUsers.remove(number) }) != nil else { return self.enter(number) }
        do throws(ErrorInfo) {
            try self.users[number].leaveLive(self.liveID)
        } catch {
            self.recordFailure(error, of: number)
        }
    }

    /// Makes the user with this index enter the live; a failed join is counted.
    private func enter(_ number: Int) {
        do throws(ErrorInfo) {
            try self.users[number].joinLive(self.liveID)
            self.state.withLock { _ = $0.presentUsers.insert(number) }
        } catch {
            self.recordFailure(error, of: number)
        }
    }

    /// Counts a join or leave of the user with this index that was rejected or not answered.
    private func recordFailure(_ error: ErrorInfo, of number: Int) {
        self.state.withLock { state in
            state.totals.refused += 1
            if error.name == .timedOut { state.undecidedUsers.insert(number) }
        }
    }
}

/// Counts how many actions of one kind are due at a given rate.
private struct DueActions {
    /// A higher rate is limited to this one.
    private static let maxPerSecond = 1000.0
    /// The fraction of an action that is due already; a step is often too short for a whole action.
    private var fraction = 0.0

    /// Removes and returns the number of whole actions that are due in the next step; the remaining fraction of an
    /// action is kept for later steps.
    mutating func take(perSecond rate: Double, inStepOf step: Milliseconds) -> Int {
        let due = self.fraction + min(max(0, rate), Self.maxPerSecond) * Double(step.count) / 1000
        let count = due.rounded(.down)
        self.fraction = due - count
        return Int(count)
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
