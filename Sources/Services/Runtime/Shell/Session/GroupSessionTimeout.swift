// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
package import Observability

/// The session timeout with which this process joins its consumer groups: the shortest one that the brokers accept.
///
/// A broker rejects a timeout below its `group.min.session.timeout.ms`, which is 6000 by default. The process may not
/// be authorized to read that setting, so it tries increasing timeouts. All consumers of a process share the result, so
/// that no consumer requests a timeout that was already rejected.
package final class GroupSessionTimeout: Sendable {
    /// The timeouts, tried in this order; the second is the broker's default minimum.
    static let steps: [Duration] = [.seconds(2), .seconds(6), .seconds(10), .seconds(30), .seconds(60)]
    /// How often a member sends a heartbeat; the response tells the member that a rebalance has begun.
    ///
    /// A member that knows of the rebalance gives its partitions up, and then waits until all other members know of it.
    /// A short interval therefore shortens the rebalance.
    package static let heartbeatInterval: Duration = .milliseconds(150)

    private let current: Locked<Duration>

    /// Starts with the timeout `first`, which is short enough for the required takeover time.
    package init(first: Duration) { self.current = Locked(first) }

    /// The timeout that the next consumer must request.
    package var timeout: Duration { self.current.withLock { $0 } }

    /// Raises the timeout if `error` says that the broker rejected `requested`.
    ///
    /// The first rejection of each timeout is logged, with the broker setting to change. There is no timeout after the
    /// last one of `steps`.
    ///
    /// - Returns: whether the caller must retry at once with the new `timeout`; false if `error` has another cause, or
    ///   if there is no higher timeout.
    package func raiseIfRejected(_ error: any Error, requested: Duration, log: Log) -> Bool {
        guard (error as? KafkaError)?.kind == .sessionTimeoutRejected else { return false }
        let (next, isFirst) = self.current.withLock { current in
            // If another consumer has already raised the timeout, this one only retries.
            guard current == requested else { return (current, false) }
            guard let next = Self.steps.first(where: { $0 > requested }) else { return (current, false) }
            current = next
            return (next, true)
        }
        guard next > requested else { return false }
        if isFirst {
            log.warning(
                "brokers refuse the session that quick takeovers need",
                [
                    .setting: "group.min.session.timeout.ms", .value: "1000",
                    .detail: .string(
                        "The broker takes no session of \(Milliseconds(requested).count) ms, so one of "
                            + "\(Milliseconds(next).count) ms is asked for: when an instance "
                            + "dies, another takes over after that time instead. For quick takeovers set "
                            + "group.min.session.timeout.ms=1000 on every broker, then restart this process."),
                ])
        }
        return true
    }
}
