// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
package import Observability

/// How long the groups that this process joins wait for a silent member, as short as the brokers let it be.
///
/// A broker refuses a session below its `group.min.session.timeout.ms`, 6000 by default. Nobody need be allowed to ask for
/// that setting, so the session is tried: what was refused to one consumer of a process, the others ask for no more.
package final class GroupSession: Sendable {
    /// What is asked for after a refusal, one after the other: the second is a broker's default.
    static let steps = [2000, 6000, 10_000, 30_000, 60_000]
    /// How often a member tells that it lives, in each session: members hear of a new one by the answer.
    package static let heartbeatMilliseconds = 500

    private let current: Locked<Int>

    /// Begins with the session that takeovers within the promised time need.
    package init(first: Int) { self.current = Locked(first) }

    /// What to ask for now.
    package var milliseconds: Int { self.current.withLock { $0 } }

    /// Takes a step after `error`, if it says that a session of `asked` was refused.
    ///
    /// The first to hear of a refusal writes a warning that says what to set on the brokers.
    ///
    /// - Returns: whether it is worth asking again at once.
    package func takesStep(after error: any Error, asked: Int, log: Log) -> Bool {
        guard (error as? KafkaError)?.kind == .sessionRefused else { return false }
        let (next, isFirst) = self.current.withLock { current in
            guard current == asked else { return (current, false) }
            guard let next = Self.steps.first(where: { $0 > asked }) else { return (current, true) }
            current = next
            return (next, true)
        }
        guard next > asked else { return false }
        if isFirst {
            log.warning(
                "brokers refuse the session that quick takeovers need",
                [
                    .setting: "group.min.session.timeout.ms", .value: "1000",
                    .detail: .string(
                        "The broker takes no session of \(asked) ms, so one of \(next) ms is asked for: when an instance "
                            + "dies, another takes over after that time instead. For quick takeovers set "
                            + "group.min.session.timeout.ms=1000 on every broker, then restart this process."),
                ])
        }
        return true
    }
}
