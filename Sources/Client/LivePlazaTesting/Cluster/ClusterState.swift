// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The services and the gateway of a simulated cluster, as one value.
struct ClusterState: Sendable {
    private var services: ServiceGroup
    private var gateway: SimulatedGateway
    private let policies: Policies
    private let seed: UInt64
    private var restarts: UInt64 = 0

    init(policies: Policies, start: Timestamp, seed: UInt64) {
        self.policies = policies
        self.seed = seed
        self.services = ServiceGroup(policies: policies, seed: seed)
        self.gateway = SimulatedGateway(
            policies: policies, epoch: start, at: MonotonicTime(milliseconds: 0), seed: seed &+ 1)
    }

    /// When `tick` must be called next, in milliseconds of the cluster's clock.
    var nextTick: Double {
        mutating get {
            let service = self.services.nextTick.map { ($0 - self.gateway.epoch).count } ?? .max
            return Double(min(service, self.gateway.nextTick.milliseconds))
        }
    }

    /// Changes the state at a time, and handles all that follows.
    ///
    /// - Returns: The outputs for connections, in order.
    mutating func perform(
        at now: Double, _ body: (inout Self) -> Void
    ) -> [(connection: Int, output: ConnectionOutput)] {
        self.gateway.now = max(self.gateway.now, MonotonicTime(milliseconds: Int64(now)))
        body(&self)
        self.settle()
        return self.gateway.takeOutputs()
    }

    private mutating func settle() {
        while true {
            let written = self.gateway.takeEffects()
            for effect in written where !self.services.append(effect) { self.gateway.received(effect) }
            let published = self.services.run(at: self.gateway.wallTime)
            for effect in published { self.gateway.received(effect) }
            if written.isEmpty, published.isEmpty { return }
        }
    }

    // MARK: Changes

    mutating func tick() {
        for effect in self.services.tick(at: self.gateway.wallTime) { self.gateway.received(effect) }
        self.gateway.tick(at: self.gateway.now)
    }

    mutating func opened(_ connection: Int) { self.gateway.opened(connection) }
    mutating func received(_ text: [UInt8], from connection: Int) { self.gateway.received(text, from: connection) }
    mutating func closed(_ connection: Int) { self.gateway.closed(connection) }
    mutating func setRunning(_ isRunning: Bool, _ service: SimulatedCluster.Service) {
        self.services.setRunning(isRunning, service)
    }
    mutating func loseLeases() { self.services.loseLeases() }
}
