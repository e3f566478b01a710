// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Glibc

/// Injects faults into a running cluster.
struct FaultInjector: Sendable {
    /// The cluster; it must restart processes that exit.
    let cluster: LocalCluster
    /// The cluster's proxies; nil if no link can be interrupted.
    let network: ChaosNetwork?
    /// The file of libfaketime; nil if no clock can be set wrong.
    let clockLibrary: String?

    /// Injects one fault; returns when the fault is over, not when the cluster has recovered.
    ///
    /// A failure to signal or restart a process is ignored: a process that is down is faulty already.
    ///
    /// - Parameters:
    ///   - fault: the fault.
    ///   - waitForLastSecondOfBattle: waits some seconds for a battle that is in its last second; returns whether there
    ///     is one.
    /// - Returns: why the fault was not injected; nil if it was.
    func inject(_ fault: Fault, waitForLastSecondOfBattle: @Sendable () async -> Bool) async -> String? {
        let cluster = self.cluster
        switch fault {
        case .kill(let names):
            await withTaskGroup(of: Void.self) { group in
                for name in names { group.addTask { try? await cluster.kill(name) } }
            }
        case .killRepeatedly(let name, let times):
            for _ in 0..<times {
                try? await cluster.kill(name)
                try? await Task.sleep(for: .seconds(2))
            }
        case .freeze(let names, let seconds): await self.freeze(names, .seconds(seconds))
        case .freezeAtBattleEnd(let names, let seconds):
            guard await waitForLastSecondOfBattle() else { return "no battle came to its last second" }
            await self.freeze(names, .seconds(seconds))
        case .terminate(let name): try? await cluster.restart(name)
        case .rollingRestart(let kind):
            for process in cluster.processes where process.kind == kind.rawValue {
                try? await cluster.restart(process.name)
                try? await cluster.waitUntilReady(within: .seconds(20))
            }
        case .flushRedis: await cluster.flushRedis()
        case .fillDisk(let name, let seconds):
            try? await cluster.limitFileSize(of: name, to: 0)
            try? await Task.sleep(for: .seconds(seconds))
            // If the limit made the broker end, the cluster has restarted it without a limit.
            try? await cluster.limitFileSize(of: name, to: nil)
        case .interrupt(let link, let interruption, let seconds):
            self.network?.interrupt(link, interruption)
            try? await Task.sleep(for: .seconds(seconds))
            self.network?.interrupt(link, .none)
        case .setClock(let name, let ahead, let seconds):
            guard let library = self.clockLibrary else { return "libfaketime is not installed" }
            try? await cluster.restart(name, clockAhead: ahead, library: library)
            try? await Task.sleep(for: .seconds(seconds))
            try? await cluster.restart(name, clockAhead: 0, library: library)
        }
        return nil
    }

    /// Stops processes for a while.
    private func freeze(_ names: [String], _ duration: Duration) async {
        for name in names { try? self.cluster.signal(name, SIGSTOP) }
        try? await Task.sleep(for: duration)
        for name in names { try? self.cluster.signal(name, SIGCONT) }
    }
}
