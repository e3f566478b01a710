// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Reads snapshots: parts of a live's state that a call returns.
///
/// Reads of the same snapshot run one after the other. A read that fails is repeated. Where all viewers of a live would
/// read at the same time, each client reads at a random moment.
extension PlazaEngine {
    /// The time over which clients spread their reads when all viewers have the same reason to read.
    private static var readSpread: Milliseconds { .seconds(5) }
    /// The maximum number of automatic retries of a read whose error is not temporary.
    ///
    /// After a temporary error, such as that of a service that is away, a read is repeated until it succeeds or the
    /// client leaves the live: a list that was not read would stay out of date.
    private static var maxRetries: Int { 5 }
    /// The longest random pause before the first retry; it doubles with each failure.
    private static var firstRetryPause: Milliseconds { .seconds(1) }
    /// The longest random pause before any retry.
    private static var maxRetryPause: Milliseconds { .seconds(30) }

    /// Reads a snapshot and waits for it.
    ///
    /// If the snapshot is being read already, it is read once more afterwards, because the read in progress may return
    /// a state from before the change that the caller wants to see.
    ///
    /// - Throws: the error of the read; `notInRoom` if the client has left the live before the end of the read.
    func refresh(_ name: SnapshotName) async throws(ErrorInfo) { try await self.enqueueRead(name).value.get() }

    /// Reads a list at the app's request, and shows it in the live.
    ///
    /// - Throws: the error of the read; `notInRoom` if the client is not in the live, or has left it since the read
    ///   began.
    func showList(in liveID: String, _ read: StoreOperation<Snapshot>) async throws(ErrorInfo) {
        let sessionNumber = self.liveSession?.number
        let list: Result<Snapshot, ErrorInfo>
        do throws(ErrorInfo) { list = .success(try await read(self)) } catch { list = .failure(error) }
        // Whether the client is in the live is checked after the read, because a join that the app had begun may be
        // complete by now.
        if let sessionNumber, sessionNumber != self.liveSession?.number { throw Self.leftMeanwhileError }
        guard self.applySnapshot(try list.get(), in: liveID) else {
            throw ErrorInfo(.notInRoom, "join the live before you read its lists")
        }
    }

    /// Reads snapshots at once, with retries.
    func readNow(_ names: [SnapshotName]) {
        for name in names { self.readWithRetries(name, failures: 0) }
    }

    /// Reads snapshots at a random moment within `readSpread`; further calls until then have no effect.
    func readLater(_ names: [SnapshotName]) {
        for name in names { self.scheduleRead(name, after: Self.readSpread.randomPart(self.random()), failures: 0) }
    }

    /// Begins to read a snapshot as soon as the read of the same snapshot that is in progress, if any, has ended.
    private func enqueueRead(_ name: SnapshotName) -> Task<Result<Void, ErrorInfo>, Never> {
        let previousRead = self.liveSession?.reads[name]?.task
        let sessionNumber = self.liveSession?.number
        self.readCount += 1
        let readNumber = self.readCount
        let task = self.task { engine in
            _ = await previousRead?.value
            let result = await engine.readOnce(name, ofSession: sessionNumber)
            if engine.liveSession?.reads[name]?.number == readNumber { engine.liveSession?.reads[name] = nil }
            return result
        }
        self.liveSession?.reads[name] = SnapshotRead(number: readNumber, task: task)
        return task
    }

    /// Reads a snapshot, and after an error once more later.
    ///
    /// `failures`: how many times the read has failed before.
    private func readWithRetries(_ name: SnapshotName, failures: Int) {
        guard let sessionNumber = self.liveSession?.number else { return }
        let read = self.enqueueRead(name)
        self.task { engine in
            // A server of an earlier version may not have the method; a retry is useless then.
            guard case .failure(let error) = await read.value, engine.liveSession?.number == sessionNumber,
                failures < Self.maxRetries || error.isTemporary, !error.has(.unknownMethod)
            else {
                return
            }
            let pause = BackOff.pause(
                failures: failures, random: engine.random(), first: Self.firstRetryPause, max: Self.maxRetryPause)
            engine.scheduleRead(name, after: max(pause, error.retryPause ?? pause), failures: failures + 1)
        }
    }

    /// Reads a snapshot after `delay`, unless a read of it is scheduled already.
    private func scheduleRead(_ name: SnapshotName, after delay: Milliseconds, failures: Int) {
        guard let sessionNumber = self.liveSession?.number, self.liveSession?.readTimers[name] == nil else { return }
        self.liveSession?.readTimers[name] = self.clock.schedule(after: delay, on: self.queue) { [weak self] in
            self?.assumeOnQueue { engine in
                guard engine.liveSession?.number == sessionNumber else { return }
                engine.liveSession?.readTimers[name] = nil
                engine.readWithRetries(name, failures: failures)
            }
        }
    }

    /// Reads a snapshot of the live that the client was in when the read was requested.
    ///
    /// `sessionNumber`: the number of the live session at that time; nil if the client was in no live.
    private func readOnce(_ name: SnapshotName, ofSession sessionNumber: Int?) async -> Result<Void, ErrorInfo> {
        guard let live = self.liveSession?.fold.liveID, self.liveSession?.number == sessionNumber else {
            return .failure(Self.leftMeanwhileError)
        }
        self.liveSession?.fold.snapshotRequested(name)
        do throws(ErrorInfo) {
            let snapshot = try await self.fetch(name, of: live)
            guard self.liveSession?.number == sessionNumber else { return .failure(Self.leftMeanwhileError) }
            let mustReadAgain = self.liveSession?.fold.mustReadAgain(name) ?? false
            let wasViewer = self.liveSession?.fold.states.live.info.isEmpty == false && !self.isHost
            self.applySnapshot(snapshot, in: live.text)
            if mustReadAgain { self.readLater([name]) }
            self.readLackedRequests()
            // The user has become an admin, but the client has missed the feed item that says so.
            if wasViewer, self.isHost { self.readNow(self.snapshotsForHosts) }
            return .success(())
        } catch {
            if self.liveSession?.number == sessionNumber { self.liveSession?.fold.snapshotFailed(name) }
            return .failure(error)
        }
    }
}
