// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Observability

/// Probes an unavailable broker until the broker answers; until then calls are rejected at once, so that no client
/// waits for a timeout.
///
/// Each outage has its own thread, which ends when the broker is reachable again or at `stop`.
package final class BrokerProbe: Sendable {
    private struct State {
        var thread: DedicatedThread?
        var isStopping = false
    }

    /// The timeout of one probe request.
    ///
    /// A stopping gateway waits one second for the probe's thread, so the timeout is shorter than that.
    package static let requestTimeout = Duration.milliseconds(900)
    /// The time between two probe requests.
    private static let pause = Duration.milliseconds(200)

    private let sendRequest: @Sendable () -> Bool
    private let state = ConditionVariable(State())

    /// Creates a probe that sends nothing yet.
    ///
    /// - Parameter sendRequest: Sends one probe request and returns whether the broker answered. Blocks for at most
    ///   `requestTimeout`.
    package init(sendRequest: @escaping @Sendable () -> Bool) { self.sendRequest = sendRequest }

    /// Starts the thread that probes the broker of `gateway`.
    ///
    /// Never blocks.
    func begin(for gateway: Gateway) {
        self.state.update { state in
            if state.isStopping { return }
            state.thread = DedicatedThread("broker-probe") { [weak gateway] in self.run { gateway } }
        }
    }

    /// Makes the probe's thread end; `begin` starts no further one.
    package func stop() { self.state.update { $0.isStopping = true } }

    /// Waits until the probe's thread has ended, if one is running.
    ///
    /// - Returns: false if it did not end within `timeout`.
    package func join(timeout: Duration) -> Bool {
        self.state.current.thread?.join(timeout: timeout) ?? true
    }

    /// Sends probe requests until the broker is reachable, or until `stop`.
    ///
    /// `gateway` returns nil after the gateway was deallocated; the probe then ends.
    private func run(for gateway: () -> Gateway?) {
        var isOutageLogged = false
        // A pause precedes each request; otherwise a broker that answers probes but accepts no records would be probed
        // without a pause. `wait` returns nil at the end of the pause.
        while self.state.wait(timeout: Self.pause, for: { $0.isStopping ? () : nil }) == nil {
            guard let gateway = gateway() else { return }
            guard gateway.continueProbing() else {
                if isOutageLogged { gateway.log.info("the broker is back") }
                return
            }
            if !isOutageLogged { gateway.log.warning("the broker is away: calls are refused until it answers") }
            isOutageLogged = true
            if self.sendRequest() { gateway.brokerProbeAnswered() }
        }
    }
}
