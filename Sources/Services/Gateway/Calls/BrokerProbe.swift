// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Observability

/// Probes an unreachable broker until it answers, so that no client's call has to be held up to find out.
///
/// Each outage has its own thread, which ends when the broker is reachable again or at `stop`.
package final class BrokerProbe: Sendable {
    private struct State {
        var thread: DedicatedThread?
        var isStopping = false
    }

    /// The timeout of one probe request; shorter than the time in which the gateway must stop.
    package static let questionMilliseconds = 900
    private static let pause = Duration.milliseconds(200)

    private let ask: @Sendable () -> Bool
    private let state = ConditionVariable(State())

    /// Creates a probe that sends nothing yet.
    ///
    /// - Parameter ask: Sends one probe request and returns whether the broker answered. Blocks for at most
    ///   `questionMilliseconds`.
    package init(ask: @escaping @Sendable () -> Bool) { self.ask = ask }

    /// Starts the thread that probes the broker of `gateway`.
    ///
    /// Never blocks.
    func begin(for gateway: Gateway) {
        self.state.update { state in
            if state.isStopping { return }
            state.thread = DedicatedThread("broker-probe") { [weak gateway] in self.run { gateway } }
        }
    }

    /// Makes the probe's thread end, and prevents further ones from being started.
    package func stop() { self.state.update { $0.isStopping = true } }

    /// Waits until the probe's thread has ended, if one is running.
    ///
    /// - Returns: false if it did not end within `timeout`.
    package func join(timeout: Duration) -> Bool {
        self.state.current.thread?.join(timeout: timeout) ?? true
    }

    private func run(for gateway: () -> Gateway?) {
        var wasAway = false
        // A broker that answers probes but accepts no records would be probed without a pause. So each request is
        // preceded by one.
        while self.state.wait(timeout: Self.pause, for: { $0.isStopping ? () : nil }) == nil {
            guard let gateway = gateway() else { return }
            guard gateway.continuesProbing() else {
                if wasAway { gateway.log.info("the broker is back") }
                return
            }
            if !wasAway { gateway.log.warning("the broker is away: calls are refused until it answers") }
            wasAway = true
            if self.ask() { gateway.brokerAnswered() }
        }
    }
}
