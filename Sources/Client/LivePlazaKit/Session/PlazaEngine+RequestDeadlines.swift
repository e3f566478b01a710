// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Reads the open requests again when a request that a list still shows must have ended (R1.26).
///
/// Usually a notice reports the end. But the server sends no notice to the other devices of the user who has answered
/// or withdrawn a request.
extension PlazaEngine {
    /// How long the notice of an end may take.
    private static var endNoticeDelay: Milliseconds { .seconds(5) }

    /// Remembers, for each open request in an input, until when it is open.
    func rememberRequestDeadlines(_ input: FoldInput) {
        let requests = input.listedRequests(of: UserID(self.selfID))
        if case .snapshot(let snapshot) = input, let name = snapshot.name {
            let otherDeadlines = self.requestDeadlines.filter { $0.key.snapshot != name }
            self.liveSession?.requestDeadlines = otherDeadlines
        } else if requests.isEmpty {
            return
        }
        for request in requests {
            // Without this condition, a request that the server still lists after the request's end would cause one
            // read after another.
            guard let time = request.remainingTime, time > Milliseconds(0) else { continue }
            self.liveSession?.requestDeadlines[request.name] = self.clock.now + time + Self.endNoticeDelay
        }
        self.scheduleRequestCheck()
    }

    /// The live session's `requestDeadlines`; read them before an assignment, because the two accesses may not overlap.
    private var requestDeadlines: [RequestName: MonotonicTime] { self.liveSession?.requestDeadlines ?? [:] }

    private func scheduleRequestCheck() {
        self.liveSession?.requestTimer?.cancel()
        self.liveSession?.requestTimer = nil
        guard let sessionNumber = self.liveSession?.number, let due = self.requestDeadlines.values.min() else { return }
        let delay = max(Milliseconds(0), due - self.clock.now)
        self.liveSession?.requestTimer = self.clock.schedule(after: delay, on: self.queue) { [weak self] in
            self?.assumeOnQueue { engine in
                if engine.liveSession?.number == sessionNumber { engine.checkRequestDeadlines() }
            }
        }
    }

    /// Reads the open requests if a list shows a request that must have ended; at most once for each request.
    private func checkRequestDeadlines() {
        let now = self.clock.now
        let ended = self.requestDeadlines.filter { $0.value <= now }.keys
        let laterDeadlines = self.requestDeadlines.filter { $0.value > now }
        self.liveSession?.requestDeadlines = laterDeadlines
        // While the connection is lost, no read is possible; hosts read the open requests after a resume.
        if self.connection?.lostAt == nil {
            let shown = Set(ended.filter { self.liveSession?.fold.states.lists($0) == true }.map(\.snapshot))
            self.readLater(SnapshotName.allCases.filter { shown.contains($0) })
        }
        self.scheduleRequestCheck()
    }
}
