// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Glibc

/// Injects faults into a running cluster.
protocol FaultInjecting: Sendable {
    /// Begins the fault, and ends it after its time.
    ///
    /// A failure to end the fault, or to kill a process again, is ignored, because the process may be down, or may have
    /// been restarted without the fault. A clock that may have stayed wrong is an error.
    ///
    /// - Throws: the reason why the fault could not begin, why a clock could not be set right, or why an instance of a
    ///   rolling restart could not be restarted.
    func perform(_ fault: Fault) async throws
}

extension FaultInjecting {
    /// Injects one fault; returns when the fault is over, not when the cluster has recovered.
    ///
    /// - Parameters:
    ///   - fault: the fault.
    ///   - waitForLastSecondOfBattle: waits until a battle is in its last second; returns false if none is within a
    ///     limited time.
    ///   - sendBurst: begins to send many calls at once, and returns before they are answered; returns false if it
    ///     could not send them.
    /// - Returns: why the fault was not injected; nil if it was.
    func inject(
        _ fault: Fault, waitForLastSecondOfBattle: @Sendable () async -> Bool,
        sendBurst: @Sendable () async -> Bool
    ) async -> String? {
        if case .freezeAtBattleEnd = fault, await !waitForLastSecondOfBattle() {
            return "no battle came to its last second"
        }
        if case .freezeInAppend = fault, await !sendBurst() { return "no client was there to send calls" }
        do {
            try await self.perform(fault)
            return nil
        } catch {
            return "it could not be injected: \(error)"
        }
    }
}

/// Injects faults into a cluster that this process started.
struct FaultInjector: FaultInjecting {
    /// The cluster; it must restart processes that exit.
    let cluster: LocalCluster
    /// The cluster's proxies; nil if no link can be interrupted.
    let network: ChaosNetwork?
    /// The file of libfaketime; nil if no clock can be set wrong.
    let clockLibrary: String?

    func perform(_ fault: Fault) async throws {
        let cluster = self.cluster
        switch fault {
        case .kill(let names):
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in names { group.addTask { try await cluster.kill(name) } }
                try await group.waitForAll()
            }
        case .killRepeatedly(let name, let times):
            try await cluster.kill(name)
            // During each pause, the cluster restarts the process.
            for _ in 1..<max(1, times) {
                try? await Task.sleep(for: .seconds(2))
                try? await cluster.kill(name)
            }
            try? await Task.sleep(for: .seconds(2))
        case .freeze(let names, let seconds), .freezeAtBattleEnd(let names, let seconds),
            .freezeInAppend(let names, let seconds):
            try await self.freeze(names, .seconds(seconds))
        case .terminate(let name): try await cluster.restart(name)
        case .rollingRestart(let kind):
            for process in cluster.processes where process.kind == kind.rawValue {
                try await cluster.restart(process.name)
                try? await cluster.waitUntilReady(within: .seconds(20))
            }
        case .flushRedis: try await cluster.flushRedis()
        case .fillDisk(let name, let seconds):
            try await cluster.limitFileSize(of: name, to: 0)
            try? await Task.sleep(for: .seconds(seconds))
            // If the limit made the broker end, the cluster has restarted it without a limit.
            try? await cluster.limitFileSize(of: name, to: nil)
        case .interrupt(let link, let interruption, let seconds):
            guard let network = self.network else { throw MissingProxy() }
            try network.interrupt(link, interruption)
            try? await Task.sleep(for: .seconds(seconds))
            try? network.interrupt(link, .none)
        case .setClock(let name, let ahead, let seconds):
            guard let library = self.clockLibrary else { throw MissingClockLibrary() }
            try await cluster.restart(name, clockAhead: ahead, library: library)
            try? await Task.sleep(for: .seconds(seconds))
            let wasChanged = cluster.hasLoaded(library, in: name)
            // If this fails, the clock may stay wrong in all later rounds. So the error is thrown.
            try await cluster.restart(name, clockAhead: 0, library: library)
            if !wasChanged { throw UnchangedClock() }
        }
    }

    /// Stops processes for a while.
    private func freeze(_ names: [String], _ duration: Duration) async throws {
        defer { for name in names { try? self.cluster.signal(name, SIGCONT) } }
        for name in names { try self.cluster.signal(name, SIGSTOP) }
        try? await Task.sleep(for: duration)
    }

    private struct MissingProxy: Error, CustomStringConvertible {
        let description = "no proxy stands in this connection"
    }

    private struct UnchangedClock: Error, CustomStringConvertible {
        let description = "the process has not loaded libfaketime"
    }

    private struct MissingClockLibrary: Error, CustomStringConvertible {
        let description = "libfaketime is not installed"
    }
}
