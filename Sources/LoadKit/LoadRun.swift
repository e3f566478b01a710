// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import LivePlazaKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// A run on its loop: rooms are opened, viewers enter, messages are sent when they are due (open loop: never later
/// because answers are slow), and what comes is held against what was acknowledged.
final class LoadRun {
    private let plan: LoadPlan
    private let loop: EventLoop
    private let group: PlazaConnectionGroup
    private let progress: (LoadProgress) -> Void
    private let finished: (LoadReport) -> Void

    private var rooms: [LoadRoom] = []
    private var viewerOf: [ObjectIdentifier: LoadViewer] = [:]
    private var roomOf: [ObjectIdentifier: LoadRoom] = [:]
    private var waitingToEnter: [LoadViewer] = []
    private var entering = 0
    private var entered = 0
    private var hasLoggedIn = false
    private var opened = 0
    private var ended = 0
    private var sent = 0
    private var failures: [String] = []
    private var deliveries = Histogram()
    /// Deliveries that are not in `deliveries` yet, for the second has not ended; the p99 of each second before, in
    /// milliseconds.
    private var recent = Histogram()
    private var p99BySecond: [Double] = []
    private var acknowledgements = Histogram()
    private var delivered = 0
    private var leaveTips = 0
    private var stage = LoadProgress.Stage.opening
    private var stageBegan: Int64
    private var lastProgress: Int64 = 0
    private var timer: LoopTimer?
    private var seed: UInt64 = 1

    init(
        _ plan: LoadPlan, loop: EventLoop, progress: @escaping (LoadProgress) -> Void,
        finished: @escaping (LoadReport) -> Void
    ) throws(LoopError) {
        self.plan = plan
        self.loop = loop
        self.group = try PlazaConnectionGroup(loop: loop)
        self.progress = progress
        self.finished = finished
        self.stageBegan = MonotonicClock.microseconds
    }

    func start() throws(LoopError) {
        for index in 0..<self.plan.rooms {
            let owner = self.makeConnection("o\(index)", address: index)
            let room = LoadRoom(LiveID("\(self.plan.name)-\(index)"), owner)
            self.rooms.append(room)
            self.roomOf[ObjectIdentifier(owner)] = room
            for viewer in 0..<self.plan.viewers {
                let connection = self.makeConnection("v\(index)-\(viewer)", address: index + viewer)
                let member = LoadViewer(connection, room, index: viewer)
                room.viewers.append(member)
                self.viewerOf[ObjectIdentifier(connection)] = member
            }
            self.waitingToEnter += room.viewers
            owner.start()
        }
        self.waitingToEnter.reverse()
        // The timer keeps the run alive until `finish` closes it.
        let timer = try LoopTimer(loop: self.loop) { [self] _ in self.turn() }
        timer.start(afterMilliseconds: 1, repeatingMilliseconds: 1)
        self.timer = timer
    }

    private func makeConnection(_ suffix: String, address: Int) -> PlazaConnection {
        let user = "\(self.plan.name)-\(suffix)"
        self.seed += 1
        let connection = PlazaConnection(
            group: self.group, addresses: self.plan.addresses, first: address,
            options: ClientCore.Options(token: self.plan.token(user), session: SessionID(user)), seed: self.seed)
        connection.delegate = self
        return connection
    }

    // MARK: Stages

    private func enter(_ stage: LoadProgress.Stage) {
        self.stage = stage
        self.stageBegan = MonotonicClock.microseconds
        self.tellProgress(self.stageBegan)
    }

    private func turn() {
        let now = MonotonicClock.microseconds
        if now - self.lastProgress >= 1_000_000 { self.tellProgress(now) }
        let seconds = Double(now - self.stageBegan) / 1_000_000
        switch self.stage {
        case .opening:
            if self.opened == self.rooms.count {
                self.enter(.entering)
            } else if !self.hasLoggedIn, seconds > self.plan.loginSeconds {
                self.failures.insert(self.plan.nobodyLoggedIn, at: 0)
                self.finish()
            } else if seconds > 60 {
                self.giveUp("opening")
            }
        case .entering:
            while self.entering < self.plan.entering, let viewer = self.waitingToEnter.popLast() {
                self.entering += 1
                viewer.connection.start()
            }
            if self.entered == self.viewerOf.count {
                self.enter(.settling)
            } else if seconds > 60 + Double(self.viewerOf.count) / 100 {
                self.giveUp("entering")
            }
        case .settling:
            // The tips of the entries must have left the sliding second before it counts.
            if seconds >= 2 { self.beginSending(now) }
        case .sending:
            self.sendWhatIsDue(now)
            if seconds >= self.plan.seconds { self.enter(.draining) }
        case .draining:
            if self.rooms.allSatisfy({ $0.isComplete }) || seconds >= self.plan.drainSeconds { self.endRooms() }
        case .ending:
            if self.ended == self.rooms.count || seconds > 10 { self.finish() }
        }
    }

    private func giveUp(_ what: String) {
        self.failures.append("\(what) took too long: \(self.opened) rooms are open, \(self.entered) viewers are in")
        self.endRooms()
    }

    private func beginSending(_ now: Int64) {
        let interval = 1_000_000 / self.plan.rate
        for (index, room) in self.rooms.enumerated() {
            // Rooms are staggered, or all would send in the same millisecond.
            room.start = now + Int64(interval * Double(index) / Double(self.rooms.count))
            for viewer in room.viewers {
                viewer.receivedBefore = viewer.connection.tracker.received
                viewer.numberBefore = viewer.connection.tracker.position?.number ?? 0
            }
        }
        self.enter(.sending)
    }

    private func sendWhatIsDue(_ now: Int64) {
        let total = Int(self.plan.rate * self.plan.seconds)
        for room in self.rooms {
            while room.nextSequence < total {
                let due = room.start + Int64(Double(room.nextSequence) * 1_000_000 / self.plan.rate)
                guard due <= now else { break }
                self.send(room.nextSequence, due: due, in: room)
                room.nextSequence += 1
            }
        }
    }

    private func send(_ sequence: Int, due: Int64, in room: LoadRoom) {
        let viewer = room.viewers[sequence % room.viewers.count]
        let text = LoadMessage.text(sequence: sequence, due: due, size: self.plan.size)
        let params = "{\"live\":\"\(room.live.text)\",\"text\":\"\(text)\"}"
        self.sent += 1
        let id = viewer.connection.call("barrage.sendText", params: Array(params.utf8), live: room.live)
        room.open[LoadRoom.CallKey(viewer: viewer.index, id: id)] = (sequence, due)
    }

    private func endRooms() {
        self.enter(.ending)
        // Whoever ends a live must be in it. Owners were not until now, so that they are no viewers besides the viewers.
        for room in self.rooms { self.call("live.join", room) }
    }

    private func call(_ method: String, _ room: LoadRoom) {
        room.owner.call(method, params: Array("{\"live\":\"\(room.live.text)\"}".utf8), live: room.live)
    }

    private func finish() {
        self.timer?.close()
        self.timer = nil
        self.endSecond()
        let report = self.report()
        self.group.stop()
        self.finished(report)
    }

    /// Adds the last second's deliveries to those before.
    private func endSecond() {
        guard self.recent.count > 0 else { return }
        self.p99BySecond.append(LoadReport.Latency(self.recent).p99)
        self.deliveries.merge(self.recent)
        self.recent = Histogram()
    }

    private func tellProgress(_ now: Int64) {
        self.lastProgress = now
        self.endSecond()
        self.progress(
            LoadProgress(
                stage: self.stage, seconds: Double(now - self.stageBegan) / 1_000_000, entered: self.entered,
                sent: self.sent, acknowledged: self.rooms.reduce(0) { $0 + $1.admitted }, delivered: self.delivered))
    }
}

// MARK: - What the clients tell

extension LoadRun: PlazaConnectionDelegate {
    func connection(_ connection: PlazaConnection, event: ClientCore.Event) {
        switch event {
        case .loggedIn:
            self.hasLoggedIn = true
            if let room = self.roomOf[ObjectIdentifier(connection)] {
                guard !room.isAskedFor else { return }
                room.isAskedFor = true
                let params = Array("{\"live\":\"\(room.live.text)\",\"liveName\":\"load\"}".utf8)
                connection.call("live.create", params: params, live: room.live)
            } else if let viewer = self.viewerOf[ObjectIdentifier(connection)], !viewer.isAskedFor {
                viewer.isAskedFor = true
                let live = viewer.room.live
                connection.call("live.join", params: Array("{\"live\":\"\(live.text)\"}".utf8), live: live)
            }
        case .resumed(let live, replayed: false):
            self.failures.append("a viewer of \(live) could not resume where it was")
        case .lost(let live, let error): self.failures.append("lost \(live): \(error.code.name) \(error.message)")
        case .ended(let code):
            if self.stage != .ending { self.failures.append("a client was ended with code \(code)") }
        default: break
        }
    }

    func connection(_ connection: PlazaConnection, call id: Int64, ended outcome: Outcome) {
        let now = MonotonicClock.microseconds
        if let viewer = self.viewerOf[ObjectIdentifier(connection)] {
            self.viewerAnswered(viewer, id, outcome, now)
        } else if let room = self.roomOf[ObjectIdentifier(connection)] {
            self.ownerAnswered(room, outcome)
        }
    }

    private func ownerAnswered(_ room: LoadRoom, _ outcome: Outcome) {
        if self.stage == .ending {
            if case .success(.joined) = outcome { return self.call("live.end", room) }
            return self.ended += 1
        }
        switch outcome {
        case .success(.live): self.opened += 1
        case .failure(let error): self.failures.append("\(room.live): \(error.code.name) \(error.message)")
        default: break
        }
    }

    private func viewerAnswered(_ viewer: LoadViewer, _ id: Int64, _ outcome: Outcome, _ now: Int64) {
        guard let message = viewer.room.open.removeValue(forKey: .init(viewer: viewer.index, id: id)) else {
            guard !viewer.hasEntered else { return }
            self.entering -= 1
            if case .success(.joined) = outcome {
                viewer.hasEntered = true
                self.entered += 1
            } else {
                self.failures.append("viewer \(viewer.index) could not enter: \(outcome)")
            }
            return
        }
        switch outcome {
        case .success(.sent(let position)):
            viewer.room.acknowledged(message.sequence, at: position)
            self.acknowledgements.record(Int(now - message.due))
        case .failure(let error) where error.code == .droppedByBudget: viewer.room.dropped += 1
        case .failure(let error): viewer.room.refused[error.code.name, default: 0] += 1
        case .success: viewer.room.refused["unexpected", default: 0] += 1
        }
    }

    func connection(_ connection: PlazaConnection, feed scan: FeedScan, skip: Int, text: Span<UInt8>) {
        // What was said before a viewer came is owed to nobody.
        guard let viewer = self.viewerOf[ObjectIdentifier(connection)], !scan.isHistory else { return }
        let now = MonotonicClock.microseconds
        let isSending = self.stage == .sending
        self.delivered += scan.count - skip
        viewer.room.delivered(at: now, isSending: isSending)
        let isChecker = viewer.index == 0
        var sequences: [Int] = []
        LoadMessage.find(in: text) { sequence, due in
            self.recent.record(Int(now - due))
            if isChecker { sequences.append(sequence) }
        }
        if isChecker, LoadMessage.mentionsLeave(text) { self.leaveTips += 1 }
        // Where every item of the frame is a message of ours, the places are known; frames with tips among them are
        // checked by their numbers alone.
        if isChecker, skip == 0, sequences.count == scan.count {
            for (offset, sequence) in sequences.enumerated() {
                viewer.room.seen(sequence, at: scan.first + Int64(offset))
            }
        }
    }
}

extension LoadRun {
    private func report() -> LoadReport {
        var expected = 0
        var got = 0
        var missing = 0
        var repeated = 0
        var reordered = 0
        var reconnects = 0
        for viewer in self.viewerOf.values where viewer.hasEntered {
            let tracker = viewer.connection.tracker
            let received = tracker.received - viewer.receivedBefore
            got += received
            expected += received + viewer.missing
            missing += viewer.missing
            repeated += tracker.repeated
            reordered += tracker.reordered
            reconnects += viewer.connection.reconnects
        }
        var refused: [String: Int] = [:]
        for room in self.rooms { refused.merge(room.refused) { $0 + $1 } }
        let latency = LoadReport.Latency(self.deliveries)
        var report = LoadReport(
            rooms: self.plan.rooms, viewers: self.plan.viewers, rate: self.plan.rate, size: self.plan.size,
            seconds: self.plan.seconds, p50: latency.p50, p90: latency.p90, p99: latency.p99, p999: latency.p999,
            max: latency.max, p99BySecond: self.p99BySecond,
            acknowledgement: .init(self.acknowledgements), expected: expected, delivered: got, missing: missing,
            repeated: repeated + self.rooms.reduce(0) { $0 + $1.appliedTwice }, reordered: reordered,
            published: self.sent, admitted: self.rooms.reduce(0) { $0 + $1.admitted }, refused: refused,
            dropped: self.rooms.reduce(0) { $0 + $1.dropped },
            unanswered: self.rooms.reduce(0) { $0 + $1.open.count },
            misplaced: self.rooms.reduce(0) { $0 + $1.misplaced }, reconnects: reconnects, leaveTips: self.leaveTips,
            longestPause: Double(self.rooms.map(\.longestPause).max() ?? 0) / 1000, failures: self.failures)
        if let failure = report.nothingAdmitted { report.failures.append(failure) }
        return report
    }
}
