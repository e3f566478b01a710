// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// Reads snapshots: each at most once at a time, again after a failure, and at a random moment where all viewers of a
/// live would otherwise read at the same time.
extension PlazaEngine {
    /// The number of milliseconds over which reads are spread that many clients make for the same reason.
    private static var spread: Double { 5000 }
    /// The maximum number of automatic retries of a read.
    private static var maxRetries: Int { 5 }
    /// The maximum number of mutes that are read.
    private static var maxMutes: Int { 1000 }

    /// Reads a snapshot and waits for it.
    ///
    /// If it is being read already, it is read once more afterwards, because the read in progress may show a state
    /// from before the change that the caller wants to see.
    ///
    /// - Throws: the error of the read.
    func refresh(_ name: SnapshotName) async throws(ErrorInfo) { try await self.read(name).value.get() }

    /// Reads snapshots at once, with retries.
    func readSoon(_ names: [SnapshotName]) {
        for name in names { self.attempt(name, failures: 0) }
    }

    /// Reads snapshots within the next five seconds; further calls until then have no effect.
    func readLater(_ names: [SnapshotName]) {
        for name in names { self.schedule(name, after: self.random() * Self.spread, failures: 0) }
    }

    private func read(_ name: SnapshotName) -> Task<Result<Void, ErrorInfo>, Never> {
        let before = self.session?.reads[name]?.task
        self.readCount += 1
        let number = self.readCount
        let task = self.task { engine in
            _ = await before?.value
            let result = await engine.readOnce(name)
            if engine.session?.reads[name]?.number == number { engine.session?.reads[name] = nil }
            return result
        }
        self.session?.reads[name] = SnapshotRead(number: number, task: task)
        return task
    }

    private func attempt(_ name: SnapshotName, failures: Int) {
        guard let number = self.session?.number else { return }
        let read = self.read(name)
        self.task { engine in
            guard case .failure = await read.value, engine.session?.number == number, failures < Self.maxRetries else {
                return
            }
            let pause = BackOff.pause(failures: failures, random: engine.random(), first: 1000, max: 30_000)
            engine.schedule(name, after: pause, failures: failures + 1)
        }
    }

    private func schedule(_ name: SnapshotName, after delay: Double, failures: Int) {
        guard let session = self.session, session.timers[name] == nil else { return }
        self.session?.timers[name] = self.clock.schedule(after: delay, on: self.queue) { [weak self] in
            self?.assumeOnQueue { engine in
                guard engine.session?.number == session.number else { return }
                engine.session?.timers[name] = nil
                engine.attempt(name, failures: failures)
            }
        }
    }

    private func readOnce(_ name: SnapshotName) async -> Result<Void, ErrorInfo> {
        guard let session = self.session else { return .success(()) }
        let live = session.fold.liveID
        self.session?.fold.snapshotRequested(name)
        do throws(ErrorInfo) {
            let snapshot = try await self.read(name, of: live)
            if self.session?.number == session.number { self.snapshot(snapshot, in: live.text) }
            return .success(())
        } catch {
            if self.session?.number == session.number { self.session?.fold.snapshotFailed(name) }
            return .failure(error)
        }
    }

    private func read(_ name: SnapshotName, of live: LiveID) async throws(ErrorInfo) -> Snapshot {
        let unexpected = ErrorInfo.badFrame("a result of another kind")
        switch name {
        case .details:
            guard case .room(let details) = try await self.call("live.get", live: live) else { throw unexpected }
            return .details(details)
        case .audience:
            let result = try await self.call("audience.list", ["count": 200], live: live)
            guard case .audience(let page) = result else { throw unexpected }
            return .audience(page)
        case .statistics:
            guard case .statistics(let statistics, _) = try await self.call("live.summary", live: live) else {
                throw unexpected
            }
            return .statistics(statistics)
        case .seatRequests:
            let result = try await self.call("seat.requests", live: live)
            guard case .seatRequests(let applications, let invitations, _) = result else { throw unexpected }
            return .seatRequests(applications: applications, invitations: invitations)
        case .mutes:
            var items: [Sanction] = []
            var offset = 0
            repeat {
                let result = try await self.call(
                    "live.mutes", ["offset": .integer(Int64(offset)), "count": 100], live: live)
                guard case .sanctions(let page) = result else { throw unexpected }
                items += page.items
                offset = page.nextOffset
            } while offset > 0 && items.count < Self.maxMutes
            return .mutes(items)
        }
    }
}
