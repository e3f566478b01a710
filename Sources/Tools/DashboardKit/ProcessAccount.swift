// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// What all processes of one name have counted, one after another: each restart begins a new run, which counts from 0.
struct ProcessAccount: Sendable {
    /// One process, from its start to its end.
    private struct Run {
        /// When the process started, in seconds since 1970; each run has a different start time.
        let startTime: Double
        /// The process id in the cluster's state at the last reading; nil if the process was not yet in the state.
        var pid: Int32?
        var counts = LedgerCounts()
        var feedGap = LedgerGap()
        var deliveryGap = LedgerGap()
        var isEnded = false
    }

    /// The sums of the absolute values of a ledger's gaps, so that a positive gap and a negative one do not cancel.
    struct Gaps: Sendable, Equatable {
        /// The gaps that are real.
        var confirmed = 0.0
        /// The unconfirmed gaps in the last readings of processes that have ended.
        var undecided = 0.0

        fileprivate mutating func add(_ gap: LedgerGap, isEnded: Bool) {
            self.confirmed += gap.confirmed.magnitude
            if isEnded { self.undecided += gap.undecided.magnitude }
        }

        static func += (sum: inout Gaps, gaps: Gaps) {
            sum.confirmed += gaps.confirmed
            sum.undecided += gaps.undecided
        }
    }

    /// The counts of the runs before the last one that was read.
    private var earlierCounts = LedgerCounts()
    private var earlierFeedGaps = Gaps()
    private var earlierDeliveryGaps = Gaps()
    /// The last run that was read.
    private var run: Run?
    /// The process id in the last observation; nil while the process is down.
    private var pid: Int32?
    /// The pid of a process that is known to have ended, although the cluster's state may still have this pid.
    private var endedPID: Int32?
    /// The time, in milliseconds since the dashboard began, up to which all counts have been read or are covered by
    /// `unseenTime`.
    private var seenUntil: Int
    /// Whether the processes of this name take part in one of the ledgers.
    private var hasLedger = false
    private var unseenTime = 0
    private var endCount = 0

    /// - Parameter time: when a process of this name was first observed or read, in milliseconds since the dashboard
    ///   began.
    init(at time: Int) { self.seenUntil = time }

    /// The counts of all runs.
    var counts: LedgerCounts {
        var counts = self.earlierCounts
        if let run { counts += run.isEnded ? run.counts.ofEndedProcess : run.counts }
        return counts
    }

    /// The gaps of the ledger of messages.
    var feedGaps: Gaps {
        var gaps = self.earlierFeedGaps
        if let run { gaps.add(run.feedGap, isEnded: run.isEnded) }
        return gaps
    }

    /// The gaps of the ledger of deliveries.
    var deliveryGaps: Gaps {
        var gaps = self.earlierDeliveryGaps
        if let run { gaps.add(run.deliveryGap, isEnded: run.isEnded) }
        return gaps
    }

    /// How many runs of a process with a ledger have ended.
    var ends: Int { self.hasLedger ? self.endCount : 0 }

    /// An upper bound, in milliseconds, of the time whose counts were never read: for each end of a process, the time
    /// since the last reading before it.
    var unseenMilliseconds: Int { self.hasLedger ? self.unseenTime : 0 }

    /// Compares the process with the last observation, to detect the end of a run.
    ///
    /// - Parameters:
    ///   - pid: the process id in the cluster's state; nil while the process is down.
    ///   - time: in milliseconds since the dashboard began.
    mutating func observe(pid: Int32?, at time: Int) {
        let pid = pid == self.endedPID ? nil : pid
        if self.pid != nil, self.pid != pid { self.runEnded(at: time) }
        self.pid = pid
    }

    /// Adds a reading of the process's metrics.
    ///
    /// - Parameters:
    ///   - metrics: the process's page of metrics.
    ///   - time: when the metrics were asked for, in milliseconds since the dashboard began.
    mutating func add(_ metrics: MetricsTable, at time: Int) {
        let startTime = metrics.sum(MetricNames.Process.startTime)
        let counts = LedgerCounts(metrics)
        if metrics.contains(MetricNames.Barrage.published) || metrics.contains(MetricNames.Gateway.due) {
            self.hasLedger = true
        }
        if self.run?.startTime != startTime { self.beginRun(startTime, at: time) }
        guard var run = self.run else { return }
        // A reading that began before a kill may arrive after the last reading of the process that was killed.
        guard !run.isEnded || !counts.isOlder(than: run.counts) else { return }
        run.counts = counts
        run.pid = self.pid ?? run.pid
        run.feedGap.add(counts.feedGap)
        run.deliveryGap.add(counts.deliveryGap)
        self.run = run
        if !run.isEnded { self.seenUntil = max(self.seenUntil, time) }
    }

    /// Records that the process was killed.
    mutating func processKilled(pid: Int32, at time: Int) {
        if pid != self.endedPID { self.runEnded(at: time) }
        self.endedPID = pid
        self.pid = nil
    }

    private mutating func beginRun(_ startTime: Double, at time: Int) {
        if let run {
            if !run.isEnded {
                self.runEnded(at: time)
                // The cluster's state may still name the process that has ended.
                if self.pid == run.pid {
                    self.endedPID = self.pid
                    self.pid = nil
                }
            }
            self.earlierCounts += run.counts.ofEndedProcess
            self.earlierFeedGaps.add(run.feedGap, isEnded: true)
            self.earlierDeliveryGaps.add(run.deliveryGap, isEnded: true)
        }
        self.run = Run(startTime: startTime)
    }

    /// Records the end of a run, even if the run was never read.
    private mutating func runEnded(at time: Int) {
        self.run?.isEnded = true
        self.endCount += 1
        self.unseenTime += max(0, time - self.seenUntil)
        self.seenUntil = max(self.seenUntil, time)
    }
}
