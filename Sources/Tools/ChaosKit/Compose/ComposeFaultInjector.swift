// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit

/// Injects faults into the containers of a compose cluster.
struct ComposeFaultInjector: FaultInjecting {
    let cluster: ComposeCluster

    func perform(_ fault: Fault) async throws {
        let containers = try await self.cluster.containers()
        guard let steps = ComposeFault(fault, project: self.cluster.project, containers: containers) else {
            throw ImpossibleFault()
        }
        let beginResult: Result<Void, any Error>
        do {
            for step in steps.beginSteps { try await self.carryOut(step) }
            beginResult = .success(())
        } catch {
            beginResult = .failure(error)
        }
        for step in steps.endSteps { try? await self.carryOut(step) }
        try beginResult.get()
    }

    private func carryOut(_ step: ComposeStep) async throws {
        switch step {
        case .wait(let seconds): try await Task.sleep(for: .seconds(seconds))
        case .waitUntilReady: try? await self.cluster.waitUntilReady(within: .seconds(30))
        case .docker(let commands):
            try await withThrowingTaskGroup(of: Void.self) { group in
                for command in commands { group.addTask { _ = try await self.cluster.docker(command) } }
                try await group.waitForAll()
            }
        }
    }

    private struct ImpossibleFault: Error, CustomStringConvertible {
        let description = "it is not possible with containers, or a container is missing"
    }
}
