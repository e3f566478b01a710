// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The requests that this user's calls open, and the ends of requests that no notice reports.
extension PlazaEngine {
    /// How long the client waits for the notice of a request's end after a read has shown this end.
    private static var noticeDelay: Milliseconds { .seconds(5) }

    /// Makes a call that opens requests, and remembers the requests that are open after the end of the call.
    ///
    /// If it remains unknown whether the server has applied the call, `requests` are remembered as open, and a read of
    /// the open requests corrects this.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - requests: the requests that the call may open; empty if their names are known only from its result.
    ///   - snapshot: the snapshot that contains such requests.
    ///   - liveID: the live.
    ///   - openedRequests: returns the requests that the call has opened, from its result.
    /// - Returns: the result of the call.
    /// - Throws: the error of the call, or of `openedRequests`.
    func performRequest(
        _ call: StoreCall, _ requests: [RequestName], in snapshot: SnapshotName, of liveID: String,
        openedRequests: (CallResult) throws(ErrorInfo) -> [RequestName]
    ) async throws(ErrorInfo) -> CallResult {
        let sessionNumber = self.liveSession?.number
        self.applyLocalChange(.requestsSending(requests), in: liveID)
        do throws(ErrorInfo) {
            let result = try await self.perform(call, in: liveID)
            let opened = try openedRequests(result)
            self.requestsSent(requests, opened: opened, in: liveID, sessionNumber)
            self.readLackedRequests()
            return result
        } catch {
            let opened = error.leavesOutcomeUnknown ? requests : []
            self.requestsSent(requests, opened: opened, in: liveID, sessionNumber)
            if error.leavesOutcomeUnknown {
                self.readIfUnknown([snapshot], after: error, in: liveID)
            } else {
                self.readLackedRequests()
            }
            throw error
        }
    }

    /// Reads once more the snapshots that lacked a request of this user whose call had no outcome then, and has one
    /// now.
    func readLackedRequests() {
        guard let names = self.liveSession?.fold.takeSnapshotsLackingRequests() else { return }
        self.readNow(SnapshotName.allCases.filter { names.contains($0) })
    }

    /// Remembers the requests in `opened` as open, unless the client has left the live in which the call was made.
    ///
    /// `sessionNumber`: the number of the live session of the call; nil if the join was not complete yet.
    private func requestsSent(
        _ requests: [RequestName], opened: [RequestName], in liveID: String, _ sessionNumber: Int?
    ) {
        guard sessionNumber == nil || sessionNumber == self.liveSession?.number else { return }
        self.applyLocalChange(.requestsSent(requests, opened: opened), in: liveID)
    }

    /// If a snapshot has shown ends of requests, waits for their notices, and then publishes the ends that no notice
    /// has reported.
    func awaitNotices() {
        self.liveSession?.noticeTimer?.cancel()
        self.liveSession?.noticeTimer = nil
        guard self.liveSession?.fold.awaitsNotices == true, let sessionNumber = self.liveSession?.number else { return }
        self.liveSession?.noticeTimer = self.clock.schedule(after: Self.noticeDelay, on: self.queue) { [weak self] in
            self?.assumeOnQueue { engine in
                // While the connection is lost, no notice comes; the resume begins another wait.
                guard engine.liveSession?.number == sessionNumber, engine.connection?.lostAt == nil else { return }
                engine.applyLocalChange(.noticesDue, in: engine.currentLiveID)
            }
        }
    }
}
