// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Dispatch
internal import Observability
internal import ServiceShell

/// Asks a broker that is away until it is back, so that no caller has to wait to find out.
///
/// A thread for each time that the broker is away, which ends when it is back or at `stop`.
package final class BrokerProbe: Sendable {
    private struct State {
        var thread: ShellThread?
        var isStopping = false
    }

    /// How long one question may take; less than a stop may.
    package static let questionMilliseconds = 900
    private static let pauseMilliseconds = 200

    private let ask: @Sendable () -> Bool
    private let state = Locked(State())
    private let stopping = DispatchSemaphore(value: 0)

    /// A probe that asks nothing yet.
    ///
    /// - Parameter ask: whether the broker answers; blocks for at most `questionMilliseconds`.
    package init(ask: @escaping @Sendable () -> Bool) { self.ask = ask }

    /// Begins to ask `gateway`'s broker; never blocks.
    func begin(for gateway: Gateway) {
        self.state.withLock { state in
            if state.isStopping { return }
            state.thread = ShellThread { [weak gateway] in self.run { gateway } }
        }
    }

    /// Lets the thread end; none begins any more.
    package func stop() {
        self.state.withLock { $0.isStopping = true }
        self.stopping.signal()
    }

    /// Waits for the thread's end, if there is one.
    ///
    /// - Returns: false if it did not end within `seconds`.
    package func join(seconds: Double) -> Bool { self.state.withLock { $0.thread }?.join(seconds: seconds) ?? true }

    private func run(for gateway: () -> Gateway?) {
        var wasAway = false
        // The pause comes first: a broker that answers and takes nothing is not asked more often either.
        while self.stopping.wait(timeout: .now() + .milliseconds(Self.pauseMilliseconds)) == .timedOut {
            guard let gateway = gateway() else { return }
            guard gateway.goesOnAsking() else {
                if wasAway { gateway.log.info("the broker is back") }
                return
            }
            if !wasAway { gateway.log.warning("the broker is away: calls are refused until it answers") }
            wasAway = true
            if self.ask() { gateway.brokerAnswered() }
        }
    }
}
