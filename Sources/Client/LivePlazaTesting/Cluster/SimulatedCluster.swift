// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import LivePlazaKit
internal import MachineKit
internal import PlazaModel

/// A whole LivePlaza cluster in this process: for tests without a server, and for SwiftUI previews.
///
/// The services have the rules and limits of a real cluster. Values in memory replace Kafka, Redis and sockets. There
/// is one gateway, and there are no webhooks. The cluster and all its clients run on one queue. Nothing happens by
/// itself: time passes only when a test calls `advance`, or after `runInRealTime`. The same seed and the same calls
/// lead to the same frames.
///
/// ```swift
/// let cluster = SimulatedCluster(seed: 7)
/// let alice = cluster.client("alice")
/// try await alice.loginStore.login(sdkAppID: 1, userID: "alice", userSig: cluster.token("alice"))
/// cluster.advance(by: .seconds(5))
/// ```
public final class SimulatedCluster: Sendable {
    /// A service of the cluster.
    public enum Service: String, CaseIterable, Sendable {
        /// Creates and ends lives, and stores their info.
        case directory
        /// Tracks who is in a live.
        case presence
        /// Writes each live's feed: messages, gifts, likes, tips.
        case barrage
        /// Coordinates seats, co-hosts and battles.
        case stage
    }

    /// The app's number; `sdkAppID` of a login.
    public let sdkAppID: Int32
    let clock: SimulationClock
    /// The one queue of the cluster and all its clients.
    let queue: SimulationQueue
    /// `queue` as the executor of the clients' engines; an engine is the actor that runs one client.
    let engineQueue: EngineQueue
    let network: SimulatedNetwork
    /// The state of the gateway and the services.
    private let state: Locked<SimulatedClusterState>
    let seed: UInt64
    /// For each `ScriptedUser`, by the number of its connection: the function that receives its frames.
    private let scriptedReceivers = Locked<[Int: @Sendable ([UInt8]) -> Void]>([:])
    private let clientCount = Locked<UInt64>(0)
    /// The time by which the clock still has to advance: less than a millisecond, because the clock counts only whole
    /// milliseconds.
    private let pendingTime = Locked(Duration.zero)
    /// The timer of `runInRealTime`; nil while time passes only in `advance`.
    private let realTimeTimer = Locked<(any DispatchSourceTimer)?>(nil)

    /// Creates a cluster without lives and users.
    ///
    /// - Parameters:
    ///   - seed: Determines everything that is random in the cluster and its clients.
    ///   - sdkAppID: The app's number, which a login must give.
    ///   - startingAt: The time at which the cluster's clock begins, in milliseconds since 1970.
    ///   - latency: How long each frame takes, in each direction.
    ///   - feedBudget: The maximum number of items a second in a live's feed; the server rejects or drops further items
    ///     (docs/RULES.md, R12.1).
    ///   - historyCount: How many earlier messages a new viewer gets, 0 to 50.
    ///   - queue: A serial queue, on which completions and publishers are called; nil for a new one. Use the main queue
    ///     for previews, or if the app under test expects it.
    public init(
        seed: UInt64 = 1, sdkAppID: Int32 = 1, startingAt: Int64 = 1_700_000_000_000, latency: Duration = .zero,
        feedBudget: Int = 40, historyCount: Int = 0, queue: DispatchQueue? = nil
    ) {
        self.seed = seed
        self.sdkAppID = sdkAppID
        self.clock = SimulationClock(start: WallTime(milliseconds: startingAt))
        self.queue = SimulationQueue(queue ?? DispatchQueue(label: "LivePlazaTesting"))
        self.engineQueue = EngineQueue(self.queue)
        let policies = Policies([
            AppID("\(sdkAppID)"): AppPolicy(feedBudget: max(1, feedBudget), historyCount: min(max(historyCount, 0), 50))
        ])
        self.state = Locked(
            SimulatedClusterState(policies: policies, start: Timestamp(milliseconds: startingAt), seed: seed))
        self.network = SimulatedNetwork(
            queue: self.engineQueue, clock: self.clock, latency: Milliseconds(roundingUp: latency))
        self.network.attach(self)
    }

    /// Creates a client that connects to this cluster.
    ///
    /// - Parameters:
    ///   - name: The device's name for `cutConnection` and the like; a fault applies to all devices of this name.
    ///   - transport: The transport, for example a `RecordingTransport`; nil for `transport(name)`.
    ///   - tokenProvider: Returns newer tokens; nil if the client has only the token of its login.
    /// - Returns: A client that works on the cluster's queue and clock; the caller must retain it.
    public func client(
        _ name: String, over transport: (any Transport)? = nil,
        tokenProvider: (@Sendable () async throws -> String)? = nil
    ) -> LivePlaza {
        let number = self.clientCount.withLock { count in
            count += 1
            return count
        }
        // Each client has a seed of its own. The factor, a large prime, keeps clients of clusters with similar seeds
        // from getting the same seed.
        let random = Locked(SeededRandom(seed: self.seed &* 1_000_003 &+ number))
        let options = PlazaOptions(
            gateways: ["ws://simulated/v1"], tokenProvider: tokenProvider, transport: transport ?? self.transport(name),
            deliveryQueue: self.queue.dispatchQueue)
        return LivePlaza(options: options, queue: self.engineQueue, clock: self.clock) {
            random.withLock { Double.random(in: 0..<1, using: &$0) }
        }
    }

    /// A transport to this cluster, for a client that the test creates with its own options.
    ///
    /// Such a client uses the system's clock. Therefore combine it with `runInRealTime`.
    public func transport(_ name: String) -> any Transport { SimulatedTransport(name: name, network: self.network) }

    /// A token with which a user can log in.
    ///
    /// - Parameters:
    ///   - userID: The user.
    ///   - userName: The name that the token gives the user; nil if the user may choose it.
    ///   - validFor: How long the token is valid, from the cluster's present time; a day by default.
    /// - Returns: The token; `userSig` of a login.
    public func token(_ userID: String, userName: String? = nil, validFor: Duration = .seconds(86_400)) -> String {
        SimulatedToken(app: "\(self.sdkAppID)", sub: userID, exp: self.expiry(after: validFor), name: userName).text
    }

    /// A token of the app's backend, whose calls need no join and no permission.
    func serverToken() -> String {
        // The token is valid for over eleven days, so that no test outlasts it.
        let expiry = self.expiry(after: .seconds(1_000_000))
        return SimulatedToken(app: "\(self.sdkAppID)", sub: "backend", exp: expiry, role: "server").text
    }

    /// When a token expires, in seconds since 1970: `validFor` after the cluster's present time.
    private func expiry(after validFor: Duration) -> Double {
        Double((self.clock.wall + Milliseconds(validFor)).milliseconds) / 1000
    }

    // MARK: Time

    /// How long the cluster's clock has run.
    public var elapsed: Duration { Duration(self.clock.elapsed) }

    /// Handles everything that can be handled without advancing the clock.
    public func settle() { self.queue.sync { self.queue.drain() } }

    /// Advances the clock, and handles everything that is due by then, in the order of its times.
    public func advance(by duration: Duration) {
        self.queue.sync {
            let end = self.clock.now + self.takeWholeMilliseconds(adding: duration)
            self.queue.drain()
            while true {
                // The next time at which a timer of a client or a tick of the services is due.
                let next = min(self.clock.nextTimerTime ?? .distantFuture, self.state.withLock { $0.nextTick })
                guard next <= end else { break }
                self.clock.advance(to: next)
                while self.clock.runNextTimer(by: next) { self.queue.drain() }
                if self.state.withLock({ $0.nextTick }) <= self.clock.now { self.perform { $0.tick() } }
                self.queue.drain()
            }
            self.clock.advance(to: end)
        }
    }

    /// Adds `duration` to the time by which the clock must advance, and takes the whole milliseconds from it.
    ///
    /// The rest is kept for the next call. Without the rest, the clock would stand still if it were advanced by less
    /// than a millisecond at a time, as by a slow `runInRealTime`.
    private func takeWholeMilliseconds(adding duration: Duration) -> Milliseconds {
        self.pendingTime.withLock { pendingTime in
            pendingTime += max(.zero, duration)
            let whole = Milliseconds(pendingTime)
            pendingTime -= Duration(whole)
            return whole
        }
    }

    /// Advances the cluster's clock with the real time, until `pause` or another call of this method replaces the
    /// timer.
    ///
    /// - Parameter speed: How many seconds of the cluster pass in one real second.
    public func runInRealTime(speed: Double = 1) {
        let timer = DispatchSource.makeTimerSource(queue: self.queue.dispatchQueue)
        let lastAdvance = Locked(ContinuousClock.now)
        timer.setEventHandler { [weak self] in
            let now = ContinuousClock.now
            let passed = lastAdvance.withLock { lastAdvance in
                defer { lastAdvance = now }
                return now - lastAdvance
            }
            self?.advance(by: passed * speed)
        }
        // The clock advances in steps of 10 ms of real time.
        timer.schedule(deadline: .now(), repeating: .milliseconds(10))
        self.realTimeTimer.withLock { current in
            current?.cancel()
            current = timer
        }
        timer.resume()
    }

    /// Ends `runInRealTime`.
    public func pause() {
        self.realTimeTimer.withLock { current in
            current?.cancel()
            current = nil
        }
    }

    deinit { self.pause() }

    // MARK: Faults

    /// Cuts the connections of a device (nil: of all devices), as a lost network does.
    ///
    /// The devices may connect again at once.
    public func cutConnection(of name: String? = nil) { self.queue.sync { self.network.cut(name) } }

    /// Cuts the connections of a device after a number of further frames.
    ///
    /// - Parameters:
    ///   - name: The device.
    ///   - count: How many frames are still delivered, in both directions together. The request to open a connection
    ///     and its answer count as one each. The connection is cut at the frame after them, which is lost.
    public func cutConnection(of name: String, afterFrames count: Int) {
        self.queue.sync { self.network.scheduleCut(of: name, after: count) }
    }

    /// If false, cuts the connections of a device and prevents new ones; if true, lets the device connect again.
    public func setReachable(_ isReachable: Bool, _ name: String) {
        self.queue.sync { self.network.setReachable(isReachable, name) }
    }

    /// If true, holds back the frames of a device in both directions, but does not end its connections.
    ///
    /// If false, delivers the frames that were held back, in order, unless their connection has ended.
    public func setStalled(_ isStalled: Bool, _ name: String) {
        self.queue.sync { self.network.setStalled(isStalled, name) }
    }

    /// Stops a service; its inputs wait.
    public func stop(_ service: Service) { self.perform { $0.setRunning(false, service) } }

    /// Starts a stopped service, which then handles the inputs that waited.
    public func start(_ service: Service) { self.perform { $0.setRunning(true, service) } }

    /// Deletes all leases (the entries that say who is in a live), as a restart of Redis without its data does.
    ///
    /// The gateway then tells presence again which users are in which lives.
    public func loseLeases() { self.perform { $0.loseLeases() } }

    // MARK: Shared with the network

    /// Changes the state of the gateway and the services on the cluster's queue, and delivers the frames that follow.
    func perform(_ body: (inout SimulatedClusterState) -> Void) {
        self.queue.sync {
            let outputs = self.state.withLock { $0.perform(at: self.clock.now, body) }
            for output in outputs {
                // The connections of scripted users have negative numbers.
                if output.connection > 0 {
                    self.network.deliver(output)
                } else if case .text(let text) = output.action {
                    let receiver = self.scriptedReceivers.withLock { $0[output.connection] }
                    receiver?(text)
                }
            }
        }
    }

    /// Opens the connection of a scripted user, to which delays and faults do not apply; its number is negative.
    ///
    /// - Returns: The connection's number.
    func connectScripted(_ onText: @escaping @Sendable ([UInt8]) -> Void) -> Int {
        let number = self.scriptedReceivers.withLock { receivers in
            let number = -1 - receivers.count
            receivers[number] = onText
            return number
        }
        self.perform { $0.connectionOpened(number) }
        return number
    }
}
