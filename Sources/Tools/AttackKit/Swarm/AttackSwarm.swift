// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import MachineKit
internal import PlazaModel
internal import ProtocolClient
internal import WebSocket

/// All connections of one attack, which share one event loop.
///
/// The swarm starts connections at an even rate, so that all can be open after the first half of the attack. At the
/// same rate it replaces connections that the gateway has closed. Each client takes a turn, in which it sends
/// something, at the attack's interval. So the rates of new connections and of turns limit what the whole attack sends.
final class AttackSwarm {
    /// The counts of the attack so far.
    var tally = AttackTally()
    private let attack: any Attack
    private let plan: AttackPlan
    /// The beginning of the names of users and lives.
    private let namePrefix: String
    private let honestLives: [LiveID]
    /// The gateways' addresses for the channel of the attack.
    private let addresses: [PlazaAddress]
    private let loop: EventLoop
    private var period: AttackPeriod
    /// Returns whether enough was measured for a verdict, so that the attack may end after its planned time.
    private let mayEnd: () -> Bool
    private let onFinish: (AttackTally) -> Void
    /// The connections by their indexes.
    private var connections: [Int: AttackConnection] = [:]
    /// How many connections each index has had.
    private var attempts: [Int]
    /// The indexes without a connection; the next connection gets the last index of this list.
    private var unconnectedIndexes: [Int]
    /// When all clients take their next turn.
    private var nextTurnAt: MonotonicTime
    /// When the attack began.
    private let beganAt: MonotonicTime
    /// How many connections were started so far, replacements included.
    private var startedCount = 0
    private var isCleaningUp = false
    private var random: SeededRandom
    private var timer: LoopTimer?

    init(
        _ attack: any Attack, _ plan: AttackPlan, namePrefix: String, honestLives: [LiveID], loop: EventLoop,
        mayEnd: @escaping () -> Bool, onFinish: @escaping (AttackTally) -> Void
    ) {
        self.attack = attack
        self.plan = plan
        self.namePrefix = namePrefix
        self.honestLives = honestLives
        self.addresses = attack.channel == .http ? plan.target.httpAddresses : plan.target.gateways
        self.loop = loop
        self.period = AttackPeriod(plan.duration)
        self.mayEnd = mayEnd
        self.onFinish = onFinish
        let count = attack.connectionCount(limit: plan.maxConnections)
        self.attempts = Array(repeating: 0, count: count)
        self.unconnectedIndexes = Array((0..<count).reversed())
        self.beganAt = MonotonicClock.now
        self.nextTurnAt = self.beganAt
        self.random = SeededRandom(seed: plan.seed)
    }

    /// Starts the timer that drives the attack.
    func start() throws(LoopError) {
        let timer = try LoopTimer(loop: self.loop) { [self] _ in self.advance() }
        timer.start(after: .milliseconds(1), repeating: Self.tick)
        self.timer = timer
    }

    /// Forgets a connection that has ended by itself; a new connection gets its index later.
    func connectionEnded(_ connection: AttackConnection) {
        guard self.connections[connection.index] === connection else { return }
        self.connections[connection.index] = nil
        self.unconnectedIndexes.insert(connection.index, at: 0)
    }

    /// Starts the connections that are due, and lets the clients take their turns.
    ///
    /// When the attack's period is over, the clients clean up once. `cleanUpTime` later, the swarm finishes.
    private func advance() {
        let now = MonotonicClock.now
        let elapsed = Duration.milliseconds((now - self.beganAt).count)
        if let end = self.period.advance(to: elapsed, mayEnd: self.mayEnd()) {
            if elapsed >= end + Self.cleanUpTime { return self.finish() }
            if !self.isCleaningUp { for connection in self.connections.values { connection.cleanUp() } }
            self.isCleaningUp = true
            return
        }
        self.startDueConnections(after: elapsed)
        if let interval = self.attack.turnInterval, now >= self.nextTurnAt {
            self.nextTurnAt = now + Milliseconds(interval)
            for connection in self.connections.values { connection.takeTurn() }
        }
    }

    /// Starts the connections that are due after `elapsed`.
    ///
    /// After half of the attack's planned duration, as many are due as the attack keeps open. In the second half as
    /// many again are due: replacements of connections that have ended.
    private func startDueConnections(after elapsed: Duration) {
        let dueShare = 2 * (elapsed / self.plan.duration)
        let dueCount = Int(dueShare * Double(self.attempts.count)) + 1
        while self.startedCount < dueCount, let index = self.unconnectedIndexes.popLast() {
            self.startedCount += 1
            self.startConnection(index)
        }
        self.tally.maxOpen = max(self.tally.maxOpen, self.connections.count)
    }

    private func startConnection(_ index: Int) {
        let address = self.addresses[index % self.addresses.count]
        let random = SeededRandom(seed: self.random.next())
        let client = self.attack.makeClient(
            AttackClientSetting(
                index: index, attempt: self.attempts[index], namePrefix: self.namePrefix, random: random,
                partitions: self.plan.target.partitions ?? AttackTarget.assumedPartitions, app: self.plan.target.app,
                honestLives: self.honestLives, makeToken: { [plan] in plan.target.userToken($0) }))
        self.attempts[index] += 1
        let connection = AttackConnection(
            index, client, random: random,
            target: WebSocketTarget(
                host: address.host, port: address.port, path: "/v1", subprotocols: ["liveplaza.v1"]),
            channel: self.attack.channel, swarm: self)
        do {
            try connection.start(
                self.loop, host: address.host, port: address.port, readsSlowly: self.attack.readsSlowly)
            self.connections[index] = connection
        } catch {
            self.tally.count("not connected: \(error)")
            self.unconnectedIndexes.insert(index, at: 0)
        }
    }

    private func finish() {
        self.timer?.close()
        self.timer = nil
        for connection in self.connections.values { connection.close() }
        self.connections = [:]
        self.onFinish(self.tally)
    }

    /// The time between two calls of `advance`.
    private static let tick = Duration.milliseconds(10)
    /// How long the connections stay open after the attack, so that the gateway reads their last calls.
    private static let cleanUpTime = Duration.milliseconds(300)
}
