// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import BarrageCore
internal import DirectoryCore
internal import MachineKit
internal import PlazaModel
internal import StageCore

/// The services of a cluster in memory, with one partition each, and the inboxes between them.
///
/// A service handles the inputs of its inbox in order. In a cluster, the services run at the same time, so the order
/// between inboxes is random. Here the seed determines it.
struct ServiceGroup: Sendable {
    private var directory: SimulatedService<DirectoryMachine>
    private var presence: SimulatedPresence
    private var barrage: SimulatedService<BarrageMachine>
    private var seats: SimulatedService<SeatMachine>
    private var connections: SimulatedService<ConnectionMachine>
    private var apps = AppTable()
    private var random: SeededRandom

    /// The duration of a lease, as in the default settings of presence.
    static let lease = Milliseconds.seconds(90)

    init(policies: Policies, seed: UInt64) {
        self.directory = SimulatedService(DirectoryMachine(policies: policies))
        self.presence = SimulatedPresence(policies: policies, lease: Self.lease)
        self.barrage = SimulatedService(BarrageMachine(policies: policies))
        self.seats = SimulatedService(SeatMachine(policies: policies))
        self.connections = SimulatedService(ConnectionMachine(policies: policies))
        self.random = SeededRandom(seed: seed)
    }

    /// Appends an input to the inbox of its machine; a record of app settings updates the machines.
    ///
    /// - Returns: False if the effect is for the gateway, because it is not an input of a machine.
    mutating func append(_ effect: Effect) -> Bool {
        switch effect {
        case .directory(let input, _): self.directory.append(input)
        case .audience(let input): self.presence.append(input)
        case .barrage(let input): self.barrage.append(input)
        case .seat(let input): self.seats.append(input)
        case .connection(let input): self.connections.append(input)
        case .app(let record):
            self.apps.apply(record)
            // Only these two machines use settings of apps.
            self.directory.machine.updateSettings(self.apps)
            self.barrage.machine.updateSettings(self.apps)
            return false
        default: return false
        }
        return true
    }

    /// Handles inputs until no service has an input that it can handle.
    ///
    /// - Returns: The effects for gateways, in order.
    mutating func run(at now: Timestamp) -> [Effect] {
        var published: [Effect] = []
        while let inbox = self.chooseReadyInbox() {
            var effects: [Effect] = []
            self.handleNext(of: inbox, at: now, into: &effects)
            // `append` puts inputs into their inboxes; the other effects are for gateways.
            for effect in effects where !self.append(effect) { published.append(effect) }
        }
        return published
    }

    /// Handles the rows that are due and the leases that have ended.
    ///
    /// - Returns: The effects for gateways, in order.
    mutating func tick(at now: Timestamp) -> [Effect] {
        var effects: [Effect] = []
        if let due = self.directory.nextTick, due <= now { self.directory.tick(at: now, into: &effects) }
        if let due = self.presence.nextTick, due <= now { self.presence.tick(at: now, into: &effects) }
        if let due = self.barrage.nextTick, due <= now { self.barrage.tick(at: now, into: &effects) }
        if let due = self.seats.nextTick, due <= now { self.seats.tick(at: now, into: &effects) }
        if let due = self.connections.nextTick, due <= now { self.connections.tick(at: now, into: &effects) }
        // `append` puts inputs into their inboxes; the other effects are for gateways.
        let published = effects.filter { !self.append($0) }
        return published + self.run(at: now)
    }

    /// When `tick` must be called next; nil if no service needs a tick.
    var nextTick: Timestamp? {
        mutating get {
            let ticks = [
                self.directory.nextTick, self.presence.nextTick, self.barrage.nextTick, self.seats.nextTick,
                self.connections.nextTick,
            ]
            return ticks.compactMap { $0 }.min()
        }
    }

    /// Deletes all leases, as a restart of Redis without its data does.
    mutating func loseLeases() { self.presence.loseLeases() }

    /// Starts or stops a service; the inputs of a stopped service wait.
    mutating func setRunning(_ isRunning: Bool, _ service: SimulatedCluster.Service) {
        switch service {
        case .directory: self.directory.isRunning = isRunning
        case .presence: self.presence.isRunning = isRunning
        case .barrage: self.barrage.isRunning = isRunning
        case .stage:
            self.seats.isRunning = isRunning
            self.connections.isRunning = isRunning
        }
    }

    private enum Inbox { case directory, presence, barrage, seats, connections }

    /// Chooses an inbox whose service can handle an input; nil if there is none.
    private mutating func chooseReadyInbox() -> Inbox? {
        var ready: [Inbox] = []
        if self.directory.isReady { ready.append(.directory) }
        if self.presence.isReady { ready.append(.presence) }
        if self.barrage.isReady { ready.append(.barrage) }
        if self.seats.isReady { ready.append(.seats) }
        if self.connections.isReady { ready.append(.connections) }
        return ready.randomElement(using: &self.random)
    }

    private mutating func handleNext(of inbox: Inbox, at now: Timestamp, into effects: inout [Effect]) {
        switch inbox {
        case .directory: self.directory.handleNext(at: now, into: &effects)
        case .presence: self.presence.handleNext(at: now, into: &effects)
        case .barrage: self.barrage.handleNext(at: now, into: &effects)
        case .seats: self.seats.handleNext(at: now, into: &effects)
        case .connections: self.connections.handleNext(at: now, into: &effects)
        }
    }
}
