// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// Measures how late the machine wakes this process, to tell a slow machine from a slow cluster.
///
/// A machine that is short of processor time delays brokers and services as much as this process. Then the recovery
/// time of a round says nothing about the cluster.
final class MachineLag: Sendable {
    private let longestLag = Locked(Duration.zero)
    private let isOver = Locked(false)

    /// Begins to measure.
    init() {
        _ = DedicatedThread("machine-lag") { [longestLag, isOver] in
            while !isOver.withLock({ $0 }) {
                let begin = ContinuousClock.now
                DedicatedThread.sleep(for: Self.interval)
                let lag = ContinuousClock.now - begin - Self.interval
                longestLag.withLock { $0 = max($0, lag) }
            }
        }
    }

    /// Ends the measurement.
    ///
    /// - Returns: the longest delay of a wake-up.
    @discardableResult
    func stop() -> Duration {
        self.isOver.withLock { $0 = true }
        return self.longestLag.withLock { $0 }
    }

    private static let interval = Duration.milliseconds(50)
}
