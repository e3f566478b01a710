// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// One service in memory: its machine, its inbox, and the rows of its only partition.
struct SimulatedService<M: Machine>: Sendable where M.Effect == Effect {
    /// The machine (the service's logic), which holds the settings of the apps; it is updated when the settings change.
    var machine: M
    /// Whether the service handles its inbox; otherwise inputs wait.
    var isRunning = true
    private var rows = Journal<M.Key, M.Row>()
    private var inbox = InputQueue<M.Input>()
    private var clock = PartitionClock()

    init(_ machine: M) { self.machine = machine }

    /// Whether the service runs and an input waits.
    var isReady: Bool { self.isRunning && !self.inbox.isEmpty }

    /// Appends an input to the inbox.
    mutating func append(_ input: M.Input) { self.inbox.append(input) }

    /// Handles the next input of the inbox; the caller has checked that the service `isReady`.
    mutating func handleNext(at now: Timestamp, into effects: inout [Effect]) {
        guard let input = self.inbox.popFirst() else { return }
        let moment = self.clock.advance(to: now)
        self.machine.handleDue(in: &self.rows, at: moment, into: &effects)
        self.machine.handle(input, in: &self.rows, at: moment, into: &effects)
        self.rows.commit()
    }

    /// Advances the time to `now`, and handles the rows whose due time has come.
    mutating func tick(at now: Timestamp, into effects: inout [Effect]) {
        // As in a cluster, there are no ticks while no row has a due time.
        guard self.isRunning, self.rows.nextDue != nil else { return }
        let moment = self.clock.advance(to: now)
        self.machine.handleDue(in: &self.rows, at: moment, into: &effects)
        self.rows.commit()
    }

    /// When the service must tick next; nil if no row has a due time, or if the service is stopped.
    ///
    /// As in a cluster, ticks are at most one second apart while a row has a due time, even if that due time is far
    /// away. The getter is mutating, because the rows drop outdated due times when they are asked for the next one.
    var nextTick: Timestamp? {
        mutating get {
            guard self.isRunning, let due = self.rows.nextDue else { return nil }
            return self.clock.nextTick(for: due)
        }
    }
}

/// The clock of a partition, which advances only with the partition's inputs and ticks.
struct PartitionClock: Sendable {
    /// The time of the last input or tick; `distantPast` before the first one.
    private(set) var now = Timestamp.distantPast
    /// The sum of the standstills, the long times without an input or tick, so far (see `Moment.standstill`).
    private var standstill = Milliseconds(0)
    private var offset: Int64 = 0

    /// Advances to the next input or tick, and returns its moment: its time, its offset and the standstills before it.
    mutating func advance(to time: Timestamp) -> Moment {
        self.standstill = self.standstill + Moment.standstill(from: self.now, to: time)
        self.now = max(self.now, time)
        self.offset += 1
        return Moment(now: self.now, offset: self.offset, standstill: self.standstill)
    }

    /// When the partition must tick next if its first row falls due at `due`.
    func nextTick(for due: Timestamp) -> Timestamp { max(self.now, min(due, self.now + .seconds(1))) }
}

/// A queue whose first element is removed in constant time on average.
struct InputQueue<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    /// The index of the first element of the queue; the elements before it were removed.
    private var start = 0

    var isEmpty: Bool { self.start == self.elements.count }

    mutating func append(_ element: Element) { self.elements.append(element) }

    mutating func popFirst() -> Element? {
        guard self.start < self.elements.count else { return nil }
        defer {
            self.start += 1
            // The free places at the front are removed when they are many and more than half of the array.
            if self.start > 64, self.start * 2 > self.elements.count {
                self.elements.removeFirst(self.start)
                self.start = 0
            }
        }
        return self.elements[self.start]
    }
}
