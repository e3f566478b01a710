// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel

/// The services and the gateway of a simulated cluster, as one value.
struct SimulatedClusterState: Sendable {
    private var services: ServiceGroup
    private var gateway: SimulatedGateway

    /// `start`: the time of day when the cluster's clock is 0.
    init(policies: Policies, start: Timestamp, seed: UInt64) {
        self.services = ServiceGroup(policies: policies, seed: seed)
        // The gateway has another seed, so that it does not draw the same random numbers as the services.
        self.gateway = SimulatedGateway(
            policies: policies, startTime: start, at: SimulationClock.zero, seed: seed &+ 1)
    }

    /// When `tick` must be called next; see `SimulatedService.nextTick`.
    var nextTick: MonotonicTime {
        mutating get {
            // The services count in the time of day, the gateway in the time of the cluster's clock.
            let serviceTick = self.services.nextTick.map { SimulationClock.zero + ($0 - self.gateway.startTime) }
            return min(serviceTick ?? .distantFuture, self.gateway.nextTick)
        }
    }

    /// Applies `body` at the time `now`, and handles all records and inputs that follow.
    ///
    /// - Returns: The outputs for connections, in order.
    mutating func perform(at now: MonotonicTime, _ body: (inout Self) -> Void) -> [ConnectionOutput] {
        self.gateway.now = max(self.gateway.now, now)
        body(&self)
        self.settle()
        return self.gateway.takeOutputs()
    }

    /// Passes records between the gateway and the services until none is left.
    private mutating func settle() {
        while true {
            let written = self.gateway.takeEffects()
            // The services take only inputs. All other records are for the gateway.
            for effect in written where !self.services.append(effect) { self.gateway.recordReceived(effect) }
            let published = self.services.run(at: self.gateway.wallTime)
            for effect in published { self.gateway.recordReceived(effect) }
            if written.isEmpty, published.isEmpty { return }
        }
    }

    /// Whether a client is in a live; nil while calls of the client are open.
    func isInLive(_ connection: Int, _ live: LiveID) -> Bool? {
        guard let core = self.gateway.connections[connection]?.core else { return false }
        return core.openCallCount == 0 ? core.live == live : nil
    }

    // MARK: Changes

    mutating func tick() {
        for effect in self.services.tick(at: self.gateway.wallTime) { self.gateway.recordReceived(effect) }
        self.gateway.tick(at: self.gateway.now)
    }

    mutating func connectionOpened(_ connection: Int) { self.gateway.connectionOpened(connection) }
    mutating func textReceived(_ text: [UInt8], from connection: Int) {
        self.gateway.textReceived(text, from: connection)
    }
    mutating func connectionClosed(_ connection: Int) { self.gateway.connectionClosed(connection) }
    mutating func setRunning(_ isRunning: Bool, _ service: SimulatedCluster.Service) {
        self.services.setRunning(isRunning, service)
    }
    mutating func loseLeases() { self.services.loseLeases() }
}
