// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import MachineKit
internal import PlazaModel

/// The presence service in memory: its machine, and its leases, which a cluster stores in Redis.
struct SimulatedPresence: Sendable {
    private let machine: AudienceMachine
    /// Whether the service handles its inbox; otherwise inputs wait.
    var isRunning = true
    private var rows = AudienceMachine.Rows()
    private var inbox = InputQueue<AudienceInput>()
    private var clock = PartitionClock()
    private var leases: Leases
    /// The number of presence epochs so far.
    private var epochCount = 0
    /// Whether the next input begins a new presence epoch (docs/GLOSSARY.md): at first, and after the leases were lost.
    private var needsEpoch = true

    /// - Parameters:
    ///   - policies: The limits of each app.
    ///   - lease: The duration of a lease after the last heartbeat.
    init(policies: Policies, lease: Milliseconds) {
        self.machine = AudienceMachine(partition: 0, policies: policies)
        self.leases = Leases(lease: lease)
    }

    /// Whether the service runs and an input waits.
    var isReady: Bool { self.isRunning && !self.inbox.isEmpty }

    /// Appends an input to the inbox.
    mutating func append(_ input: AudienceInput) { self.inbox.append(input) }

    /// Deletes all leases, as a restart of Redis without its data does.
    mutating func loseLeases() {
        self.leases.removeAll()
        self.needsEpoch = true
    }

    /// Handles the next input of the inbox; the caller has checked that the service `isReady`.
    mutating func handleNext(at now: Timestamp, into effects: inout [Effect]) {
        guard let input = self.inbox.popFirst() else { return }
        self.handle(input, at: now, into: &effects)
    }

    /// Removes leases that have ended, and handles the rows that are due.
    mutating func tick(at now: Timestamp, into effects: inout [Effect]) {
        guard let due = self.nextTick, due <= now else { return }
        self.handle(nil, at: now, into: &effects)
    }

    /// When the service must tick next; nil if it has no leases and no row with a due time, or if it is stopped.
    ///
    /// While there are leases, ticks are at most one second apart, because leases expire at ticks. The getter is
    /// mutating, because the rows drop outdated due times when they are asked for the next one.
    var nextTick: Timestamp? {
        mutating get {
            guard self.isRunning else { return nil }
            if let due = self.rows.nextDue { return self.clock.nextTick(for: due) }
            return self.leases.isEmpty ? nil : self.clock.now + .seconds(1)
        }
    }

    /// Handles an input; nil for a tick.
    private mutating func handle(_ input: AudienceInput?, at now: Timestamp, into effects: inout [Effect]) {
        let previous = self.clock.now
        let moment = self.clock.advance(to: now)
        let standstill = Moment.standstill(from: previous, to: now)
        // As in a cluster, the partition's row contains the sum of its standstills.
        if standstill > Milliseconds(0) {
            var partition = self.rows.partition
            partition.standstill = (partition.standstill ?? Milliseconds(0)) + standstill
            self.rows[.partition] = .partition(row: partition)
        }
        // First the machine decides which lease request the input or tick needs. The leases execute the request below.
        let plannedInputs = self.machine.plan([(moment, input)], in: &self.rows)
        if self.needsEpoch {
            self.needsEpoch = false
            // Before the first epoch there were no sessions, so the epoch settles at once.
            let wasEmpty = self.epochCount == 0
            self.epochCount += 1
            self.machine.handle(
                .leaseEpochBegan(name: "\(self.epochCount)", wasEmpty: wasEmpty), in: &self.rows, at: moment,
                into: &effects)
        }
        for planned in plannedInputs {
            let result = self.leases.execute(planned.request, at: moment)
            self.machine.handle(.leasesAnswered(planned, result), in: &self.rows, at: moment, into: &effects)
        }
        self.rows.commit()
    }
}
