// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Glibc

/// Carries out faults on a running cluster.
enum FaultInjector {
    /// Injects one fault; returns when it is over, not when the cluster has recovered.
    ///
    /// A process that is down just now is hit already, so that failures to reach it are ignored.
    ///
    /// - Parameters:
    ///   - fault: the fault.
    ///   - cluster: the cluster; it must restart processes that exit.
    ///   - network: the proxies of the cluster; without them no link is interrupted.
    ///   - untilBattleEnds: waits until a battle is in its last second, at most some seconds.
    static func inject(
        _ fault: Fault, into cluster: LocalCluster, _ network: ChaosNetwork?,
        untilBattleEnds: @Sendable () async -> Void
    ) async {
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
        case .freeze(let names, let seconds): await Self.freeze(names, .seconds(seconds), cluster)
        case .freezeAtBattleEnd(let names, let seconds):
            await untilBattleEnds()
            await Self.freeze(names, .seconds(seconds), cluster)
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
            // A broker that has ended of it was started anew without the limit.
            try? await cluster.limitFileSize(of: name, to: nil)
        case .interrupt(let link, let interruption, let seconds):
            network?.interrupt(link, interruption)
            try? await Task.sleep(for: .seconds(seconds))
            network?.interrupt(link, .none)
        }
    }

    private static func freeze(_ names: [String], _ duration: Duration, _ cluster: LocalCluster) async {
        for name in names { try? cluster.signal(name, SIGSTOP) }
        try? await Task.sleep(for: duration)
        for name in names { try? cluster.signal(name, SIGCONT) }
    }
}
