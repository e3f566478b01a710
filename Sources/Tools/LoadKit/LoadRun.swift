// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import PlazaModel
internal import ProtocolClient

/// One load run on its event loop.
///
/// It opens the lives, lets the viewers join, and sends each message at its due time. The load is an open loop: slow
/// replies delay no message. At the end, the run compares what the viewers received with what was acknowledged.
final class LoadRun {
    let plan: LoadPlan
    private let loop: EventLoop
    private let group: PlazaConnectionGroup
    private let onProgress: (LoadProgress) -> Void
    private let onFinish: (LoadReport) -> Void

    var lives: [LoadLive] = []
    /// The viewers by the identities of their connections.
    var viewerOfConnection: [ObjectIdentifier: LoadViewer] = [:]
    /// The lives by the identities of their owners' connections.
    var liveOfOwner: [ObjectIdentifier: LoadLive] = [:]
    /// The viewers that have not begun to log in; the last element begins next.
    private var waitingViewers: [LoadViewer] = []
    /// The number of viewers that are logging in or joining.
    var enteringViewers = 0
    /// The number of viewers that have joined.
    var enteredViewers = 0
    /// Whether any client has logged in.
    var hasLoggedIn = false
    var openedLives = 0
    var endedLives = 0
    var sentMessages = 0
    var failures: [String] = []
    /// The first few incidents of each kind, such as missing items; the report counts all incidents.
    var incidents = LoadIncidents()
    var latencies = LoadLatencies()
    /// The number of feed items received, summed over all viewers.
    var deliveredItems = 0
    /// The number of feed frames in which a live's checker received a leave tip (an item that says that a user left).
    ///
    /// 0 is expected, because no viewer leaves during a run.
    var unexpectedLeaveTips = 0
    var stage = LoadProgress.Stage.opening
    /// The clock of all times of the run: microseconds since the run was made.
    let clock = Stopwatch()
    /// When the stage began.
    private var stageBegan: Int64 = 0
    /// When progress was last reported.
    private var lastProgressReport: Int64 = 0
    private var timer: LoopTimer?
    /// The seed of the last connection's random numbers; each connection has a seed of its own.
    private var seed: UInt64 = 1

    init(
        _ plan: LoadPlan, loop: EventLoop, onProgress: @escaping (LoadProgress) -> Void,
        onFinish: @escaping (LoadReport) -> Void
    ) throws(LoopError) {
        self.plan = plan
        self.loop = loop
        self.group = try PlazaConnectionGroup(loop: loop)
        self.onProgress = onProgress
        self.onFinish = onFinish
        self.stageBegan = self.clock.microseconds
    }

    /// Starts the owners' connections and the timer that advances the run.
    func start() throws(LoopError) {
        for index in 0..<self.plan.lives {
            let owner = self.makeConnection("o\(index)", addressIndex: index)
            let live = LoadLive(self.plan.liveID(index), owner)
            self.lives.append(live)
            self.liveOfOwner[ObjectIdentifier(owner)] = live
            for viewerIndex in 0..<self.plan.viewers {
                let connection = self.makeConnection("v\(index)-\(viewerIndex)", addressIndex: index + viewerIndex)
                let viewer = LoadViewer(connection, live, index: viewerIndex)
                live.viewers.append(viewer)
                self.viewerOfConnection[ObjectIdentifier(connection)] = viewer
            }
            self.waitingViewers += live.viewers
            owner.start()
        }
        self.waitingViewers.reverse()
        // The timer's closure keeps the run alive until `finish` closes the timer.
        let timer = try LoopTimer(loop: self.loop) { [self] _ in self.advance() }
        timer.start(after: .milliseconds(1), repeating: .milliseconds(1))
        self.timer = timer
    }

    /// Makes a client's connection.
    ///
    /// - Parameters:
    ///   - suffix: the end of the user's name.
    ///   - addressIndex: the index of the gateway address to try first, modulo the number of addresses.
    /// - Returns: a connection that is not started yet.
    private func makeConnection(_ suffix: String, addressIndex: Int) -> PlazaConnection {
        let user = "\(self.plan.name)-\(suffix)"
        self.seed += 1
        let connection = PlazaConnection(
            group: self.group, addresses: self.plan.addresses, startingAt: addressIndex,
            options: BareClientCore.Options(token: self.plan.token(user), session: SessionID(user)), seed: self.seed)
        connection.delegate = self
        return connection
    }

    // MARK: Stages

    private func beginStage(_ stage: LoadProgress.Stage) {
        self.stage = stage
        self.stageBegan = self.clock.microseconds
        self.reportProgress(self.stageBegan)
    }

    /// Begins the next stage when the current one is complete or took too long; called every millisecond.
    private func advance() {
        let now = self.clock.microseconds
        if now - self.lastProgressReport >= 1_000_000 { self.reportProgress(now) }
        let elapsed = Duration.microseconds(now - self.stageBegan)
        switch self.stage {
        case .opening:
            if self.openedLives == self.lives.count {
                self.beginStage(.entering)
            } else if !self.hasLoggedIn, elapsed > self.plan.loginTimeout {
                self.failures.insert(self.plan.noLoginFailure, at: 0)
                self.finish()
            } else if elapsed > .seconds(60) {
                // The owners have a minute to open their lives.
                self.abandon("opening")
            }
        case .entering:
            while self.enteringViewers < self.plan.maxEntering, let viewer = self.waitingViewers.popLast() {
                self.enteringViewers += 1
                viewer.connection.start()
            }
            if self.enteredViewers == self.viewerOfConnection.count {
                self.beginStage(.settling)
            } else if elapsed > .seconds(60) + .milliseconds(10 * self.viewerOfConnection.count) {
                // The viewers have a minute, and 10 ms for each of them.
                self.abandon("entering")
            }
        case .settling:
            // The feed budget limits how many items a live's feed gets within any second. The run waits 2 s, so that
            // the tips of the joins do not use up the budget of the first messages.
            if elapsed >= .seconds(2) { self.beginSending(now) }
        case .sending:
            self.sendDueMessages(now)
            if elapsed >= self.plan.duration { self.endSending(now) }
        case .draining:
            if self.lives.allSatisfy({ $0.isComplete }) || elapsed >= self.plan.drainTimeout { self.endLives() }
        case .ending:
            // The report waits at most 10 s for the answers to `live.end`.
            if self.endedLives == self.lives.count || elapsed > .seconds(10) { self.finish() }
        }
    }

    /// Ends the run before messages are sent, because a stage took too long.
    private func abandon(_ stageName: String) {
        self.failures.append(
            "\(stageName) took too long: \(self.openedLives) lives are open, \(self.enteredViewers) viewers have joined"
        )
        self.endLives()
    }

    private func beginSending(_ now: Int64) {
        let intervalMicroseconds = 1_000_000 / self.plan.rate
        for (index, live) in self.lives.enumerated() {
            // The starts are spread over one interval, so that not all lives send in the same millisecond.
            let delay = intervalMicroseconds * Double(index) / Double(self.lives.count)
            live.startMicroseconds = now + Int64(delay)
            live.pauseClock.begin(at: live.startMicroseconds)
            let comparedViewers = live.viewers.prefix(self.plan.comparedViewers)
            live.comparedGateways = Set(comparedViewers.map(\.connection.address)).count
            for viewer in live.viewers {
                viewer.pauseClock.begin(at: live.startMicroseconds)
                viewer.receivedBeforeSending = viewer.connection.tracker.received
                viewer.numberBeforeSending = viewer.connection.tracker.position?.number ?? 0
            }
        }
        self.beginStage(.sending)
    }

    private func endSending(_ now: Int64) {
        for live in self.lives {
            live.pauseClock.end(at: now)
            for viewer in live.viewers { viewer.pauseClock.end(at: now) }
        }
        self.beginStage(.draining)
    }

    /// Sends the messages that are due at `now`.
    private func sendDueMessages(_ now: Int64) {
        let messagesPerLive = Int(self.plan.rate * self.plan.seconds)
        for live in self.lives {
            while live.nextSequence < messagesPerLive {
                let due = live.startMicroseconds + Int64(Double(live.nextSequence) * 1_000_000 / self.plan.rate)
                guard due <= now else { break }
                self.send(live.nextSequence, due: due, in: live)
                live.nextSequence += 1
            }
        }
    }

    private func send(_ sequence: Int, due: Int64, in live: LoadLive) {
        let viewer = live.viewers[sequence % live.viewers.count]
        let text = LoadMessage.text(sequence: sequence, due: due, size: self.plan.size)
        let params = "{\"live\":\"\(live.id.text)\",\"text\":\"\(text)\"}"
        self.sentMessages += 1
        let id = viewer.connection.call("barrage.sendText", params: Array(params.utf8), live: live.id)
        live.openCalls[LoadLive.CallKey(viewer: viewer.index, id: id)] = (sequence, due)
    }

    private func endLives() {
        self.beginStage(.ending)
        // Only a member may end a live, so the owners join their lives. They join only now, because every member
        // counts as a viewer.
        for live in self.lives { self.call("live.join", live) }
    }

    /// Sends a call whose only parameter is the live, as the live's owner.
    func call(_ method: String, _ live: LoadLive) {
        live.owner.call(method, params: Array("{\"live\":\"\(live.id.text)\"}".utf8), live: live.id)
    }

    private func finish() {
        self.timer?.close()
        self.timer = nil
        self.latencies.endSecond()
        let report = self.report()
        self.group.stop()
        self.onFinish(report)
    }

    private func reportProgress(_ now: Int64) {
        self.lastProgressReport = now
        self.latencies.endSecond()
        self.onProgress(
            LoadProgress(
                stage: self.stage, elapsed: .microseconds(now - self.stageBegan), entered: self.enteredViewers,
                sent: self.sentMessages, acknowledged: self.lives.reduce(0) { $0 + $1.admitted },
                delivered: self.deliveredItems))
    }
}
