// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Foundation

/// The thread that probes starting processes for readiness, and writes `state.json` after each change.
///
/// A process sends no event when it becomes ready, so a starting process is probed every 50 ms. Otherwise the thread
/// sleeps until the table changes. A ready process is not probed again until it ends or its readiness is reset.
struct ReadinessMonitor: Sendable {
    let table: ConditionVariable<ProcessTable>
    /// Writes `state.json`.
    let writeState: @Sendable (ProcessTable) -> Void

    /// Starts the thread, which ends with the cluster; it may write `state.json` until then.
    func start() -> DedicatedThread {
        DedicatedThread("cluster-watch") { self.run() }
    }

    private func run() {
        var writtenVersion = -1
        while true {
            let current = self.table.current
            if current.hasEnded { return }
            if current.version != writtenVersion {
                self.writeState(current)
                writtenVersion = current.version
            }
            let starting = current.members.filter { $0.pid != nil && !$0.isReady }
            for member in starting { self.checkReadiness(member) }
            let checkedVersion = current.version
            let pause: Duration? = starting.isEmpty ? nil : .milliseconds(50)
            // While processes start, a change of the table does not shorten the pause before the next probe.
            _ = self.table.wait(timeout: pause) { table in
                table.hasEnded || (starting.isEmpty && table.version != checkedVersion) ? true : nil
            }
        }
    }

    private func checkReadiness(_ member: ClusterMember) {
        guard HealthProbe.isReady(member.plan.probe) else { return }
        // Only the embedded broker writes its address into a file.
        let brokerAddress: String? =
            if case .announcement(let file) = member.plan.probe {
                FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
            } else {
                nil
            }
        self.table.update { table in
            // The process may have been restarted since it was probed.
            guard table[member.plan.name]?.pid == member.pid else { return }
            table[member.plan.name]?.isReady = true
            table[member.plan.name]?.unreadyEndCount = 0
            if let brokerAddress { Self.recordBrokerAddress(brokerAddress, in: &table) }
            Self.startDemoIfAllReady(in: &table)
        }
    }

    /// Records the embedded broker's address, and restarts the services when the address has changed.
    ///
    /// A restarted embedded broker has a new port.
    private static func recordBrokerAddress(_ address: String, in table: inout ProcessTable) {
        let hasChanged = !table.kafka.isEmpty && table.kafka != address
        table.kafka = address
        guard hasChanged else { return }
        for member in table.members where member.plan.service != nil && member.pid != nil {
            table[member.plan.name]?.isRestartRequested = true
            table[member.plan.name]?.isStopRequested = true
            member.terminate()
        }
    }

    /// Starts the demo once all other processes are ready.
    private static func startDemoIfAllReady(in table: inout ProcessTable) {
        let infrastructureAndServices = table.members.filter {
            $0.plan.kind != "demo" && $0.desiredState != .removed
        }
        guard table.members.contains(where: { $0.plan.service != nil }),
            infrastructureAndServices.allSatisfy({ $0.isReady })
        else { return }
        for member in table.members where member.plan.kind == "demo" && member.desiredState == .waiting {
            table[member.plan.name]?.desiredState = .running
        }
    }
}
