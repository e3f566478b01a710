// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import MachineKit
internal import PlazaModel

/// The presence service in memory: its machine, with leases that are kept here instead of in Redis.
struct SimulatedPresence: Sendable {
    private let machine: AudienceMachine
    /// Whether the service handles its inbox; otherwise inputs wait.
    var isRunning = true
    private var rows = AudienceMachine.Rows()
    private var inbox = InputQueue<AudienceInput>()
    private var clock = PartitionClock()
    private var leases: Leases
    private var epochs = 0
    /// Whether the leases were lost, so that the next input begins a new epoch.
    private var needsEpoch = true

    /// - Parameters:
    ///   - policies: The limits of each app.
    ///   - lease: How long a session lives after its last heartbeat.
    init(policies: Policies, lease: Milliseconds) {
        self.machine = AudienceMachine(partition: 0, policies: policies)
        self.leases = Leases(lease: lease)
    }

    /// Whether an input waits that the service can handle.
    var isReady: Bool { self.isRunning && !self.inbox.isEmpty }

    /// Appends an input to the inbox.
    mutating func append(_ input: AudienceInput) { self.inbox.append(input) }

    /// Loses all leases, as a Redis without its data does.
    mutating func loseLeases() {
        self.leases.removeAll()
        self.needsEpoch = true
    }

    /// Handles the next input of the inbox.
    mutating func handleNext(at now: Timestamp, into effects: inout [Effect]) {
        guard let input = self.inbox.popFirst() else { return }
        self.handle(input, at: now, into: &effects)
    }

    /// Lets leases expire, and handles the rows that are due.
    mutating func tick(at now: Timestamp, into effects: inout [Effect]) {
        guard self.nextTick.map({ $0 <= now }) ?? false else { return }
        self.handle(nil, at: now, into: &effects)
    }

    /// When the service must tick next; nil if nothing is due, or if it is stopped.
    ///
    /// While there are leases, ticks are at most one second apart, because leases expire at ticks.
    var nextTick: Timestamp? {
        mutating get {
            guard self.isRunning else { return nil }
            if let due = self.rows.nextDue { return self.clock.nextTick(for: due) }
            return self.leases.isEmpty ? nil : self.clock.now + .seconds(1)
        }
    }

    private mutating func handle(_ input: AudienceInput?, at now: Timestamp, into effects: inout [Effect]) {
        let previous = self.clock.now
        let moment = self.clock.advance(to: now)
        let gap = Moment.standstill(from: previous, to: now)
        if gap > Milliseconds(0) {
            var partition = self.rows.partition
            partition.standstill = (partition.standstill ?? Milliseconds(0)) + gap
            self.rows[.partition] = .partition(row: partition)
        }
        let planned = self.machine.plan([(moment, input)], in: &self.rows)
        if self.needsEpoch {
            self.needsEpoch = false
            let wasEmpty = self.epochs == 0
            self.epochs += 1
            self.machine.handle(
                .leaseEpochBegan(name: "\(self.epochs)", wasEmpty: wasEmpty), in: &self.rows, at: moment,
                into: &effects)
        }
        for one in planned {
            let result = self.leases.execute(one.request, at: moment)
            self.machine.handle(.leasesAnswered(one, result), in: &self.rows, at: moment, into: &effects)
        }
        self.rows.commit()
    }
}
