// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The requests of this user that its calls open, and their ends that no notice tells.
extension PlazaEngine {
    /// How long a notice may come after the read of the requests that contains its change.
    private static var noticeDelay: Milliseconds { .seconds(5) }

    /// Makes a call that opens requests, and remembers after its end which of them are open.
    ///
    /// If it remains unknown whether the server has applied the call, the requests may be open, and a read of the open
    /// requests tells whether they are.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - requests: the requests that the call may open; none if their names are not known before its result.
    ///   - snapshot: the snapshot that contains such requests.
    ///   - liveID: the live.
    ///   - openedRequests: the requests that are open after this result.
    /// - Returns: the result of the call.
    /// - Throws: the error of the call, or of `openedRequests`.
    func performRequest(
        _ call: StoreCall, _ requests: [RequestName], in snapshot: SnapshotName, of liveID: String,
        openedRequests: (CallResult) throws(ErrorInfo) -> [RequestName]
    ) async throws(ErrorInfo) -> CallResult {
        let sessionNumber = self.liveSession?.number
        self.applyLocalChange(.requestsSending, in: liveID)
        do throws(ErrorInfo) {
            let result = try await self.perform(call, in: liveID)
            let opened = try openedRequests(result)
            self.requestsSent(opened, in: liveID, sessionNumber)
            return result
        } catch {
            self.requestsSent(error.leavesOutcomeUnknown ? requests : [], in: liveID, sessionNumber)
            self.readIfUnknown([snapshot], after: error, in: liveID)
            throw error
        }
    }

    /// Remembers requests as open, unless the client has left the live in which the call was made.
    ///
    /// `sessionNumber`: the number of that stay in the live; nil if the join was not complete yet.
    private func requestsSent(_ requests: [RequestName], in liveID: String, _ sessionNumber: Int?) {
        guard sessionNumber == nil || sessionNumber == self.liveSession?.number else { return }
        self.applyLocalChange(.requestsSent(requests), in: liveID)
    }

    /// Waits for the notices of requests that a snapshot lacks, if there are any; then publishes their ends without
    /// notices.
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
