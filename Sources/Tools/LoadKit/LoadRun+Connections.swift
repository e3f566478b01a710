// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import PlazaModel
internal import ProtocolClient

// What the connections of owners and viewers receive.
extension LoadRun: PlazaConnectionDelegate {
    func connection(_ connection: PlazaConnection, event: BareClientCore.Event) {
        switch event {
        case .loggedIn:
            self.hasLoggedIn = true
            if let live = self.liveOfOwner[ObjectIdentifier(connection)] {
                guard !live.hasSentCreate else { return }
                live.hasSentCreate = true
                let params = Array("{\"live\":\"\(live.id.text)\",\"liveName\":\"load\"}".utf8)
                connection.call("live.create", params: params, live: live.id)
            } else if let viewer = self.viewerOfConnection[ObjectIdentifier(connection)], !viewer.hasSentJoin {
                viewer.hasSentJoin = true
                let live = viewer.live.id
                connection.call("live.join", params: Array("{\"live\":\"\(live.text)\"}".utf8), live: live)
            }
        case .resumed(let live, replayed: false):
            // The gateway cannot send the items that the viewer missed.
            self.failures.append("a viewer of \(live) could not resume where it was")
        case .resumeFailed(let live, let error):
            self.failures.append("lost \(live): \(error.code.name) \(error.message)")
        case .ended(let code):
            if self.stage != .ending { self.failures.append("a client was disconnected for good with code \(code)") }
        default: break
        }
    }

    func connection(_ connection: PlazaConnection, call id: Int64, ended outcome: Outcome) {
        let now = self.clock.microseconds
        if let viewer = self.viewerOfConnection[ObjectIdentifier(connection)] {
            self.handleViewerReply(viewer, id, outcome, now)
        } else if let live = self.liveOfOwner[ObjectIdentifier(connection)] {
            self.handleOwnerReply(live, outcome)
        }
    }

    private func handleOwnerReply(_ live: LoadLive, _ outcome: Outcome) {
        if self.stage == .ending {
            // Only a member may end a live, so each owner has joined its live first.
            if case .success(.joined) = outcome { return self.call("live.end", live) }
            // A live that could not be ended counts too, because the run does not try again.
            return self.endedLives += 1
        }
        switch outcome {
        case .success(.live): self.openedLives += 1
        case .failure(let error): self.failures.append("\(live.id): \(error.code.name) \(error.message)")
        default: break
        }
    }

    private func handleViewerReply(_ viewer: LoadViewer, _ id: Int64, _ outcome: Outcome, _ now: Int64) {
        guard let message = viewer.live.openCalls.removeValue(forKey: .init(viewer: viewer.index, id: id)) else {
            // The only call of a viewer that sends no message is its join.
            guard !viewer.hasEntered else { return }
            self.enteringViewers -= 1
            switch outcome {
            case .success(.joined):
                viewer.hasEntered = true
                self.enteredViewers += 1
            case .success(let reply):
                self.failures.append("viewer \(viewer.index) could not join: unexpected reply \(reply)")
            case .failure(let error):
                self.failures.append("viewer \(viewer.index) could not join: \(error.code.name) \(error.message)")
            }
            return
        }
        switch outcome {
        case .success(.sent(let position)):
            viewer.live.recordAcknowledgement(message.sequence, at: position)
            self.latencies.recordAcknowledgement(now - message.due)
        case .failure(let error) where error.code == .droppedByBudget: viewer.live.dropped += 1
        case .failure(let error): viewer.live.refused[error.code.name, default: 0] += 1
        case .success: viewer.live.refused["unexpected", default: 0] += 1
        }
    }

    // The first `knownItemCount` items of the frame were received before, so they are repeated.
    func connection(_ connection: PlazaConnection, feed scan: FeedScan, knownItemCount: Int, text: Span<UInt8>) {
        // The history of a live holds messages from before the viewer's join, which are not counted.
        guard let viewer = self.viewerOfConnection[ObjectIdentifier(connection)], !scan.isHistory else { return }
        let now = self.clock.microseconds
        self.noteIncidents(of: viewer, scan)
        self.deliveredItems += scan.count - knownItemCount
        viewer.live.pauseClock.recordDelivery(at: now)
        viewer.pauseClock.recordDelivery(at: now)
        // What the first viewer of each live, its checker, receives is compared with the replies to the senders.
        let isChecker = viewer.index == 0
        // What these viewers receive is compared with each other.
        let isCompared = self.plan.comparedViewers > 1 && viewer.index < self.plan.comparedViewers
        var sequences: [Int] = []
        LoadMessage.find(in: text) { sequence, due in
            self.latencies.recordDelivery(now - due)
            if isChecker || isCompared { sequences.append(sequence) }
        }
        // No viewer leaves during a run, so a leave tip is a fault.
        if isChecker, LoadMessage.containsLeaveTip(text) {
            self.unexpectedLeaveTips += 1
            self.incidents.add(
                .leaveTip, viewer.name, in: viewer.live.id, "is told in \(scan.place) that somebody left")
        }
        // A frame names only the feed number of its first item. So the number of a message is known only if every item
        // of the frame is a load message. Other frames are not compared; the connection's `FeedOrderTracker` still
        // finds lost and repeated items in them.
        if isChecker || isCompared, knownItemCount == 0, sequences.count == scan.count {
            for (offset, sequence) in sequences.enumerated() {
                let number = scan.firstNumber + Int64(offset)
                if isCompared, let other = viewer.live.order.record(sequence, at: number) {
                    self.incidents.add(
                        .misplaced, viewer.name, in: viewer.live.id,
                        "gets message \(sequence) as item \(number), and another viewer got message \(other)")
                }
                guard isChecker, let earlier = viewer.live.recordCheckerReceipt(sequence, at: number) else { continue }
                self.incidents.add(
                    .repeated, viewer.name, in: viewer.live.id,
                    "gets message \(sequence) as item \(number), and got it as item \(earlier)")
            }
        }
    }

    /// Notes the missing, repeated and reordered items that the connection's `FeedOrderTracker` has found in a frame.
    private func noteIncidents(of viewer: LoadViewer, _ scan: FeedScan) {
        let (before, after) = (viewer.trackerOfLastFrame, viewer.connection.tracker)
        defer { viewer.trackerOfLastFrame = after }
        let last = before.position.map { "after item \($0.number) of epoch \($0.epoch)" } ?? "first"
        for (kind, count) in [
            (LoadIncident.Kind.missing, after.missing - before.missing), (.repeated, after.repeated - before.repeated),
            (.reordered, after.reordered - before.reordered),
        ] where count > 0 {
            self.incidents.add(kind, viewer.name, in: viewer.live.id, "gets \(scan.place) \(last): \(count) \(kind)")
        }
    }
}

extension FeedScan {
    /// The items of the frame, in words.
    fileprivate var place: String { "items \(self.firstNumber) to \(self.lastNumber) of epoch \(self.epoch)" }
}
